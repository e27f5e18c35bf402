"""Options and arguments that several commands share."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from touche import tasks
from touche.cli.commands import DATASET_ID, OUTSIDE, PATH, TASK_ID, Option, argument, option
from touche.cli.output import FORMATS
from touche.containers.limits import PROGRAMS, RUNNER_NAMES, Limits
from touche.errors import ToucheError
from touche.io.identifiers import NO_TAG, is_word, quoted
from touche.io.opening import STANDARD_INPUT, read_standard_input
from touche.trec.forms import check_files
from touche.trec.runs import MAX_DEPTH


def _checked_runs(ctx: click.Context, param: click.Parameter, paths: Sequence[Path]) -> Sequence[Path]:
    check_files(paths)
    return [opened_run(ctx, param, path) for path in paths]


def opened_run(ctx: click.Context, param: click.Parameter, path: Path) -> Path:
    """Returns a run file; ``-`` is standard input."""
    return read_standard_input() if str(path) == STANDARD_INPUT else path


def _one_measure(ctx: click.Context, param: click.Parameter, measures: Sequence[str]) -> str | None:
    if len(measures) > 1:
        raise click.BadParameter(f"{' and '.join(measures)}: pass one measure per command.", ctx, param)
    return measures[0] if measures else None


def _measures(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[str | None]:
    """Reads lists of measures; without any there is one, that of the task."""
    measures = dict.fromkeys(measure for text in texts for measure in tasks.measures_in(text))
    return [*measures] or [None]


def _checked(fits: Callable[[str], Any], problem: str) -> Callable[..., str | None]:
    """Creates a callback that refuses a value."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None and not fits(value):
            raise click.UsageError(f"{param.opts[0]} {quoted(value)} {problem}", ctx)
        return value

    return check


def task(help: str = f"One of {', '.join(tasks.ids())}.", *, required: bool = False) -> Option:
    """Creates the option --task."""
    return option("--task task_id TASK", help, type=TASK_ID, required=required)


def output(help: str = "Output directory for run.txt.", placeholder: str = "DIR") -> Option:
    """Creates the required option -o."""
    return option(f"-o --output {placeholder}", help, required=True)


_NO_SIZE = "is not an amount of memory; write it as 512m or 8g"


def naming(section: str = "Options", default: str = "baseline and options") -> list[click.Parameter]:
    """Creates the options --tag and --team."""
    tag, team = f"Tag of the run, instead of {default}.", "Your team, for ir-metadata.yml."
    is_team = _checked(str.strip, "is empty; name the team, or omit the option")
    return [
        option("--tag WORD", tag, section=section, callback=_checked(is_word, NO_TAG)),
        option("--team NAME", team, section=section, callback=is_team),
    ]


RUNS = argument("runs", "RUN...", type=PATH)
ANY_RUNS = argument("runs", "[RUN...]", type=PATH, callback=_checked_runs)
FORMAT = option("--format style", choices=FORMATS)
DATASETS = argument("datasets", "[DATASET...]", type=DATASET_ID)
DEPTH_RANGE = click.IntRange(1, MAX_DEPTH)
DEPTH = option("--depth", "Maximum number of documents per topic.", type=DEPTH_RANGE, default=MAX_DEPTH)
_MEASURE = "Measure instead of the task's, named as in ir_measures, such as nDCG@10, AP, P(rel=2)@10 or RR."
SCORING: list[click.Parameter] = [
    task(),
    option("--measure MEASURE", _MEASURE, multiple=True, callback=_one_measure),
    option("--qrels FILE", "Judgments instead of the task's; the file's name becomes the dimension."),
]


_MEASURES = "Other measures than the task's, as in ir_measures, such as nDCG@10,AP; can be repeated."
SCORING_BY_SEVERAL = [
    SCORING[0],
    option("--measure measures LIST", _MEASURES, multiple=True, callback=_measures),
    *SCORING[2:],
]


_is_size = re.compile("[1-9][0-9]*[mg]", re.ASCII).fullmatch
_of_runner = partial(option, section=OUTSIDE[0])
_of_sandbox = partial(_of_runner, runners=PROGRAMS)
_in_time = partial(_of_runner, runners=(*PROGRAMS, "tira"))
_RUNNERS = "local: this machine; docker, podman: the baseline's image in a sandbox; tira: by tira-run"


def runners(name: str = "", help: str = "") -> list[click.Parameter]:
    """Creates the option --runner, perhaps with one more runner, and the options of its limits."""
    names, text = filter(None, (*RUNNER_NAMES, name)), "; ".join(filter(None, (_RUNNERS, help)))
    cpus, memory = "Processors of the sandbox.", "Memory of the sandbox, such as 512m or 8g."
    time = "Time after which the sandbox is stopped."
    return [
        _of_runner("--runner", f"{text}.", names),
        _of_sandbox("--cpus", cpus, default=Limits.cpus, type=click.FloatRange(min=0.1)),
        _of_sandbox("--memory SIZE", memory, default=Limits.memory, callback=_checked(_is_size, _NO_SIZE)),
        _in_time("--time-limit seconds SECONDS", time, default=Limits.seconds, type=click.FloatRange(min=1)),
    ]


def check_runner(runner: str) -> None:
    """Refuses options that were typed but do not affect the runner.

    Raises:
        ToucheError: if there is such an option.
    """
    context = click.get_current_context()
    for param in context.command.params:
        effective = param.runners if isinstance(param, Option) else ()
        typed = context.get_parameter_source(param.name or "") is not ParameterSource.DEFAULT
        if effective and runner not in effective and typed:
            problem = f"{param.opts[0]} has no effect on the runner {runner}"
            why = ", which sees only its input and writes only run.txt" if "local" in effective else ""
            raise ToucheError(f"{problem}{why}; omit it, or choose {' or '.join(effective)}")
