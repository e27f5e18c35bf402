"""Finds out the runs' task when the command line doesn't name it."""

import os
from collections.abc import Sequence
from pathlib import Path

from touche import tasks
from touche.cli.output import tell
from touche.errors import InputError, ToucheError
from touche.io.opening import STANDARD_INPUT


def task_of(
    runs: Sequence[Path], task_id: str | None, qrels: Path | None = None, *, takes_qrels: bool = True
) -> str | None:
    """Returns the task's id. If neither task nor qrels are passed, it reads the runs' metadata and prints
    the id.

    Args:
        runs: the runs' paths.
        task_id: the task from the command line, or None.
        qrels: the qrels from the command line, or None.
        takes_qrels: whether the command has --qrels, which makes a task unnecessary.

    Raises:
        ToucheError: if a run is missing, or the metadata names no task, or more than one.
    """
    if task_id is not None or qrels is not None:
        return task_id
    from touche.tira.metadata import (
        METADATA_FILE,
        task_of_run,  # here, because it takes 50 ms
    )

    for run in runs:  # if a run is missing, say so instead of asking for a task
        if str(run) != STANDARD_INPUT and not os.path.exists(run):  # noqa: PTH110 (Path.exists raises an error for long names)
            raise InputError(run, "No such file", "check the path")
    # Standard input has no metadata: the ones in the working directory belong to other runs.
    task_by_run = {run: task_of_run(run) for run in runs if str(run) != STANDARD_INPUT}
    file_by_task = {task: run.parent / METADATA_FILE for run, task in task_by_run.items() if task}
    if len(file_by_task) > 1:
        problem = f"the runs are of {' and '.join(file_by_task)}"
        raise ToucheError(f"{problem}; pass runs of one task, or name it with --task")
    if not file_by_task:
        problem = f"no {METADATA_FILE} next to a run names a known task"
        alternative = ", or --qrels with your own judgments" if takes_qrels else ""
        raise ToucheError(f"{problem}; pass --task with one of {', '.join(tasks.ids())}{alternative}")
    ((task, file),) = file_by_task.items()
    tell(f"task: {task}, from {file}")
    return task
