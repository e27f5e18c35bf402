"""Scores, comparisons and published results as pandas DataFrames, with the columns of the JSON records."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche import tasks
from touche.errors import ToucheError, installing
from touche.evaluation import comparison, scores
from touche.evaluation.ndcg import EVALUATORS
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore

if TYPE_CHECKING:
    from pandas import DataFrame

Runs = str | PathLike[str] | Sequence[str | PathLike[str]]


def evaluate(runs: Runs, task: str, evaluator: str = "both", *, per_topic: bool = False) -> "DataFrame":
    """Scores run files in every dimension of a task.

    Args:
        runs: a path, or several.
        task: the id of the task.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: a row for each topic instead of the means.

    Returns:
        A row for each run, dimension, evaluator (and topic); columns as the attributes of
        ``touche.evaluation.scores.Score`` or ``TopicScore``. What puts scores in doubt is a Python warning.

    Raises:
        ToucheError: if a file is unusable or judgments are not at hand.
    """
    _check(evaluator, [*EVALUATORS, "both"])
    scored = _score(runs, task, [] if evaluator == "both" else [evaluator])
    if per_topic:
        of_runs = [rows for each in scored for rows in each.topic_scores.values()]
        return _frame(TopicScore, [row for rows in of_runs for row in rows.values()])
    return _frame(Score, [row for each in scored for row in each.scores.values()])


def compare(runs: Runs, task: str, evaluator: str = "trec_eval", *, per_topic: bool = False) -> "DataFrame":
    """Compares every two of the runs in every dimension of a task.

    Args:
        runs: the paths, at least two.
        task: the id of the task.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: a row for each topic, the largest differences of a pair first.

    Returns:
        Columns as the attributes of ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``.

    Raises:
        ToucheError: if a file is unusable, or judgments are not at hand.
    """
    _check(evaluator, EVALUATORS)
    scored = _score(runs, task, [evaluator])
    for text in comparison.not_compared(scored, evaluator):
        warnings.warn(text, stacklevel=2)
    if per_topic:
        return _frame(comparison.TopicDifference, comparison.topic_differences(scored, evaluator))
    return _frame(comparison.Comparison, comparison.comparisons(scored, evaluator))


def published(task: str | None = None) -> "DataFrame":
    """The published results of a task, or of all.

    Args:
        task: the id of the task; None for all.

    Returns:
        Columns as the attributes of ``touche.tasks.Published``, the best result of each dimension first;
        after the rankings detected stances, whose ``measure`` is another one.

    Raises:
        ToucheError: if there is no such task.
    """
    chosen = [tasks.task(task)] if task else tasks.all_tasks().values()
    return _frame(tasks.Published, [row for each in chosen for row in each.all_published])


def _score(runs: Runs, task: str, evaluators: Iterable[str]) -> list[Evaluated]:
    paths = [runs] if isinstance(runs, str | PathLike) else list(runs)
    found = scores.evaluate([Path(path) for path in paths], tasks.task(task), evaluators)
    for text in warnings_of(found):
        warnings.warn(text, stacklevel=3)
    return found


def _check(evaluator: str, known: Iterable[str]) -> None:
    if evaluator not in known:
        raise ToucheError(f"there is no evaluator {evaluator!r} here; choose among {', '.join(known)}")


def _frame(kind: type[Any], rows: Sequence[Any]) -> "DataFrame":
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ToucheError(f"pandas is not installed; get it with: {installing('analysis')}") from error
    return DataFrame([asdict(row) for row in rows], columns=[field.name for field in fields(kind)])
