"""The options and arguments that several commands share."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from touche import tasks
from touche.cli.commands import TASK_ID, Option
from touche.cli.output import Decorator
from touche.errors import InputError, ToucheError
from touche.formats.runs import MAX_DEPTH
from touche.io.identifiers import is_word, quoted
from touche.sandbox.limits import PROGRAMS, RUNNER_NAMES, Limits
from touche.tasks import Task
from touche.tira.outputs import RUN_FILE

PATH = click.Path(path_type=Path, readable=False)
DEPTH = click.option(
    "--depth",
    type=click.IntRange(1, MAX_DEPTH),
    default=MAX_DEPTH,
    help="How many documents are kept per topic.",
)


def output(help: str = "Output directory for run.txt.", metavar: str = "DIR") -> Decorator:
    """The required option -o."""
    return click.option("-o", "--output", required=True, type=PATH, metavar=metavar, help=help)


def _runs(ctx: click.Context, param: click.Parameter, paths: Sequence[Path]) -> Sequence[Path]:
    """Refuses a folder that touche run has written to, and names the run in it."""
    for path in paths:
        if (path / RUN_FILE).is_file():
            raise InputError(path, "a folder", f"give the run in it, {path / RUN_FILE}")
    return paths


def _one_measure(ctx: click.Context, option: click.Parameter, measures: Sequence[str]) -> str | None:
    if len(measures) > 1:
        raise click.BadParameter(f"{' and '.join(measures)}: give one measure in one command.", ctx, option)
    return measures[0] if measures else None


def task_option(help: str = f"One of {', '.join(tasks.ids())}.", *, required: bool = False) -> Decorator:
    """The option --task."""
    return click.option("--task", "task_id", type=TASK_ID, required=required, metavar="TASK", help=help)


RUNS = click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN...", callback=_runs)
_SCORING = (
    task_option(),
    click.option(
        "--measure",
        multiple=True,
        callback=_one_measure,
        metavar="MEASURE",
        help="Another measure than that of the task, as ir_measures has it: nDCG@10, AP, P(rel=2)@10, RR. "
        "All but nDCG@k, which the organizers' script has, too, is scored by trec_eval alone.",
    ),
    click.option(
        "--qrels",
        type=PATH,
        metavar="FILE",
        help="Other judgments than the task's; the name of the file is that of the dimension.",
    ),
)


def scoring(command: Any) -> Any:
    """Adds the options that ``scored`` takes: --task, --measure and --qrels."""
    for option in reversed(_SCORING):
        command = option(command)
    return command


def scored(task_id: str | None, measure: str | None, qrels: Path | None) -> Task:
    """The task whose runs are scored, with the measure and the judgments of the options.

    Raises:
        UsageError: if neither task nor judgments are named.
        ToucheError: if there is no such task or measure.
    """
    if task_id is None and qrels is None:
        known = ", ".join(tasks.ids())
        raise click.UsageError(
            f"Missing option '--task'. Choose among {known}, or name judgments by --qrels."
        )
    return tasks.task_scored_by(task_id, measure, qrels)


def each_once(files: Sequence[Path]) -> Sequence[Path]:
    """The files, none of which may be there twice.

    Raises:
        InputError: naming one that is.
    """
    counts = Counter(path.resolve() for path in files)
    for path in files:
        if counts[path.resolve()] > 1:
            raise InputError(path, "given twice", "give each file once")
    return files


def _check_tag(ctx: click.Context, option: click.Parameter, tag: str | None) -> str | None:
    if tag is not None and not is_word(tag):
        problem = f"--tag {quoted(tag)} is empty, too long, or has white space or control characters"
        raise click.UsageError(f"{problem}; give one word, such as my-team-run-1", ctx)
    return tag


def _check_team(ctx: click.Context, option: click.Parameter, team: str | None) -> str | None:
    if team is not None and not team.strip():
        raise click.UsageError("--team is empty; name the team, or leave it out", ctx)
    return team


def naming(section: str = "Options", default: str = "baseline and options") -> list[click.Parameter]:
    """The options --tag and --team."""
    tag = f"The run's tag, in place of {default}."
    return [
        Option(["--tag"], section=section, callback=_check_tag, metavar="WORD", help=tag),
        Option(
            ["--team"],
            section=section,
            callback=_check_team,
            metavar="NAME",
            help="Your team, for ir-metadata.yml.",
        ),
    ]


_SECTION = "Runner and containers"
_HELP = "local: this machine; docker, podman: the baseline's image in a sandbox; tira: by tira-run"


def _amount(context: click.Context, option: click.Parameter, value: str) -> str:
    if not re.fullmatch("[1-9][0-9]*[mg]", value, re.ASCII):
        raise click.BadParameter(f"{value!r} is no amount of memory; write it as 512m or 8g.")
    return value


def runner_option(name: str = "", help: str = "") -> Option:
    """The option --runner, whose values are those of a sandbox and one more."""
    kinds = click.Choice([*RUNNER_NAMES, *filter(None, [name])])
    text = "; ".join([_HELP, *filter(None, [help])])
    return Option(["--runner"], section=_SECTION, type=kinds, default="local", help=f"{text}.")


LIMITS: list[click.Parameter] = [
    Option(
        ["--cpus"],
        section=_SECTION,
        runners=PROGRAMS,
        type=click.FloatRange(min=0.1),
        default=Limits.cpus,
        help="Processors of the sandbox.",
    ),
    Option(
        ["--memory"],
        section=_SECTION,
        runners=PROGRAMS,
        callback=_amount,
        default=Limits.memory,
        metavar="SIZE",
        help="Memory of the sandbox, such as 512m or 8g.",
    ),
    Option(
        ["--time-limit", "seconds"],
        section=_SECTION,
        runners=(*PROGRAMS, "tira"),
        type=click.FloatRange(min=1),
        default=Limits.seconds,
        metavar="SECONDS",
        help="After which the sandbox is stopped.",
    ),
]


def check_runner(runner: str) -> None:
    """Refuses options that were typed and have no effect on the runner.

    Raises:
        ToucheError: naming the option.
    """
    context = click.get_current_context()
    for option in context.command.params:
        runners = option.runners if isinstance(option, Option) else ()
        typed = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if runners and runner not in runners and typed:
            problem = f"{option.opts[0]} has no effect on the runner {runner}"
            raise ToucheError(f"{problem}; leave it out, or choose {' or '.join(runners)}")
