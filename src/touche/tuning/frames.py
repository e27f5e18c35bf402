"""Sweeps from Python."""

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche import tasks
from touche.baselines.loader import load
from touche.baselines.method import Baseline
from touche.data.places import opened
from touche.errors import ToucheError
from touche.evaluation.cross_validation import FOLDS
from touche.evaluation.evaluators import EVALUATORS
from touche.io.temporary import temporary_folder
from touche.tuning.grid import settings_of
from touche.tuning.results import Sweep
from touche.tuning.sweeps import sweep as swept

if TYPE_CHECKING:
    from ir_measures.measures import Measure


def sweep(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str],
    grid: Mapping[str, Iterable[Any]],
    *,
    task: str | None = None,
    output: str | PathLike[str] | None = None,
    evaluator: str = "trec_eval",
    measure: "str | Measure | None" = None,
    qrels: str | PathLike[str] | None = None,
    cross_validation: str | None = None,
) -> Sweep:
    """Runs a baseline with every setting of a grid and scores the runs, as ``touche sweep`` does.

    Args:
        baseline: the name of a shipped baseline, the path of a folder with a baseline.py, or a function
            decorated by ``baseline``.
        dataset: the id of a dataset, such as ``spot-check/arguments``, or the path of an input directory.
        grid: the values of some options by name, such as ``{"k1": [0.6, 1.2], "b": [0.4]}``; other
            options have their defaults.
        task: the id of the task; None for the dataset's task.
        output: the folder for the runs, from which a later sweep resumes; None discards the runs.
        evaluator: ``trec_eval`` or ``touche``.
        measure: a measure instead of the task's, an object of ir_measures or its name, such as ``nDCG@10``.
        qrels: the path of qrels instead of the task's.
        cross_validation: ``two-fold`` or ``leave-one-topic-out``, or None.

    Returns:
        The scores of all settings; ``frame()`` is the table, and ``heat_map(dimension)`` a figure.

    Raises:
        ToucheError: if there is no such baseline, dataset, option or task, the input is unusable, or
            judgments are missing.
    """
    for value, known in ((evaluator, EVALUATORS), (cross_validation, FOLDS)):
        if value is not None and value not in known:
            raise ToucheError(f"{value!r} is unknown; choose among {', '.join(known)}")
    ranker = baseline if isinstance(baseline, Baseline) else load(fspath(baseline))
    settings = settings_of(ranker.options, grid)
    own_task = dataset if isinstance(dataset, str) and dataset in tasks.datasets() else None
    name = None if measure is None else str(measure)
    scored_by = tasks.task_scored_by(task or own_task, name, Path(qrels) if qrels else None)
    given = opened(fspath(dataset), needs_documents=ranker.needs_documents)
    with temporary_folder("touche-sweep-") as folder:
        where = Path(output) if output else folder
        found = swept(ranker, given, where, settings, scored_by, evaluator, cross_validation)
    for text in found.warnings:
        warnings.warn(text, stacklevel=2)
    return found
