"""Bounds: the least and the greatest score that any grades of the unjudged documents could give.

All documents of a list count as judged, so the ideal ranking also has the unjudged ones. The bounds of
nDCG@k, P@k, RR and AP@k are exact, but not all grades are tried:

* If it is fixed how many documents get at least each grade, a sum is extreme if its terms are sorted.
* The greatest nDCG@k is the greatest ratio of two sums over the grades. The method of Dinkelbach, «On
  Nonlinear Fractional Programming» (1967), finds it by a series of linear problems, in which each grade is
  chosen independently of the others. If this ratio is negative, as for least values, every document has grade
  0 or the highest grade.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from touche.evaluation.evaluators import Evaluation, Ranked, gains
from touche.tasks.measures import Measure, parsed
from touche.trec.qrels import Qrels

_BINARY = ("P", "RR", "AP")  # names of binary measures with bounds
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value that any grades of the unjudged documents could give."""

    least: float
    greatest: float


@dataclass(frozen=True, kw_only=True)
class Judge:
    """What is known about the grades that documents can get.

    Attributes:
        name: name of the measure without its parameters, such as ``nDCG``.
        cutoff: k of the measure; None if all results are scored, which only RR allows.
        relevant: the lowest relevant grade of a binary measure.
        scale: the grades above 0, ascending.
        labels: the judged gains by topic.
    """

    name: str
    cutoff: int | None
    relevant: int
    scale: tuple[int, ...]
    labels: Qrels

    @property
    def k(self) -> int:
        """The cutoff of a measure that has one: only RR may have none."""
        assert self.cutoff is not None
        return self.cutoff

    @property
    def is_of_one(self) -> bool:
        """Whether there are only bounds of one list, and not of the difference of two."""
        return self.name == "AP"

    def topic(self, topic: str, first: Sequence[str], second: Sequence[str] = ()) -> Bounds:
        """Returns the bounds of the first list's score minus the second's; a document has one grade in both.

        Args:
            topic: the topic.
            first, second: documents down to the cutoff, best first; an empty list scores 0.
        """
        greatest_difference = _GREATEST[self.name]
        labels = self.labels[topic]
        greatest = greatest_difference(self, labels, first, second)
        least = 0.0 - greatest_difference(self, labels, second, first)  # a minus alone would give -0.0
        return Bounds(least=least, greatest=greatest)

    def mean(self, first: Ranked, second: Ranked, topics: Collection[str]) -> Bounds:
        """Returns the bounds of the mean over some topics of the first run's score minus the second's.

        Args:
            first, second: documents of each topic down to the cutoff, best first; a missing topic scores 0.
            topics: at least one topic.
        """
        return mean_bounds(
            {topic: self.topic(topic, first.get(topic, ()), second.get(topic, ())) for topic in topics}
        )


def judge(qrels: Qrels, measure: Measure, grades: Collection[int] = ()) -> Judge | None:
    """Returns the data for bounds of a measure; None if the measure has none, or no grade is above 0.

    Args:
        qrels: the judgments; grades below 0 count as 0.
        measure: nDCG@k, P@k, RR, RR@k or AP@k.
        grades: the grades of the task's scale; those of the qrels and 0 belong to it in any case.
    """
    scale = {grade for labels in qrels.values() for grade in labels.values()}.union(grades)
    positive = tuple(sorted(grade for grade in scale if grade > 0))
    if not positive:
        return None
    judge_of_ndcg = Judge(name="nDCG", cutoff=measure.cutoff, relevant=1, scale=positive, labels=gains(qrels))
    if measure.of_script:  # nDCG@k
        return judge_of_ndcg
    if not measure.name.startswith(_BINARY):  # other names are not parsed, because ir_measures loads slowly
        return None
    named = parsed(measure.name)
    has_bounds = named.NAME in _BINARY and (measure.cutoff or named.NAME == "RR") and not measure.condenses
    if not has_bounds:
        return None
    return replace(judge_of_ndcg, name=named.NAME, relevant=named.params.get("rel", 1))


def topic_bounds(known: Judge, first: Ranked, evaluation: Evaluation) -> dict[str, Bounds]:
    """Returns the bounds of each topic that counts in the mean, or would count if its list were judged.

    Args:
        known: what is known about the grades.
        first: documents of each judged topic of the run down to the cutoff, in the evaluator's order.
        evaluation: the evaluator's scores. The score of a topic without unjudged documents is both bounds.
    """
    values = {topic: Bounds(value, value) for topic, value in evaluation.per_topic.items()}
    for topic, documents in first.items():
        if evaluation.judged_per_topic[topic] < 1:
            values[topic] = known.topic(topic, documents)
    return values


def mean_bounds(bounds: Mapping[str, Bounds]) -> Bounds:
    """Returns the bounds of the mean over at least one topic."""
    return Bounds(
        least=fmean(topic.least for topic in bounds.values()),
        greatest=fmean(topic.greatest for topic in bounds.values()),
    )


def rank_discounts(cutoff: int) -> Floats:
    """Returns the discount of nDCG for each rank from 1."""
    return 1 / np.log2(np.arange(2, cutoff + 2))


def _ndcg(known: Judge, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]) -> float:
    """Returns the greatest difference of nDCG@k.

    It is the sum of weight times grade, over the ideal DCG; a document of both lists has the net weight.
    """
    discounts = rank_discounts(known.k)
    weights = dict.fromkeys([*first, *second], 0.0)
    for sign, documents in ((1, first), (-1, second)):
        for document, discount in zip(documents, discounts.tolist(), strict=False):
            weights[document] += sign * discount
    fixed = sum(weight * labels.get(document, 0) for document, weight in weights.items())
    free = sorted((weight for document, weight in weights.items() if document not in labels), reverse=True)
    return _greatest_ratio(fixed, free, [*labels.values()], known.scale, discounts)


def _greatest_ratio(
    fixed: float, free: Sequence[float], judged: Sequence[int], scale: Sequence[int], discounts: Floats
) -> float:
    """Returns the greatest value of (fixed + the sum of weight times grade) / ideal DCG.

    Args:
        fixed: the part of the sum that is judged.
        free: the weights of the unjudged documents, largest first.
        judged: all judged gains of the topic.
        scale: the grades above 0, ascending.
        discounts: the discounts down to k.
    """
    # A grade is the sum of the steps of the scale up to it. So DCG and ideal DCG are sums over the steps, and
    # a step needs only the number of unjudged documents that get at least its grade: its count.
    steps = np.diff(scale, prepend=0)
    free_sums = np.append(0.0, np.cumsum(free))  # the largest sum of as many weights, by the count
    ideals = _ideal_sums(judged, len(free), scale, discounts)  # a row for each step, a column for each count
    # Start with the best value if unjudged documents get only the highest grade or 0: all counts are equal.
    dcgs = fixed + scale[-1] * free_sums
    ideal_dcgs = steps @ ideals
    ratios = np.divide(dcgs, ideal_dcgs, out=np.zeros_like(dcgs), where=ideal_dcgs > 0)
    value = float(ratios.max())
    # Dinkelbach's method: the counts that are best for the value give a greater value, until none does. A
    # value below 0 is the greatest already. Then the counts for 0, equal as at the start, end the loop.
    rows = np.arange(len(scale))
    while True:
        # A lower grade never gets a lower count, because its ideal sums grow less.
        counts = (free_sums - max(value, 0.0) * ideals).argmax(axis=1)
        ideal_dcg = float(steps @ ideals[rows, counts])
        ratio = (fixed + float(steps @ free_sums[counts])) / ideal_dcg if ideal_dcg else 0.0
        if ratio <= value:
            return value
        value = ratio


def _ideal_sums(judged: Sequence[int], free: int, scale: Sequence[int], discounts: Floats) -> Floats:
    """Returns the sums of the ideal discounts of all documents with at least a given grade.

    Args:
        judged: all judged gains of the topic.
        free: the number of unjudged documents.
        scale: the grades above 0, ascending.
        discounts: the discounts down to k.

    Returns:
        A row for each grade, and a column for each number of unjudged documents that get at least this grade,
        from 0 to ``free``.
    """
    judged_counts = (np.array(judged)[:, None] >= np.array(scale)).sum(axis=0)  # with at least each grade
    counts = judged_counts[:, None] + np.arange(free + 1)
    sums = np.append(0.0, np.cumsum(discounts))
    return np.asarray(sums[np.minimum(counts, len(discounts))])  # only the first k count


def _relevance(
    known: Judge, labels: Mapping[str, int], documents: Collection[str]
) -> tuple[set[str], set[str]]:
    """Returns the relevant documents, and the unjudged ones that can become relevant."""
    relevant = {document for document in documents if labels.get(document, 0) >= known.relevant}
    is_possible = known.scale[-1] >= known.relevant
    return relevant, {document for document in documents if is_possible and document not in labels}


def _precision(known: Judge, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]) -> float:
    """Returns the greatest difference of P@k: that of the first list minus that of the second."""
    relevant, free = _relevance(known, labels, [*first, *second])
    hits = relevant | (free - {*second})  # a free document of both lists would change both in the same way
    return (len(hits.intersection(first)) - len(hits.intersection(second))) / known.k


def _reciprocal_rank(
    known: Judge, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest difference of RR, that of the first list minus that of the second.

    It is greatest if at most one unjudged document, one of the first list, is relevant.
    """
    relevant, free = _relevance(known, labels, [*first, *second])
    gains_first = {id: 1 / rank for rank, id in enumerate(first, 1)}
    gains_second = {id: 1 / rank for rank, id in enumerate(second, 1)}
    known_first = max((gains_first.get(id, 0.0) for id in relevant), default=0.0)
    known_second = max((gains_second.get(id, 0.0) for id in relevant), default=0.0)
    differences = [known_first - known_second]
    for id in first:
        if id in free:  # as if no other unjudged document was relevant; the second list may also have it
            greatest_first = max(known_first, gains_first[id])
            greatest_second = max(known_second, gains_second.get(id, 0.0))
            differences.append(greatest_first - greatest_second)
    return max(differences)


def _average_precision(
    known: Judge, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest AP@k of the first list, or minus the least AP@k of the second; the other is empty.

    With any number of relevant documents, AP is greatest if they are first, and least if they are last.
    """
    sign, documents = (1, first) if first else (-1, second)
    relevant, free = _relevance(known, labels, documents)
    hits = np.array([document in relevant for document in documents], dtype=float)
    indices = [index for index, document in enumerate(documents) if document in free]
    if not first:  # the least AP is wanted
        indices.reverse()
    total = sum(label >= known.relevant for label in labels.values())
    ranks = np.arange(1, len(documents) + 1)
    values = []
    for count in range(len(indices) + 1):  # number of relevant ones among the unjudged documents
        hits[indices[:count]] = 1
        precisions = hits * np.cumsum(hits) / ranks
        values.append(sign * float(precisions.sum()) / (total + count) if total + count else 0.0)
    return max(values)


_GREATEST: Mapping[str, Callable[[Judge, Mapping[str, int], Sequence[str], Sequence[str]], float]] = {
    "nDCG": _ndcg,
    "P": _precision,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
}
