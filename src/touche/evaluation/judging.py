"""What to judge next: the unjudged documents whose grades move the differences between runs most."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from touche.errors import ToucheError
from touche.evaluation.bounds import BoundedMeasure, rank_discounts
from touche.evaluation.evaluators import ndcg
from touche.evaluation.scores import Evaluated
from touche.trec.qrels import Qrels


@dataclass(frozen=True)
class ToJudge:
    """An unjudged document among the first k of some runs.

    Attributes:
        topic, document: numbers of the topic, and id of the document.
        runs: number of runs that have it among their first k.
        gain: how much its highest grade would move the differences of means, summed over all pairs of runs;
            with one run, how much it would move the mean.
    """

    topic: str
    document: str
    runs: int
    gain: float


def to_judge(runs: Sequence[Evaluated], evaluator: str) -> list[ToJudge]:
    """Returns the unjudged documents of runs in one dimension, first those with the highest gain.

    Raises:
        ToucheError: if the measure has no bounds, or no grade is above 0. Several runs need bounds of the
            difference of two.
    """
    measure = _bounded_measure(runs)
    first_of_runs = [run.first_documents(evaluator) for run in runs]  # of each run, by topic
    longest = max(len(ids) for first in first_of_runs for ids in first.values())
    rank_weights = _rank_weights(measure, longest)
    rows = []
    for topic in sorted(set().union(*first_of_runs)):
        ids_of_runs = [first.get(topic, ()) for first in first_of_runs]
        # For each run, the weight of each document's rank.
        document_weights = [dict(zip(ids, rank_weights, strict=False)) for ids in ids_of_runs]
        documents = dict.fromkeys(chain(*ids_of_runs))  # without repetitions
        unjudged = [document for document in documents if document not in measure.labels[topic]]
        for document in unjudged:
            # A weight for each run; 0 if the run lacks the document.
            weights = np.array([by_document.get(document, 0.0) for by_document in document_weights])
            differences = np.abs(weights[:, None] - weights).sum() / 2  # each pair of runs is counted twice
            factor = differences if len(runs) > 1 else weights.sum()
            # Divided by the number of topics, because the mean is over all of them.
            gain = float(factor) * _value_on_rank_1(measure, topic) / len(measure.labels)
            count = int((weights > 0).sum())
            rows.append(ToJudge(topic=topic, document=document, runs=count, gain=gain))
    return sorted(rows, key=lambda row: (-row.gain, row.topic, row.document))


def decisive(better: Evaluated, other: Evaluated, evaluator: str, rows: Sequence[ToJudge]) -> int | None:
    """Returns how many of the first rows decide that the better run's mean is at least the other run's.

    Rows decide if this is certain once their documents are judged as not relevant, whatever grades the
    remaining documents get.

    Args:
        better: the run with the higher mean.
        other: the other run.
        evaluator: the evaluator whose order of the runs counts.
        rows: the unjudged documents of both, and perhaps of more runs, as from ``to_judge``.

    Returns:
        None if all rows are not enough: the run is better only because touche removes unjudged documents.
    """
    measure = _bounded_measure([better, other])
    first_of_better = better.first_documents(evaluator)
    first_of_other = other.first_documents(evaluator)
    topics = better.bounds[evaluator].keys() & other.bounds[evaluator].keys()

    def is_decided(count: int) -> bool:
        """Returns whether the better run's mean stays at least equal if the first rows are not relevant."""
        labels = Qrels({topic: dict(grades) for topic, grades in measure.labels.items()})
        for row in rows[:count]:
            labels[row.topic][row.document] = 0
        difference = replace(measure, labels=labels).bounds_of_mean(first_of_better, first_of_other, topics)
        return difference.least >= 0

    if not is_decided(len(rows)):
        return None
    # The smallest count: if a number of rows decides, each larger number does.
    return bisect_left(range(len(rows)), True, key=is_decided)


def _bounded_measure(runs: Sequence[Evaluated]) -> BoundedMeasure:
    """Returns the measure of the runs, with what is known about grades.

    Raises:
        ToucheError: if the measure has no bounds, or no grade is above 0. Several runs need bounds of the
            difference of two, which AP lacks.
    """
    measure = runs[0].bounded_measure
    has_relevant = any(max(labels.values()) > 0 for labels in runs[0].judgments.values())
    # With the grades of a task's card, there are bounds even if no document is relevant.
    if measure is None and not has_relevant:
        problem = f"{runs[0].qrels}: no document is relevant, so the documents to judge cannot be chosen"
        raise ToucheError(f"{problem}; add judgments above 0")
    if measure is None or (measure.lacks_differences and len(runs) > 1):
        problem = f"{runs[0].measure} cannot choose the documents to judge, because it has no bounds"
        raise ToucheError(f"{problem}; use nDCG@k, P@k or RR")
    return measure


def _rank_weights(measure: BoundedMeasure, count: int) -> list[float]:
    """Returns the weights of the first ranks in the measure."""
    if measure.name == "nDCG":
        return [*rank_discounts(count)]
    if measure.name == "P":
        return [1 / measure.k] * count
    return [1 / rank for rank in range(1, count + 1)]  # exact for RR, approximate for AP


def _value_on_rank_1(measure: BoundedMeasure, topic: str) -> float:
    """Returns the value of a document with the highest grade on rank 1 of a topic."""
    if measure.name != "nDCG":
        return 1.0
    highest_grade = measure.scale[-1]
    # Once the document is judged, its grade is also in the ideal list.
    labels = [*measure.labels[topic].values(), highest_grade]
    return ndcg([highest_grade], labels, measure.k)
