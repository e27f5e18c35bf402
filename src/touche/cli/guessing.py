"""The task of runs, if the command line does not name it."""

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
    """Returns the passed task; without task and qrels, prints and returns the task in the runs' metadata.

    Args:
        runs: the runs.
        task_id: the passed task; None without one.
        qrels: the passed qrels; None without them.
        takes_qrels: whether the command has an option for qrels, which replace the task.

    Raises:
        ToucheError: if a run is missing, or the metadata names no task, or several.
    """
    if task_id is not None or qrels is not None:
        return task_id
    from touche.tira.outputs import METADATA_FILE
    from touche.tira.provenance import task_of_run  # here, because it takes 50 ms

    for run in runs:  # the task of a missing run is not the problem
        if str(run) != STANDARD_INPUT and not os.path.exists(run):  # noqa: PTH110 (Path.exists raises for long names)
            raise InputError(run, "No such file", "check the path")
    # Standard input, whose path is a dash, has no metadata; those of the current folder are of other runs.
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
