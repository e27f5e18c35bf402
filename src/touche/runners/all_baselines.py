"""Runs all shipped baselines on one input, each with its default options."""

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from touche import tasks
from touche.baselines.extras import check_extra
from touche.baselines.loader import load
from touche.data.datasets import opened
from touche.data.places import shipped_baselines
from touche.errors import NotInstalledError, UnsuitableInputError, described
from touche.evaluation.linting import why_other_kind
from touche.io.progress import watched
from touche.runners.baseline_runs import WrittenRun, write_opened_run
from touche.tira.outputs import remove_earlier_run


@dataclass(frozen=True)
class Attempt:
    """What became of a baseline.

    Attributes:
        baseline: its name.
        written: its run; None if there is none.
        reason: why there is no run; empty if there is one.
        is_failure: whether something went wrong. Otherwise, a baseline without a run doesn't fit the input.
    """

    baseline: str
    written: WrittenRun | None = None
    reason: str = ""
    is_failure: bool = False


def run_all(dataset: str, output: Path, *, team: str = "") -> Iterator[Attempt]:
    """Runs each shipped baseline that fits an input, and writes its run to the subfolder with its name.

    A baseline fits if it finds a document for at least one topic and, for a task with a card, if its results
    are of the task's kind: pairs or documents, with stances that the task has. If a subfolder contains an
    earlier run, and the baseline has none now, the earlier run is removed.

    Args:
        dataset: a dataset's id, or the path of an input directory.
        output: the folder for the subfolders.
        team: the team for the metadata of runs; by default the one in ``TOUCHE_TEAM``, or none.

    Yields:
        What became of each baseline, in the order of their names.

    Raises:
        ToucheError: if there is no such dataset or folder, or topics or documents are missing in it.
    """
    source = opened(dataset)
    task = tasks.dataset(dataset)[0] if tasks.is_dataset(dataset) else None
    names = shipped_baselines()
    for name in watched(names, "running", "baselines", len(names)):
        folder = output / name
        try:
            check_extra(name)
            written = write_opened_run(load(name), nullcontext(source), folder, team=team)
        except NotInstalledError as error:  # an earlier run stays, e.g. of the baseline's image
            yield Attempt(name, reason=str(error))
            continue
        except Exception as error:  # whatever goes wrong, the other baselines can still run
            _remove_run(folder)
            is_failure = not isinstance(error, UnsuitableInputError)
            yield Attempt(name, reason=described(error), is_failure=is_failure)
            continue
        reason = ""
        if len(written.without_hits) == len(source.topics):
            reason = "it finds no document for any topic"
        elif task:
            other = why_other_kind(written.path, task, source.documents)
            reason = f"the task can't judge its results: {other}" if other else ""
        if reason:
            _remove_run(folder)
            yield Attempt(name, reason=reason)
        else:
            yield Attempt(name, written)


def _remove_run(folder: Path) -> None:
    """Removes a baseline's run, and its folder if nothing else is in it."""
    if folder.is_dir():
        remove_earlier_run(folder)
        with suppress(OSError):  # other files are in it
            folder.rmdir()
