"""Times what commands do before their work, compared with importing click.

    python benchmarks/start_speed.py [--rounds 5]

Each command is a process of its own: the help of ``touche``, reading all expected.toml, which is how ``touche
regress`` begins, and a run on the toy collection. For each command, the benchmark prints processor seconds,
and the ratio to importing click.
"""

import tempfile
from pathlib import Path
from statistics import median

import click
from evaluation_speed import measure

COMMANDS = {
    "import click": ["-c", "import click"],
    "touche --help": ["-m", "touche", "--help"],
    "imports of touche regress": ["-c", "import touche.regression.running"],
    "all expected.toml, with these imports": [str(Path(__file__).with_name("read_expectations.py"))],
    "touche run bm25": ["-m", "touche", "run", "bm25", "-i", "spot-check/arguments", "-o", "{folder}"],
}


@click.command()
@click.option("--rounds", default=5, show_default=True)
def main(rounds: int) -> None:
    """Prints median processor seconds, and the median ratio to importing click."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {name: [word.format(folder=folder) for word in words] for name, words in COMMANDS.items()}
        usages = [{name: measure(words) for name, words in commands.items()} for _ in range(rounds)]
    for name in COMMANDS:
        seconds = median(usage[name].seconds for usage in usages)
        ratio = median(usage[name].seconds / usage["import click"].seconds for usage in usages)
        click.echo(f"{name}: {seconds:.2f} s, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
