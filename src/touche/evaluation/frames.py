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
from touche.evaluation.wide import WideTable, wide_table
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
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[Any]:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run or several, each in one of the forms of ``touche.AnyRun``: a path, a frame of PyTerrier
            or ir_measures, scores by topic and document, or records.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: whether to return topic scores instead of means.
        pairs: ``any-order`` adds a score that also counts pairs judged in the other order.
        measure: a measure instead of the task's, an object of ir_measures or its name, such as ``nDCG@10``.
            ``nDCG@5,AP`` names several.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.

    Returns:
        A record for each run, dimension, evaluator (and topic): a ``touche.evaluation.scores.Score`` or
        ``TopicScore``; ``frame()`` returns them as a DataFrame. Doubtful scores cause Python warnings. The
        notes explain differences between the evaluators, and give ranks on the leaderboard.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing.
    """
    _check("evaluator", evaluator, [*EVALUATORS, "both"])
    _check("pairs", pairs, ["exact", "any-order"])
    evaluators = [] if evaluator == "both" else [evaluator]
    by_measure = _score(runs, (task, measure, qrels), evaluators, any_order=pairs == "any-order")
    kind: type[Any] = TopicScore if per_topic else Score
    of_runs = (run.all_topic_scores if per_topic else run.scores.values() for run in chain(*by_measure))
    records = tuple(chain.from_iterable(of_runs))
    notes = dict.fromkeys(text for group in by_measure for text in notes_of(group))
    return Table(kind, records, _warnings(by_measure), tuple(notes))


def compare(
    runs: AnyRun | Sequence[AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: bool = False,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    reference: str | None = None,
) -> Table[Any]:
    """Compares each pair of runs in every dimension of a task.

    Args:
        runs: paths or frames, as for ``evaluate``; at least two.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: whether to return the differences of topics, a pair's largest differences first.
        measure: a measure instead of the task's, as for ``evaluate``.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.
        randomisation: whether to add the randomisation test.
        reference: the tag or path of the run to compare each other run with; None compares all pairs.

    Returns:
        Records: ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``; ``frame()`` returns
        them as a DataFrame.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing.
    """
    _check("evaluator", evaluator, EVALUATORS)
    by_measure = _score(runs, (task, measure, qrels), [evaluator])
    compared, topics, faults = list[Comparison](), list[TopicDifference](), list[str]()
    for evaluated in by_measure:
        second = run_named(reference, evaluated) if reference else None
        records, untested = comparisons(evaluated, evaluator, second, randomisation=randomisation)
        compared += records
        faults += untested
        topics += topic_differences(evaluated, evaluator, second) if per_topic else []
    for text in faults:
        warnings.warn(text, stacklevel=2)
    about = (*faults, *_warnings(by_measure))
    if per_topic:
        return Table(TopicDifference, tuple(topics), about)
    return Table(Comparison, tuple(compared), about)


def wide(
    runs: AnyRun | Sequence[AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    reference: str | None = None,
    every_two: bool = False,
) -> WideTable:
    """Scores runs in a table with a row for each run, for papers: ``wide(...).latex()``.

    Args:
        runs, task, evaluator, measure, qrels: as for ``evaluate``.
        reference: the tag or path of the run from which significant differences are marked.
        every_two: whether letters mark the runs with significantly lower scores.

    Raises:
        ToucheError: as ``evaluate`` and ``compare``.
    """
    _check("evaluator", evaluator, [*EVALUATORS, "both"])
    by_measure = _score(runs, (task, measure, qrels), [] if evaluator == "both" else [evaluator])
    return wide_table(by_measure, reference, every_two)


def published(task: str | None = None) -> Table[tasks.Published]:
    """Returns the published results of a task, or of all tasks.

    Args:
        task: the id of the task; None for all tasks.

    Returns:
        Records of ``touche.tasks.Published``, the best result of each dimension first; detected stances,
        which have another measure, come last. ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such task.
    """
    chosen = [tasks.task(task)] if task else tasks.all_tasks().values()
    return Table(tasks.Published, tuple(row for card in chosen for row in card.published))


def _score(
    runs: Any, scored_by: tuple[Any, Any, Any], evaluators: Iterable[str], any_order: bool = False
) -> list[list[Evaluated]]:
    """Evaluates runs of any form by each measure; qrels without a file are written to a temporary file."""
    task, measure, qrels = scored_by
    given = measure if isinstance(measure, list | tuple) else [measure]  # texts, or objects of ir_measures
    measures = [name for each in given for name in (tasks.measures_in(str(each)) if each else [None])]
    in_file = qrels is None or isinstance(qrels, str | PathLike)
    with temporary_folder("touche-qrels-") as folder:
        path = (Path(qrels) if qrels else None) if in_file else qrels_of(qrels).write(folder / "qrels.txt")
        scored = tasks.tasks_scored_by(task, measures, path)
        by_measure = scores.evaluate_by(runs_of(runs), scored, evaluators, any_order=any_order)
    if not in_file:
        by_measure = [[replace(run, qrels="qrels") for run in group] for group in by_measure]
    for text in _warnings(by_measure):
        warnings.warn(text, stacklevel=3)
    return by_measure


def _warnings(by_measure: Sequence[Sequence[Evaluated]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for group in by_measure for text in warnings_of(group)))


def _check(option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ToucheError(f"{option} = {value!r} is unknown; choose among {', '.join(known)}")
