"""Bounds: the least and the greatest score that any grades of the unjudged documents could give.

All documents of a list count as judged, so the ideal ranking also contains its unjudged documents. The
bounds of nDCG@k, P@k, RR and AP@k are exact, but not all grades are tried:

* For a fixed number of documents with each grade, DCG is greatest if the first ranks get the highest grades.
* The greatest nDCG@k is the greatest ratio of two sums over the grades. The method of Dinkelbach, «On
  Nonlinear Fractional Programming» (1967), finds it by a series of linear problems, in which each grade is
  chosen independently of the others. If this ratio is negative, as for least values, every unjudged document
  gets grade 0 or the highest grade.
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
class BoundedMeasure:
    """A measure that has bounds, with what is known about the grades.

    Attributes:
        name: name of the measure without its parameters, such as ``nDCG``.
        cutoff: k of the measure; None if all results are scored, which only RR allows.
        lowest_relevant: the lowest relevant grade of a binary measure; nDCG does not use it.
        scale: the grades above 0, ascending.
        labels: the judged gains by topic.
    """

    name: str
    cutoff: int | None
    lowest_relevant: int
    scale: tuple[int, ...]
    labels: Qrels

    @property
    def k(self) -> int:
        """The cutoff of any measure except RR, which may have none."""
        assert self.cutoff is not None
        return self.cutoff

    @property
    def lacks_differences(self) -> bool:
        """Whether only the score of one list has bounds, and the difference of two lists has none."""
        return self.name == "AP"

    def bounds_on_topic(self, topic: str, first: Sequence[str], second: Sequence[str] = ()) -> Bounds:
        """Returns the bounds of the first list's score minus the second's.

        A document of both lists has the same grade in both.

        Args:
            topic: the topic.
            first, second: documents down to the cutoff, best first; an empty list scores 0.
        """
        greatest_difference = _GREATEST[self.name]
        labels = self.labels[topic]
        greatest = greatest_difference(self, labels, first, second)
        # The least difference is minus the greatest one of the swapped lists; a minus alone would give -0.0.
        least = 0.0 - greatest_difference(self, labels, second, first)
        return Bounds(least=least, greatest=greatest)

    def bounds_of_mean(self, first: Ranked, second: Ranked, topics: Collection[str]) -> Bounds:
        """Returns the bounds of the mean over some topics of the first run's score minus the second's.

        Args:
            first, second: documents of each topic down to the cutoff, best first; a missing topic scores 0.
            topics: at least one topic.
        """
        return mean_bounds(
            {
                topic: self.bounds_on_topic(topic, first.get(topic, ()), second.get(topic, ()))
                for topic in topics
            }
        )


def bounded_measure(qrels: Qrels, measure: Measure, grades: Collection[int] = ()) -> BoundedMeasure | None:
    """Returns the data for bounds of a measure; None if the measure has no bounds, or no grade is above 0.

    Args:
        qrels: the judgments; grades below 0 count as 0.
        measure: nDCG@k, P@k, RR, RR@k or AP@k.
        grades: the grades of the task's scale; the scale always contains the grades of the qrels and 0.
    """
    all_grades = {grade for labels in qrels.values() for grade in labels.values()}.union(grades)
    scale = tuple(sorted(grade for grade in all_grades if grade > 0))
    if not scale:
        return None
    ndcg = BoundedMeasure(
        name="nDCG", cutoff=measure.cutoff, lowest_relevant=1, scale=scale, labels=gains(qrels)
    )
    if measure.of_script:  # nDCG@k
        return ndcg
    if not measure.name.startswith(_BINARY):  # other names are not parsed, because ir_measures loads slowly
        return None
    named = parsed(measure.name)
    has_bounds = named.NAME in _BINARY and (measure.cutoff or named.NAME == "RR") and not measure.condenses
    if not has_bounds:
        return None
    return replace(ndcg, name=named.NAME, lowest_relevant=named.params.get("rel", 1))


def topic_bounds(measure: BoundedMeasure, first: Ranked, evaluation: Evaluation) -> dict[str, Bounds]:
    """Returns the bounds of each topic that counts in the mean, or would count if its list were judged.

    Args:
        measure: the measure, with what is known about the grades.
        first: documents of each judged topic of the run down to the cutoff, in the evaluator's order.
        evaluation: the evaluator's scores. In a topic without unjudged documents, both bounds are the score.
    """
    values = {topic: Bounds(value, value) for topic, value in evaluation.per_topic.items()}
    for topic, documents in first.items():
        if evaluation.judged_per_topic[topic] < 1:
            values[topic] = measure.bounds_on_topic(topic, documents)
    return values


def mean_bounds(bounds: Mapping[str, Bounds]) -> Bounds:
    """Returns the bounds of the mean over at least one topic."""
    return Bounds(
        least=fmean(topic.least for topic in bounds.values()),
        greatest=fmean(topic.greatest for topic in bounds.values()),
    )


def _rank_discounts(cutoff: int) -> Floats:
    """Returns the discount of nDCG for each rank from 1."""
    return 1 / np.log2(np.arange(2, cutoff + 2))


def _ndcg(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest nDCG@k of the first list minus that of the second.

    This difference is a sum over the documents of weight times grade, divided by the ideal DCG. The weight is
    the discount of the document's rank in the first list minus that in the second.
    """
    discounts = _rank_discounts(measure.k)
    weights = dict.fromkeys([*first, *second], 0.0)
    for sign, documents in ((1, first), (-1, second)):
        for document, discount in zip(documents, discounts.tolist(), strict=False):
            weights[document] += sign * discount
    fixed = sum(weight * labels.get(document, 0) for document, weight in weights.items())
    free = sorted((weight for document, weight in weights.items() if document not in labels), reverse=True)
    return _greatest_ratio(fixed, free, [*labels.values()], measure.scale, discounts)


def _greatest_ratio(
    fixed: float, free: Sequence[float], judged: Sequence[int], scale: Sequence[int], discounts: Floats
) -> float:
    """Returns the greatest value of (fixed + the sum of weight times grade) / ideal DCG.

    Args:
        fixed: the sum over the judged documents.
        free: the weights of the unjudged documents, largest first.
        judged: all judged gains of the topic.
        scale: the grades above 0, ascending.
        discounts: the discounts down to k.
    """
    # A grade is the sum of the steps of the scale up to it. So DCG and ideal DCG are sums over the steps, and
    # a step needs only the number of unjudged documents that get at least its grade: its count.
    steps = np.diff(scale, prepend=0)
    free_sums = np.append(0.0, np.cumsum(free))  # by count: the largest sum of so many weights
    ideals = _ideal_sums(judged, len(free), scale, discounts)  # a row for each step, a column for each count
    # Start with the best value if unjudged documents get only the highest grade or 0: all counts are equal.
    dcgs = fixed + scale[-1] * free_sums
    ideal_dcgs = steps @ ideals
    ratios = np.divide(dcgs, ideal_dcgs, out=np.zeros_like(dcgs), where=ideal_dcgs > 0)
    value = float(ratios.max())
    # Dinkelbach's method: the counts that are best for the value have a greater ratio, which is the next
    # value, until the ratio does not grow. A value below 0 is the greatest already: the counts for 0 are all
    # equal, as at the start, so the loop ends.
    rows = np.arange(len(scale))
    while True:
        # As needed, a lower grade never gets a lower count, because the ideal sums of lower grades grow less.
        counts = (free_sums - max(value, 0.0) * ideals).argmax(axis=1)
        ideal_dcg = float(steps @ ideals[rows, counts])
        ratio = (fixed + float(steps @ free_sums[counts])) / ideal_dcg if ideal_dcg else 0.0
        if ratio <= value:
            return value
        value = ratio


def _ideal_sums(judged: Sequence[int], free: int, scale: Sequence[int], discounts: Floats) -> Floats:
    """Returns the sums of the discounts that the documents with at least a grade have in the ideal ranking.

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
    sums = np.append(0.0, np.cumsum(discounts))  # by count
    return np.asarray(sums[np.minimum(counts, len(discounts))])  # only the first k count


def _relevance(
    measure: BoundedMeasure, labels: Mapping[str, int], documents: Collection[str]
) -> tuple[set[str], set[str]]:
    """Returns the relevant documents, and the unjudged ones that can become relevant."""
    relevant = {document for document in documents if labels.get(document, 0) >= measure.lowest_relevant}
    scale_has_relevant = measure.scale[-1] >= measure.lowest_relevant
    return relevant, {document for document in documents if scale_has_relevant and document not in labels}


def _precision(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest P@k of the first list minus that of the second."""
    relevant, free = _relevance(measure, labels, [*first, *second])
    hits = relevant | (free - {*second})  # a free document of both lists would change both in the same way
    return (len(hits.intersection(first)) - len(hits.intersection(second))) / measure.k


def _reciprocal_rank(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest RR of the first list minus that of the second.

    The difference is greatest if at most one unjudged document, which is in the first list, is relevant.
    """
    relevant, free = _relevance(measure, labels, [*first, *second])
    reciprocals_first = {id: 1 / rank for rank, id in enumerate(first, 1)}
    reciprocals_second = {id: 1 / rank for rank, id in enumerate(second, 1)}
    judged_first = max((reciprocals_first.get(id, 0.0) for id in relevant), default=0.0)
    judged_second = max((reciprocals_second.get(id, 0.0) for id in relevant), default=0.0)
    differences = [judged_first - judged_second]
    for id in first:
        if id in free:  # as if it were the only relevant unjudged document, which the second list may share
            score_first = max(judged_first, reciprocals_first[id])
            score_second = max(judged_second, reciprocals_second.get(id, 0.0))
            differences.append(score_first - score_second)
    return max(differences)


def _average_precision(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the greatest AP@k of the first list, or minus the least AP@k of the second; the other is empty.

    For a fixed number of relevant documents, AP is greatest if they are first, and least if they are last.
    """
    sign, documents = (1, first) if first else (-1, second)
    relevant, free = _relevance(measure, labels, documents)
    hits = np.array([document in relevant for document in documents], dtype=float)
    indices = [index for index, document in enumerate(documents) if document in free]
    if not first:  # the least AP is wanted
        indices.reverse()
    judged_relevant = sum(label >= measure.lowest_relevant for label in labels.values())
    ranks = np.arange(1, len(documents) + 1)
    values = []
    for count in range(len(indices) + 1):  # number of unjudged documents that are relevant
        hits[indices[:count]] = 1
        precisions = hits * np.cumsum(hits) / ranks
        ap = float(precisions.sum()) / (judged_relevant + count) if judged_relevant + count else 0.0
        values.append(sign * ap)
    return max(values)


_GREATEST: Mapping[
    str, Callable[[BoundedMeasure, Mapping[str, int], Sequence[str], Sequence[str]], float]
] = {
    "nDCG": _ndcg,
    "P": _precision,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
}
