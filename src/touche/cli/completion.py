"""touche completion"""

import click
from click.shell_completion import get_completion_class

from touche.cli import VARIABLE
from touche.cli.commands import command


@command(
    "touche completion bash >> ~/.bashrc",
    click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])),
)
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes a shell complete commands, baselines, options, ids and paths.

    Install the script once, then open a new shell:

    \b
    bash: touche completion bash >> ~/.bashrc
    zsh:  touche completion zsh >> ~/.zshrc (after a line: autoload -Uz compinit && compinit)
    fish: touche completion fish > ~/.config/fish/completions/touche.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click supports all three shells
    shell_completion = completion_class(
        ctx.find_root().command, ctx_args={}, prog_name="touche", complete_var=VARIABLE
    )
    click.echo(shell_completion.source(), nl=False)
