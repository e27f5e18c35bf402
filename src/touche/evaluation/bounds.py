"""Bounds: the lowest and the highest score for any grades of unjudged documents among the first k.

The bounds treat every unjudged document in a list as if it were judged with some grade, so these documents
are part of the ideal ranking, too. The bounds on nDCG@k, P@k, RR and AP@k are exact, although we don't try
all combinations of grades:

* If we know how many documents get each grade, DCG is highest if the highest grades are at the first ranks.
* The highest nDCG@k is the highest ratio of two sums over the grades (DCG and ideal DCG). Dinkelbach's method
  ("On Nonlinear Fractional Programming", 1967) finds it with a series of linear problems that treat each
  grade independently. If this ratio is negative, as for lower bounds, every unjudged document gets either
  grade 0 or the highest grade.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from touche.evaluation.equality import without_last_digits
from touche.evaluation.evaluators import Evaluation, Ranked, gains, judged_order
from touche.evaluation.scoring import Judged, Scored
from touche.tasks.measures import Measure
from touche.trec.qrels import Qrels

_BINARY = ("P", "RR", "AP")  # binary measures with bounds, by name
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest value that a score, or a difference, could have if all documents were
    judged.
    """

    least: float
    greatest: float


@dataclass(frozen=True, kw_only=True)
class BoundedMeasure:
    """A measure that has bounds, together with the judgments and the grades that unjudged documents can get.

    Attributes:
        name: the measure's name without parameters, such as ``nDCG``.
        cutoff: the measure's k; None if all results are scored, which only RR allows.
        lowest_relevant: the lowest grade that counts as relevant, for binary measures; not used for nDCG.
        scale: the grades above 0, ascending.
        labels: the gain of each judged document, by topic and document id.
    """

    name: str
    cutoff: int | None
    lowest_relevant: int
    scale: tuple[int, ...]
    labels: Qrels

    @property
    def k(self) -> int:
        """The cutoff, as a number. Don't use it for RR, which may have no cutoff."""
        assert self.cutoff is not None
        return self.cutoff

    @property
    def lacks_differences(self) -> bool:
        """Whether we can compute bounds on the score of a list, but not on the difference between two
        lists.
        """
        return self.name == "AP"

    def bounds_on_topic(self, topic: str, first: Sequence[str], second: Sequence[str] = ()) -> Bounds:
        """Returns the bounds on the first list's score minus the second's.

        A document in both lists gets the same grade in both.

        Args:
            topic: the topic.
            first, second: documents down to the cutoff, best first; an empty list scores 0.
        """
        greatest_difference = _GREATEST[self.name]
        labels = self.labels[topic]
        greatest = greatest_difference(self, labels, first, second)
        # The lowest difference between the first and the second list is minus the highest difference between
        # the second and the first. Subtracting from 0.0 avoids -0.0.
        least = 0.0 - greatest_difference(self, labels, second, first)
        return Bounds(least=least, greatest=greatest)

    def bounds_of_mean(self, first: Ranked, second: Ranked, topics: Collection[str]) -> Bounds:
        """Returns the bounds on the first run's mean minus the second's, over some topics.

        Args:
            first, second: each topic's documents down to the cutoff, best first; a missing topic scores 0.
            topics: at least one topic.
        """
        return mean_bounds(
            {
                topic: self.bounds_on_topic(topic, first.get(topic, ()), second.get(topic, ()))
                for topic in topics
            }
        )


def bounded_measure(qrels: Qrels, measure: Measure, grades: Collection[int] = ()) -> BoundedMeasure | None:
    """Returns what's needed to compute a measure's bounds; None for a measure without bounds, or if no grade
    is above 0.

    Args:
        qrels: the judgments; grades below 0 count as 0.
        measure: nDCG@k, P@k, RR, RR@k or AP@k.
        grades: the grades on the task's scale, which unjudged documents could get. 0 and the grades in the
            qrels are always added.
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
    if not measure.name.startswith(_BINARY):  # don't parse other names, because ir_measures loads slowly
        return None
    ir_measure = measure.in_library
    has_bounds = (
        ir_measure.NAME in _BINARY and (measure.cutoff or ir_measure.NAME == "RR") and not measure.condenses
    )
    if not has_bounds:
        return None
    return replace(ndcg, name=ir_measure.NAME, lowest_relevant=ir_measure.params.get("rel", 1))


def measure_of(judged: Judged) -> BoundedMeasure | None:
    """Returns the measure that runs are scored with, as a ``BoundedMeasure``; None if it has no bounds."""
    return bounded_measure(judged.qrels, judged.measure, judged.grades)


def first_documents(scored_run: Scored) -> Mapping[str, Sequence[str]]:
    """Returns each judged topic's documents down to the cutoff, best first in the evaluator's order."""
    order = judged_order(scored_run.evaluator, scored_run.run, scored_run.judged.qrels)
    return scored_run.run.documents_of(order, scored_run.judged.measure.cutoff)


def bounds_of_topics(scored_run: Scored) -> dict[str, Bounds]:
    """Returns the bounds of a run's score by topic. Topics that the evaluator touche leaves out because
    nothing relevant is judged are included. Empty for measures without bounds.
    """
    measure = None if scored_run.judged.stances else measure_of(scored_run.judged)
    return topic_bounds(measure, first_documents(scored_run), scored_run.evaluation) if measure else {}


def bounds_of_mean(scored_run: Scored) -> Bounds | None:
    """Returns the mean's bounds.

    None for measures without bounds. Also None if the grades of unjudged documents decide which topics the
    evaluator touche averages over.
    """
    bounds = bounds_of_topics(scored_run)
    return mean_bounds(bounds) if bounds and _are_topics_known(scored_run, bounds) else None


def bounds_of_difference(a: Scored, b: Scored) -> Bounds | None:
    """Returns the bounds on run A's mean minus run B's. Both are scored against the same judgments with the
    same measure and evaluator.

    The means cover the topics for which both runs have bounds. Among these can be topics that the evaluator
    touche leaves out of its means, because none of the run's first documents is judged; they would count if
    all documents were judged.

    Returns:
        None for measures without bounds, and for AP@k, because we can only compute bounds on the AP of one
        list. Also None if the grades of unjudged documents decide which topics touche averages over.
    """
    measure = measure_of(a.judged)
    if measure is None or measure.lacks_differences:
        return None
    bounds_a = bounds_of_topics(a)
    bounds_b = bounds_of_topics(b)
    if not (bounds_a and bounds_b and _are_topics_known(a, bounds_a) and _are_topics_known(b, bounds_b)):
        return None
    return measure.bounds_of_mean(first_documents(a), first_documents(b), bounds_a.keys() & bounds_b.keys())


def _are_topics_known(scored_run: Scored, topics: Collection[str]) -> bool:
    """Returns whether the mean covers the same topics whatever the grades of unjudged documents are. This can
    be false for the evaluator touche: it leaves out topics for which no relevant document is known.
    """
    if scored_run.evaluator != "touche":
        return True
    qrels = scored_run.judged.qrels
    return all(any(grade > 0 for grade in qrels[topic].values()) for topic in topics)


def topic_bounds(measure: BoundedMeasure, first: Ranked, evaluation: Evaluation) -> dict[str, Bounds]:
    """Returns the bounds for each topic that the mean covers, or would cover if all documents were judged.

    Args:
        measure: the measure and its grades.
        first: each judged topic's documents down to the cutoff, in the evaluator's order.
        evaluation: the evaluator's scores. For topics without unjudged documents, both bounds are the score.
    """
    values = {topic: Bounds(value, value) for topic, value in evaluation.per_topic.items()}
    for topic, documents in first.items():
        if evaluation.judged_per_topic[topic] < 1:
            values[topic] = measure.bounds_on_topic(topic, documents)
    return values


def mean_bounds(bounds: Mapping[str, Bounds]) -> Bounds:
    """Returns the bounds on the mean over at least one topic. They are rounded like the mean: otherwise, the
    mean could be outside its bounds by a rounding error.
    """
    return Bounds(
        least=without_last_digits(fmean(topic.least for topic in bounds.values())),
        greatest=without_last_digits(fmean(topic.greatest for topic in bounds.values())),
    )


def _rank_discounts(cutoff: int) -> Floats:
    """Returns nDCG's discounts for ranks from 1."""
    return 1 / np.log2(np.arange(2, cutoff + 2))


def _ndcg(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the highest possible difference: nDCG@k of the first list minus nDCG@k of the second.

    The difference is the sum over documents of weight times grade, divided by the ideal DCG. A document's
    weight is the discount at its rank in the first list minus the discount at its rank in the second list.
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
    """Returns the highest value of (fixed + the sum of weight times grade) / ideal DCG.

    Args:
        fixed: the sum of weight times grade over the judged documents.
        free: the unjudged documents' weights, largest first.
        judged: all judged gains for the topic.
        scale: the grades above 0, ascending.
        discounts: the discounts down to k.
    """
    # A grade is the sum of the scale's steps up to it, e.g. 3 = 1 + (3 - 1) on the scale 1, 3. So DCG and
    # ideal DCG are sums over steps, and to know what a step adds to them we only need its count: how many
    # unjudged documents get at least this grade.
    steps = np.diff(scale, prepend=0)
    free_sums = np.append(0.0, np.cumsum(free))  # at index n: the sum of the n largest weights
    ideals = _ideal_sums(judged, len(free), scale, discounts)  # a row per step, a column per count
    # Start with the best value that is possible if each unjudged document gets either the highest grade or 0.
    # Then the counts of all steps are equal.
    dcgs = fixed + scale[-1] * free_sums
    ideal_dcgs = steps @ ideals
    ratios = np.divide(dcgs, ideal_dcgs, out=np.zeros_like(dcgs), where=ideal_dcgs > 0)
    value = float(ratios.max())
    # Dinkelbach's method: for the current value, find the best counts. Their ratio is higher and becomes the
    # next value. Repeat this until the value stops growing. If the value is below 0, it is already the
    # highest one: the loop ends at once, because the best counts for 0 are all equal, like the counts at the
    # start.
    rows = np.arange(len(scale))
    while True:
        # A lower grade's count must not be smaller than a higher grade's. That holds, because the ideal sums
        # of lower grades grow more slowly.
        counts = (free_sums - max(value, 0.0) * ideals).argmax(axis=1)
        ideal_dcg = float(steps @ ideals[rows, counts])
        ratio = (fixed + float(steps @ free_sums[counts])) / ideal_dcg if ideal_dcg else 0.0
        if ratio <= value:
            return value
        value = ratio


def _ideal_sums(judged: Sequence[int], free: int, scale: Sequence[int], discounts: Floats) -> Floats:
    """Returns, for each grade, the sum of the discounts in the ideal ranking of all documents with at least
    this grade.

    Args:
        judged: all judged gains for the topic.
        free: the number of unjudged documents.
        scale: the grades above 0, ascending.
        discounts: the discounts down to k.

    Returns:
        A row per grade, and a column per number of unjudged documents that get at least this grade, from 0 to
        ``free``.
    """
    judged_counts = (np.array(judged)[:, None] >= np.array(scale)).sum(
        axis=0
    )  # documents with at least each grade
    counts = judged_counts[:, None] + np.arange(free + 1)
    sums = np.append(0.0, np.cumsum(discounts))  # at index n: the sum of the first n discounts
    return np.asarray(sums[np.minimum(counts, len(discounts))])  # only the first k count


def _relevance(
    measure: BoundedMeasure, labels: Mapping[str, int], documents: Collection[str]
) -> tuple[set[str], set[str]]:
    """Returns the relevant documents, and the unjudged ones that could be relevant."""
    relevant = {document for document in documents if labels.get(document, 0) >= measure.lowest_relevant}
    scale_has_relevant = measure.scale[-1] >= measure.lowest_relevant
    return relevant, {document for document in documents if scale_has_relevant and document not in labels}


def _precision(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the highest possible difference: P@k of the first list minus P@k of the second."""
    relevant, free = _relevance(measure, labels, [*first, *second])
    hits = relevant | (
        free - {*second}
    )  # an unjudged document in both lists would change both in the same way
    return (len(hits.intersection(first)) - len(hits.intersection(second))) / measure.k


def _reciprocal_rank(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the highest possible difference: RR of the first list minus RR of the second."""
    relevant, free = _relevance(measure, labels, [*first, *second])
    reciprocals_first = {id: 1 / rank for rank, id in enumerate(first, 1)}
    reciprocals_second = {id: 1 / rank for rank, id in enumerate(second, 1)}
    judged_first = max((reciprocals_first.get(id, 0.0) for id in relevant), default=0.0)
    judged_second = max((reciprocals_second.get(id, 0.0) for id in relevant), default=0.0)
    differences = [judged_first - judged_second]
    for id in first:
        # Suppose that it's the only unjudged document that is relevant; it can be in the second list, too.
        if id in free:
            score_first = max(judged_first, reciprocals_first[id])
            score_second = max(judged_second, reciprocals_second.get(id, 0.0))
            differences.append(score_first - score_second)
    return max(differences)


def _average_precision(
    measure: BoundedMeasure, labels: Mapping[str, int], first: Sequence[str], second: Sequence[str]
) -> float:
    """Returns the highest AP@k of the first list if the second is empty, or minus the lowest AP@k of the
    second list if the first is empty.

    If the number of relevant documents is fixed, AP is highest if the relevant ones come before all other
    unjudged documents, and lowest if they come after them.
    """
    sign, documents = (1, first) if first else (-1, second)
    relevant, free = _relevance(measure, labels, documents)
    hits = np.array([document in relevant for document in documents], dtype=float)
    indices = [index for index, document in enumerate(documents) if document in free]
    if not first:  # then we want the lowest AP of the second list
        indices.reverse()
    judged_relevant = sum(label >= measure.lowest_relevant for label in labels.values())
    ranks = np.arange(1, len(documents) + 1)
    values = []
    for count in range(len(indices) + 1):  # how many unjudged documents are relevant
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
