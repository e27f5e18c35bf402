"""The gallery: every task with its published results, and the runs that are at hand beside its data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from touche import tasks
from touche.data.places import at_hand, locate
from touche.errors import ToucheError
from touche.evaluation.scores import evaluate
from touche.report.content import part_of, published_part
from touche.report.records import Part
from touche.tasks import Task

_RUN_FILES = (".run", ".txt")


def published_parts() -> Iterator[Part]:
    """A part for each task that has published results; with runs where these and their judgments are at hand.

    Where a run or judgments are unusable, a warning says so, and the part has the published results alone.
    """
    for task in tasks.all_tasks().values():
        if task.all_published:
            yield _part(task)


def _part(task: Task) -> Part:
    alone = published_part(task)
    if not (runs := _runs(task)):
        return alone
    try:
        return replace(part_of(evaluate(runs, task), task.id), stance=alone.stance)
    except ToucheError as error:
        return replace(alone, warnings=[f"the runs at hand are left out: {error}"])


def _runs(task: Task) -> Sequence[Path]:
    """The files in runs/TASK, wherever data is."""
    if not at_hand("runs", task.id):
        return []
    return sorted(path for path in locate("runs", task.id).iterdir() if path.suffix in _RUN_FILES)
