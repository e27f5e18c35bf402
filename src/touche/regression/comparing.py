"""Compares a run with an entry in expected.toml. Scores are computed when an entry first needs them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from touche.baselines.expected import (
    REPORTED,
    SCRIPT,
    Expected,
    ExpectedFigure,
    ExpectedFormula,
    ExpectedRun,
    ExpectedScore,
    ExpectedTopics,
)
from touche.data.datasets import open_dataset
from touche.data.places import locate
from touche.errors import ToucheError
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.scores import Evaluated
from touche.evaluation.scoring import evaluate_dimension
from touche.regression.outcomes import (
    CHANGED,
    NOT_AS_REPORTED,
    PASSED,
    TOO_HIGH,
    TOO_LOW,
    Outcome,
    TopicValue,
    failed,
)
from touche.tasks import dataset, measure_of
from touche.tasks.task_records import rounded
from touche.trec.columns import Run

Scored = Callable[[str], Evaluated]
"""Returns a run's scores in a judged dimension of its dataset."""


def scored(run: Run, dataset_id: str) -> Scored:
    """Returns a function that scores a run in a dimension, each dimension once."""
    task, _ = dataset(dataset_id)
    return cache(partial(evaluate_dimension, run, task))


def compare(entry: Expected, run: Run, scores: Scored) -> Outcome:
    """Compares a rerun, or an entry's official run, with what the entry expects.

    An error is an outcome too: the entry failed.
    """
    try:
        return _COMPARISONS[type(entry)](entry, run, scores)
    except Exception as error:
        return failed(entry, error)


def _compared(
    entry: Expected,
    got: float | str,
    judged: float | None = None,
    remark: str = "",
    topics: Sequence[TopicValue] = (),
) -> Outcome:
    """Returns a measured value's outcome, with its verdict."""
    difference = entry.difference(got)
    if entry.accepts(got):
        verdict = PASSED
    elif entry.kind == REPORTED:
        verdict = NOT_AS_REPORTED
    elif difference is None:
        verdict = CHANGED
    else:
        verdict = TOO_HIGH if difference > 0 else TOO_LOW
    return Outcome(expected=entry, verdict=verdict, got=got, judged=judged, remark=remark, topics=topics)


def _score(entry: ExpectedScore, run: Run, scores: Scored) -> Outcome:
    evaluation = _evaluation(scores(entry.dimension), entry.measure, entry.evaluator)
    if evaluation.mean is None:
        raise ToucheError(f"{entry.evaluator} scores no topic, so there is no mean; check the run")
    return _compared(entry, evaluation.mean, evaluation.judged)


def _topics(entry: ExpectedTopics, run: Run, scores: Scored) -> Outcome:
    """Counts the topics with their published value; the remark names the others."""
    task, _ = dataset(entry.dataset)
    values = list[TopicValue]()
    for dimension in entry.dimensions:
        measured = _evaluation(scores(dimension), entry.measure, SCRIPT).per_topic
        for topic, published in entry.published(dimension).items():
            printed = rounded(measured[topic], task.decimals) if topic in measured else None
            values.append(TopicValue(dimension=dimension, topic=topic, published=published, rerun=printed))
    different = [value for value in values if value.rerun != value.published]
    remark = ", ".join(
        f"{value.dimension} of topic {value.topic} is {value.rerun} instead of {value.published}"
        for value in different
    )
    got = entry.reproduced(len(values) - len(different), len(values))
    return _compared(entry, got, remark=remark, topics=values)


def _evaluation(run: Evaluated, measure: str, evaluator: str) -> Evaluation:
    """Returns the scores for a measure, which can differ from the task's."""
    if measure == run.measure.name:
        return run.evaluations[evaluator]
    return EVALUATORS[evaluator](run.lines, run.judgments, measure_of(measure))


def _figure(entry: ExpectedFigure, run: Run, scores: Scored) -> Outcome:
    from touche.regression.figures import MEASURES  # few entries need its 35 ms

    return _compared(entry, float(MEASURES[entry.name](run, open_dataset(entry.dataset).documents)))


def _ranking(entry: ExpectedRun, run: Run, scores: Scored) -> Outcome:
    return _compared(entry, ranking_digest(run))


def _formula(entry: ExpectedFormula, run: Run, scores: Scored) -> Outcome:
    """Measures the share of the official run's scores that the formula reproduces.

    The rerun must follow the same formula, and the median error can be at most ``median``.
    """
    # Few entries need these 106 ms.
    from touche.identification.counts import NAMED
    from touche.identification.hypotheses import Hypothesis
    from touche.identification.samples import read_scores
    from touche.regression.official_runs import ScoredRun, formula_fit

    hypothesis = Hypothesis(
        model=entry.model,
        analysis=NAMED[entry.analysis],
        fields=entry.fields,
        combination=entry.combination,
    )
    official = ScoredRun(
        lines=read_scores(locate("runs", entry.run)),
        parameters=entry.parameters | entry.official_parameters,
        mean_lengths=entry.official_mean_lengths,
    )
    rerun = ScoredRun(
        lines=run,
        parameters=entry.parameters | entry.rerun_parameters,
        mean_lengths=entry.rerun_mean_lengths,
    )
    share, remark = formula_fit(hypothesis, entry.dataset, official, rerun, entry.median)
    return _compared(entry, share, remark=remark)


_COMPARISONS: Mapping[type[Expected], Callable[[Any, Run, Scored], Outcome]] = {
    ExpectedScore: _score,
    ExpectedTopics: _topics,
    ExpectedFormula: _formula,
    ExpectedFigure: _figure,
    ExpectedRun: _ranking,
}


def ranking_digest(run: Run) -> str:
    """Returns a ranking's digest, 16 hexadecimal digits: the hash of its lines ``topic rank document``.

    In the shell: ``awk '{print $1, $4, $3}' run.txt | sha256sum | head -c 16``.
    """
    columns = zip(run.topics, run.ranks, run.documents, strict=True)
    lines = (f"{topic} {rank} {document}\n" for topic, rank, document in columns)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
