"""touche run"""

import time
from inspect import Parameter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from touche import baselines, tasks
from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.cli.commands import BASELINE, INPUT, Command, Group
from touche.cli.output import tell, warn
from touche.cli.sandbox import OPTIONS, check_limits, describe
from touche.data import places
from touche.errors import ToucheError, choice
from touche.sandbox.runs import RUNNERS, Job, Limits
from touche.tira import inputs
from touche.tira.outputs import OUTPUT_VARIABLE, RUN_FILE


class Baselines(Group):
    """A command for each baseline, made from its folder, with the baseline's own options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return baselines.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return command_of(baselines.load(cmd_name), cmd_name)
        except ToucheError:
            if not ctx.resilient_parsing:  # the shell asks what may follow, and shows no errors
                raise
            return None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        options = click.Command.shell_complete(self, ctx, incomplete)
        return options or BASELINE.shell_complete(ctx, click.Argument(["baseline"]), incomplete)


@click.command(
    cls=Baselines,
    subcommand_metavar="BASELINE -i INPUT -o DIR [OPTION]...",
    example="touche run bm25 -i spot-check/arguments -o out/bm25",
)
def run() -> None:
    """Run a baseline on an input directory; it writes run.txt.

    BASELINE is a name from the list below, or the path of a folder that holds a baseline.py; its options are
    shown by: touche run BASELINE --help
    """


_COMMON_OPTIONS: list[click.Parameter] = [
    click.Option(
        ["-i", "--input", "given"],
        envvar=inputs.INPUT_VARIABLE,
        required=True,
        type=INPUT,
        metavar="INPUT",
        help="Input directory, or the id of a dataset at hand, such as spot-check/arguments.",
    ),
    click.Option(
        ["-o", "--output"],
        envvar=OUTPUT_VARIABLE,
        required=True,
        shell_complete=lambda ctx, param, incomplete: [CompletionItem(incomplete, type="dir")],
        metavar="DIR",
        help="Output directory for run.txt.",
    ),
    click.Option(["--corpus"], metavar="ID", help="Corpus of ir_datasets, where INPUT holds topics only."),
]


def command_of(baseline: Baseline, name: str) -> click.Command:
    """The command that runs a baseline."""
    own = [_option(each, baseline.option_help.get(name, "")) for name, each in baseline.options.items()]
    paragraphs = "\n\n".join(f"\b\n{paragraph}" for paragraph in baseline.description.split("\n\n"))

    def callback(
        given: str,
        output: str,
        corpus: str | None,
        runner: str,
        cpus: float,
        memory: str,
        seconds: float,
        **options: Any,
    ) -> None:
        check_limits(runner)
        if runner == "local":
            _run(baseline, given, output, corpus, options)
        elif corpus is not None:
            raise ToucheError("a sandbox has no network to get a corpus; leave --corpus out, or --runner")
        else:
            job = Job(name, _arguments(baseline, options), given, Path(output))
            _run_sandboxed(job, runner, Limits(cpus, memory, seconds))

    params = [*_COMMON_OPTIONS, *OPTIONS, *own]
    example = f"touche run {name} -i spot-check/arguments -o out/{baseline.name}"
    return Command(name, callback=callback, params=params, help=paragraphs, example=example)


def _arguments(baseline: Baseline, options: dict[str, Any]) -> list[str]:
    """The options that are not at their defaults, as words of the command line."""
    changed = {name: value for name, value in options.items() if value != baseline.options[name].default}
    return arguments_of(changed)


def _run_sandboxed(job: Job, runner: str, limits: Limits) -> None:
    _check_there(job.given)
    usage = RUNNERS[runner](job, limits, tell)
    tell(f"{job.name}: {job.output / RUN_FILE} by {runner}: {describe(usage)}")


def _option(parameter: Parameter, text: str) -> click.Option:
    kind = type(parameter.default) if parameter.annotation is Parameter.empty else parameter.annotation
    several = isinstance(parameter.default, tuple)
    name = parameter.name.replace("_", "-")
    return click.Option(
        [f"--{name}/--no-{name}" if kind is bool else f"--{name}"],
        type=click.Choice(get_args(kind)) if get_origin(kind) is Literal else str if several else kind,
        nargs=len(parameter.default) if several else 1,
        is_flag=kind is bool,
        default=parameter.default,
        show_default=not several,
        help=text,
    )


def _run(baseline: Baseline, given: str, output: str, corpus: str | None, options: dict[str, Any]) -> None:
    started = time.monotonic()
    if not given or not output:
        raise ToucheError("-i or -o is empty; name the input and the output directory")
    source = _open(given, corpus, topics_only=options.get("api", False))
    tell(f"{baseline.name}: {source.took}")
    for topic in baselines.run(baseline, source, Path(output), options):
        warn(f"nothing found for topic {topic.number}: {topic.title}", baseline.name)
    seconds = time.monotonic() - started
    tell(f"{baseline.name}: wrote {Path(output) / RUN_FILE} in {seconds:.1f} s")


def _open(given: str, corpus: str | None, topics_only: bool) -> inputs.Input:
    if Path(given).exists():
        return inputs.find(Path(given), corpus, topics_only=topics_only)
    if given in tasks.datasets() and corpus is None:
        return places.open_dataset(given)
    if given in tasks.datasets():
        raise ToucheError(f"the dataset {given} has its own corpus; leave --corpus out")
    _check_there(given)
    return places.open_dataset(given)


def _check_there(given: str) -> None:
    if not Path(given).is_dir() and given not in tasks.datasets():
        problem = f"{given}: no such directory, and no such dataset"
        raise ToucheError(f"{problem}; {choice(given, tasks.datasets())}")
