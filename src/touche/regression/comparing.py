"""Compares a run with entries in expected.toml. A score is only computed when an entry needs it."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from touche.baselines.expected import (
    REPORTED,
    Expected,
    ExpectedFigure,
    ExpectedScore,
    ExpectedTopics,
    OfficialRun,
)
from touche.errors import ToucheError
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.judged import judged
from touche.evaluation.scoring import ByEvaluator, by_evaluator, score
from touche.regression.figures import MEASURES
from touche.regression.outcomes import (
    CHANGED,
    COMPARED,
    NOT_AS_REPORTED,
    PASSED,
    TOO_HIGH,
    TOO_LOW,
    Outcome,
    failed,
)
from touche.tasks import dataset, measure_of
from touche.tasks.task_records import SCRIPT, rounded
from touche.trec.columns import Run

Scores = Callable[[str], ByEvaluator]
"""Returns a run's scores in a judged dimension of its dataset."""


def scores_of(run: Run, dataset_id: str) -> Scores:
    """Returns a function that scores a run in a dimension. It remembers the scores, so that each dimension is
    scored once.
    """
    task, _ = dataset(dataset_id)

    @cache
    def scores(dimension: str) -> ByEvaluator:
        [group] = by_evaluator(score([run], judged(task, dimensions=[dimension])))
        return group

    return scores


def compare(entry: Expected, run: Run, scores: Scores) -> Outcome:
    """Compares a rerun, or an entry's official run, with what the entry expects.

    If an error occurs, it becomes the outcome: the entry failed.
    """
    try:
        return _compared(entry, run, scores)
    except Exception as error:
        return failed(entry, error)


def _compared(entry: Expected, run: Run, scores: Scores) -> Outcome:
    """Measures what the entry is about (a score, values of topics, a figure or a ranking) and returns the
    outcome.
    """
    if isinstance(entry, ExpectedScore):
        evaluation = _evaluation(scores(entry.dimension), entry.measure, entry.evaluator)
        if evaluation.mean is None:
            raise ToucheError(f"{entry.evaluator} scores no topic, so there is no mean; check the run")
        return outcome_of(entry, evaluation.mean, judged=evaluation.judged)
    if isinstance(entry, ExpectedTopics):
        return _compared_topics(entry, scores)
    if isinstance(entry, ExpectedFigure):
        return outcome_of(entry, float(MEASURES[entry.name](run)))
    if isinstance(entry, OfficialRun):
        return Outcome(expected=entry, verdict=COMPARED)
    return outcome_of(entry, ranking_digest(run))


def outcome_of(
    entry: Expected,
    got: float | str,
    judged: float | None = None,
    remark: str = "",
) -> Outcome:
    """Returns the outcome for a measured value: the expectation, the value and the verdict."""
    difference = entry.difference(got)
    if entry.accepts(got):
        verdict = PASSED
    elif entry.kind == REPORTED:
        verdict = NOT_AS_REPORTED
    elif difference is None:
        verdict = CHANGED
    else:
        verdict = TOO_HIGH if difference > 0 else TOO_LOW
    return Outcome(expected=entry, verdict=verdict, got=got, judged=judged, remark=remark)


def _compared_topics(entry: ExpectedTopics, scores: Scores) -> Outcome:
    """Counts on how many topics the rerun has the published value. The outcome's remark names the other
    topics.
    """
    task, _ = dataset(entry.dataset)
    different = list[str]()
    total = 0
    measured: dict[str, dict[str, float]] = {}
    for dimension, published in entry.topic_values.items():
        evaluation = _evaluation(scores(dimension), entry.measure, SCRIPT)
        measured[dimension] = {
            topic: rounded(value, task.decimals)
            for topic, value in evaluation.per_topic.items()
            if topic in published
        }
        for topic, value in published.items():
            got = measured[dimension].get(topic)
            if got != value:
                different.append(f"{dimension} of topic {topic} is {got} instead of {value}")
        total += len(published)
    reproduced = entry.reproduced(total - len(different), total)
    return replace(outcome_of(entry, reproduced, remark=", ".join(different)), topics=measured)


def _evaluation(group: ByEvaluator, measure: str, evaluator: str) -> Evaluation:
    """Returns a run's scores with an evaluator. ``measure`` is the entry's measure, which can be another one
    than the task's.
    """
    first = next(iter(group.values()))
    if measure == first.judged.measure.name:
        return group[evaluator].evaluation
    return EVALUATORS[evaluator](first.run, first.judged.qrels, measure_of(measure))


def ranking_digest(run: Run) -> str:
    """Returns a run's digest: the first 16 hexadecimal digits of the SHA-256 of lines ``topic rank
    document``.

    In the shell: ``awk '{print $1, $4, $3}' run.txt | sha256sum | head -c 16``.
    """
    columns = zip(run.topics, run.ranks, run.documents, strict=True)
    lines = (f"{topic} {rank} {document}\n" for topic, rank, document in columns)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
