"""Scores, comparisons and published results as pandas DataFrames, with the columns of the JSON records."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from touche import tasks
from touche.errors import ToucheError, imported
from touche.evaluation import scores
from touche.evaluation.comparison import Comparison, TopicDifference, comparisons, topic_differences
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore
from touche.formats.forms import runs_of

if TYPE_CHECKING:
    from ir_measures.measures import Measure
    from pandas import DataFrame

Runs: TypeAlias = "str | PathLike[str] | DataFrame | Sequence[str | PathLike[str] | DataFrame]"


def evaluate(
    runs: Runs,
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: bool = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | None" = None,
    qrels: str | PathLike[str] | None = None,
) -> "DataFrame":
    """Scores runs in every dimension of a task.

    Args:
        runs: the path of a run file, or a frame as ``touche.run`` and PyTerrier give it: the columns qid,
            docno, score and, if documents are not in the order of their scores, rank; or several of these. A
            frame is called by the tag in its ``attrs``.
        task: the id of the task; None where there are judgments alone.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: a row for each topic instead of the means.
        pairs: ``any-order`` for a second score, for which a pair that is judged in the other order counts.
        measure: another measure than that of the task, of ir_measures or in its notation: ``nDCG@10``.
        qrels: the path of other judgments than those of the task.

    Returns:
        A row for each run, dimension, evaluator (and topic); columns as the attributes of
        ``touche.evaluation.scores.Score`` or ``TopicScore``. It prints whole. What puts scores in doubt is a
        Python warning.

    Raises:
        ToucheError: if a file or frame is unusable or judgments are not at hand.
    """
    _check("evaluator", evaluator, [*EVALUATORS, "both"])
    _check("pairs", pairs, ["exact", "any-order"])
    evaluators = [] if evaluator == "both" else [evaluator]
    evaluated = _score(runs, (task, measure, qrels), evaluators, any_order=pairs == "any-order")
    if per_topic:
        return _frame(TopicScore, [row for run in evaluated for row in run.all_topic_scores])
    return _frame(Score, [row for run in evaluated for row in run.scores.values()])


def compare(
    runs: Runs,
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: bool = False,
    measure: "str | Measure | None" = None,
    qrels: str | PathLike[str] | None = None,
    randomisation: bool = False,
) -> "DataFrame":
    """Compares every two of the runs in every dimension of a task.

    Args:
        runs: paths or frames, as for ``evaluate``; at least two.
        task: the id of the task; None where there are judgments alone.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: a row for each topic, the largest differences of a pair first.
        measure: another measure than that of the task, as for ``evaluate``.
        qrels: the path of other judgments than those of the task.
        randomisation: whether the randomisation test is made beside the t-test.

    Returns:
        Columns as the attributes of ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``. It
        prints whole.

    Raises:
        ToucheError: if a file or frame is unusable, or judgments are not at hand.
    """
    _check("evaluator", evaluator, EVALUATORS)
    evaluated = _score(runs, (task, measure, qrels), [evaluator])
    compared, faults = comparisons(evaluated, evaluator, randomisation=randomisation)
    for text in faults:
        warnings.warn(text, stacklevel=2)
    if per_topic:
        return _frame(TopicDifference, topic_differences(evaluated, evaluator))
    return _frame(Comparison, compared)


def published(task: str | None = None) -> "DataFrame":
    """The published results of a task, or of all.

    Args:
        task: the id of the task; None for all.

    Returns:
        Columns as the attributes of ``touche.tasks.Published``, the best result of each dimension first;
        detected stances, whose ``measure`` is another one, come last.

    Raises:
        ToucheError: if there is no such task.
    """
    chosen = [tasks.task(task)] if task else tasks.all_tasks().values()
    return _frame(tasks.Published, [row for card in chosen for row in card.published])


def _score(
    runs: Any, scored_by: tuple[Any, Any, Any], evaluators: Iterable[str], any_order: bool = False
) -> list[Evaluated]:
    """Evaluates files and frames; a frame is called by its tag, and a number if others have it."""
    task, measure, qrels = scored_by
    measure = measure and str(measure)  # also one of ir_measures, which is written as it is called
    scored = tasks.task_scored_by(task, measure, qrels and Path(qrels))
    evaluated = scores.evaluate(runs_of(runs), scored, evaluators, any_order=any_order)
    for text in warnings_of(evaluated):
        warnings.warn(text, stacklevel=3)
    return evaluated


def _check(option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ToucheError(f"{option} = {value!r} is not known here; choose among {', '.join(known)}")


def _frame(kind: type[Any], rows: Sequence[Any]) -> "DataFrame":
    imported("pandas", "analysis")
    from touche.evaluation.untruncated import UntruncatedFrame  # here, because it imports pandas

    return UntruncatedFrame([asdict(row) for row in rows], columns=[field.name for field in fields(kind)])
