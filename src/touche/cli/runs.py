"""What the commands on runs share: their arguments, and what they say of scores."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import TASK_ID
from touche.cli.output import Decorator, warn
from touche.errors import InputError
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated
from touche.tasks import Task
from touche.tira.outputs import RUN_FILE


def _files(ctx: click.Context, param: click.Parameter, given: Sequence[Path]) -> Sequence[Path]:
    """The runs; of a folder that touche run has written to, the run in it is named."""
    for path in given:
        if (path / RUN_FILE).is_file():
            raise InputError(path, "a folder", f"give the run in it, {path / RUN_FILE}")
    return given


RUNS = click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, readable=False),
    metavar="RUN...",
    callback=_files,
)


def _task(*, required: bool) -> Decorator:
    known = f"One of {', '.join(tasks.ids())}."
    return click.option("--task", "task_id", type=TASK_ID, required=required, metavar="TASK", help=known)


TASK, TASK_OR_QRELS = _task(required=True), _task(required=False)


def _one_measure(ctx: click.Context, option: click.Parameter, measures: Sequence[str]) -> str | None:
    if len(measures) > 1:
        raise click.BadParameter(f"{' and '.join(measures)}: give one measure in one command.", ctx, option)
    return measures[0] if measures else None


MEASURE = click.option(
    "--measure",
    multiple=True,
    callback=_one_measure,
    metavar="MEASURE",
    help="Another measure than that of the task, as ir_measures has it: nDCG@10, AP, P(rel=2)@10, RR. All "
    "but nDCG@k, which the organizers' script has, too, is scored by trec_eval alone.",
)
QRELS = click.option(
    "--qrels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Other judgments than the task's; the name of the file is that of the dimension.",
)


def scored(task_id: str | None, measure: str | None, qrels: Path | None) -> Task:
    """The task whose runs are scored, with the measure and the judgments that are asked for.

    Raises:
        UsageError: if neither task nor judgments are named.
        ToucheError: if there is no such task or measure.
    """
    if task_id is None and qrels is None:
        known = ", ".join(tasks.ids())
        raise click.UsageError(
            f"Missing option '--task'. Choose among {known}, or name judgments by --qrels."
        )
    return tasks.asked(task_id, measure, qrels)


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


def p_value(value: float | None) -> str:
    """Such as ``0.0312`` and ``< 0.0001``; a dash where a test has none."""
    if value is None:
        return "–"
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def print_warnings(found: Sequence[Evaluated]) -> None:
    """Prints what puts scores in doubt on standard error."""
    for text in warnings_of(found):
        warn(text)
