"""Scores, comparisons and published results, as records and as DataFrames."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from touche import tasks
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.comparison import (
    Comparison,
    TopicDifference,
    comparisons,
    run_named,
    topic_differences,
)
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore
from touche.formats.forms import AnyQrels, AnyRun, qrels_of, runs_of
from touche.formats.framed import Table
from touche.io.temporary import temporary_folder

if TYPE_CHECKING:
    from ir_measures.measures import Measure


def evaluate(
    runs: AnyRun | Sequence[AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: bool = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
) -> Table[Any]:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run or several, each in one of the forms of ``touche.AnyRun``: a path, a frame of PyTerrier
            or ir_measures, scores by topic and document, or records.
        task: the id of the task; None where there are judgments alone.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: a row for each topic instead of the means.
        pairs: ``any-order`` for a second score, for which a pair that is judged in the other order counts.
        measure: another measure than that of the task, of ir_measures or in its notation: ``nDCG@10``.
        qrels: other relevance judgments than those of the task, in one of the forms of ``touche.AnyQrels``.

    Returns:
        A record for each run, dimension, evaluator (and topic): a ``touche.evaluation.scores.Score`` or
        ``TopicScore``; ``frame()`` makes a DataFrame of them. Doubts about scores are Python warnings. The
        notes say why the evaluators differ, and the rank on the leaderboard.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing.
    """
    _check("evaluator", evaluator, [*EVALUATORS, "both"])
    _check("pairs", pairs, ["exact", "any-order"])
    evaluators = [] if evaluator == "both" else [evaluator]
    evaluated = _score(runs, (task, measure, qrels), evaluators, any_order=pairs == "any-order")
    kind: type[Any] = TopicScore if per_topic else Score
    of_runs = (run.all_topic_scores if per_topic else run.scores.values() for run in evaluated)
    records = tuple(chain.from_iterable(of_runs))
    return Table(kind, records, tuple(warnings_of(evaluated)), tuple(notes_of(evaluated)))


def compare(
    runs: AnyRun | Sequence[AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: bool = False,
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    reference: str | None = None,
) -> Table[Any]:
    """Compares every two of the runs in every dimension of a task.

    Args:
        runs: paths or frames, as for ``evaluate``; at least two.
        task: the id of the task; None where there are judgments alone.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: a row for each topic, the largest differences of a pair first.
        measure: another measure than that of the task, as for ``evaluate``.
        qrels: other relevance judgments than those of the task, in one of the forms of ``touche.AnyQrels``.
        randomisation: whether the randomisation test is made next to the t-test.
        reference: the tag or path of the run that each other run is compared with, instead of every two.

    Returns:
        Records: ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``; ``frame()`` makes a
        DataFrame of them.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing.
    """
    _check("evaluator", evaluator, EVALUATORS)
    evaluated = _score(runs, (task, measure, qrels), [evaluator])
    second = run_named(reference, evaluated) if reference else None
    compared, faults = comparisons(evaluated, evaluator, second, randomisation=randomisation)
    for text in faults:
        warnings.warn(text, stacklevel=2)
    if per_topic:
        return Table(TopicDifference, tuple(topic_differences(evaluated, evaluator, second)))
    return Table(Comparison, tuple(compared), (*faults, *warnings_of(evaluated)))


def published(task: str | None = None) -> Table[tasks.Published]:
    """The published results of a task, or of all.

    Args:
        task: the id of the task; None for all.

    Returns:
        Records of ``touche.tasks.Published``, the best result of each dimension first; detected stances,
        which have another measure, come last. ``frame()`` makes a DataFrame of them.

    Raises:
        ToucheError: if there is no such task.
    """
    chosen = [tasks.task(task)] if task else tasks.all_tasks().values()
    return Table(tasks.Published, tuple(row for card in chosen for row in card.published))


def _score(
    runs: Any, scored_by: tuple[Any, Any, Any], evaluators: Iterable[str], any_order: bool = False
) -> list[Evaluated]:
    """Evaluates runs of any form; qrels that are in no file are written into one."""
    task, measure, qrels = scored_by
    measure = measure and str(measure)  # also an object of ir_measures
    in_file = qrels is None or isinstance(qrels, str | PathLike)
    with temporary_folder("touche-qrels-") as folder:
        path = (
            Path(qrels)
            if in_file and qrels
            else None
            if in_file
            else qrels_of(qrels).write(folder / "qrels.txt")
        )
        scored = tasks.task_scored_by(task, measure, path)
        evaluated = scores.evaluate(runs_of(runs), scored, evaluators, any_order=any_order)
    if not in_file:
        evaluated = [replace(run, qrels="qrels") for run in evaluated]
    for text in warnings_of(evaluated):
        warnings.warn(text, stacklevel=3)
    return evaluated


def _check(option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ToucheError(f"{option} = {value!r} is not known here; choose among {', '.join(known)}")
