"""Scores, comparisons and published results as pandas DataFrames, with the columns of the JSON records."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import chain, count
from os import PathLike
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from touche import tasks
from touche.errors import ToucheError
from touche.evaluation import comparison, scores
from touche.evaluation.ndcg import EVALUATORS
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore
from touche.formats.frames import lines_of, pandas
from touche.formats.runs import RunLine
from touche.tasks import Task

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
    _check(evaluator, [*EVALUATORS, "both"])
    if pairs not in ("exact", "any-order"):
        raise ToucheError(f"pairs = {pairs!r}; choose among exact, any-order")
    asked = _asked(task, measure, qrels)
    evaluators = [] if evaluator == "both" else [evaluator]
    scored = _score(runs, asked, evaluators, any_order=pairs == "any-order")
    if per_topic:
        of_runs = [rows for each in scored for rows in each.topic_scores.values()]
        return _frame(TopicScore, [row for rows in of_runs for row in rows.values()])
    return _frame(Score, [row for each in scored for row in each.scores.values()])


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
    _check(evaluator, EVALUATORS)
    scored = _score(runs, _asked(task, measure, qrels), [evaluator])
    for text in comparison.not_compared(scored, evaluator):
        warnings.warn(text, stacklevel=2)
    if per_topic:
        return _frame(comparison.TopicDifference, comparison.topic_differences(scored, evaluator))
    compared = comparison.comparisons(scored, evaluator, randomisation=randomisation)
    return _frame(comparison.Comparison, compared)


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


def _asked(task: str | None, measure: "str | Measure | None", qrels: str | PathLike[str] | None) -> Task:
    """The measure may be one of ir_measures, too, which is written as it is called."""
    named = None if measure is None else str(measure)
    return tasks.task_scored_by(task, named, None if qrels is None else Path(qrels))


def _score(runs: Runs, task: Task, evaluators: Iterable[str], *, any_order: bool = False) -> list[Evaluated]:
    pandas()  # or an error before the work
    given = [runs] if isinstance(runs, str | PathLike) or hasattr(runs, "columns") else list(runs)
    read = list(_read([each for each in given if hasattr(each, "columns")]))
    names = (name for name, _ in read)
    paths = [next(names) if hasattr(each, "columns") else Path(each) for each in given]
    found = scores.evaluate(paths, task, evaluators, any_order=any_order, in_memory=dict(read))
    for text in warnings_of(found):
        warnings.warn(text, stacklevel=3)
    return found


def _read(frames: Sequence["DataFrame"]) -> Iterator[tuple[Path, list[RunLine]]]:
    """Frames as runs, each with what takes the place of its path: its tag, and a number if others have it."""
    seen = set[str]()
    for frame in frames:
        tag = str(frame.attrs.get("tag") or "frame")
        numbered = (f"{tag} ({number})" for number in count(2))
        name = next(each for each in chain([tag], numbered) if realpath(each) not in seen)
        seen.add(realpath(name))
        yield Path(name), lines_of(frame, name)


def _check(evaluator: str, known: Iterable[str]) -> None:
    if evaluator not in known:
        raise ToucheError(f"there is no evaluator {evaluator!r} here; choose among {', '.join(known)}")


def _frame(kind: type[Any], rows: Sequence[Any]) -> "DataFrame":
    pandas()
    from touche.evaluation.whole import Whole

    return Whole([asdict(row) for row in rows], columns=[field.name for field in fields(kind)])
