"""What the commands on runs share: their arguments, and what they say of scores."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import TASK_ID
from touche.cli.output import warn
from touche.errors import InputError
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated

RUNS = click.argument(
    "runs", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False), metavar="RUN..."
)
TASK = click.option(
    "--task",
    "task_id",
    type=TASK_ID,
    required=True,
    metavar="TASK",
    help=f"One of {', '.join(tasks.ids())}.",
)


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
