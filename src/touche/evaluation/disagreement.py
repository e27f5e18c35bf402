"""Why the two evaluators differ on a run: the difference, taken apart to the last digit.

One step at a time, what ``trec_eval`` does is replaced by what ``touche`` does; what the steps change in the
mean adds up to the difference of the two scores.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from touche.evaluation.ndcg import gains, in_qrels, ndcg
from touche.formats.qrels import Qrels
from touche.formats.runs import RunLine, in_order_of_rank, in_order_of_score

PerTopic = Mapping[str, float]
Tops = Mapping[str, Sequence[RunLine]]  # the lines of each topic, in order


@dataclass(frozen=True)
class Reason:
    """One of the reasons for which touche differs from trec_eval.

    Attributes:
        change: what it adds to the mean of nDCG@k.
        topics: the topics whose score it changes, or that it leaves out of the mean.
        text: what touche does differently.
    """

    change: float
    topics: tuple[str, ...]
    text: str


def reasons(run: Sequence[RunLine], qrels: Qrels, cutoff: int) -> list[Reason]:
    """What leads from the mean of trec_eval to the one of touche; empty where they agree topic by topic.

    Raises:
        ToucheError: if run and qrels have no topic in common.
    """
    labels = gains(qrels)
    ranked = in_qrels(in_order_of_rank(run), qrels)
    judged = {
        topic: [line for line in lines[:cutoff] if line.document in labels[topic]]
        for topic, lines in ranked.items()
    }
    before = _scores(in_qrels(in_order_of_score(run), qrels), labels, cutoff)
    found = []
    for text, after in _steps(run, qrels, ranked, judged, cutoff):
        if after != before:
            topics = _changed(before, after)
            holes = sum(len(ranked.get(topic, ())[:cutoff]) - len(judged.get(topic, ())) for topic in topics)
            found.append(Reason(_mean(after) - _mean(before), topics, text.format(holes=holes)))
        before = after
    return found


def _steps(
    run: Sequence[RunLine], qrels: Qrels, ranked: Tops, judged: Tops, cutoff: int
) -> Iterator[tuple[str, PerTopic]]:
    """What touche does differently, one thing after the other, and the scores from then on."""
    labels = gains(qrels)
    scores = _scores(_ties_by_rank(run, qrels), labels, cutoff)
    yield "equal scores are ordered by rank, not by document id", scores
    yield "the rank column decides, not the score", _scores(ranked, labels, cutoff)
    scores = _scores(judged, labels, cutoff)
    yield f"{{holes}} unjudged documents of the top {cutoff} are taken out, not counted as 0", scores
    scores = _only(scores, {topic for topic in labels if any(labels[topic].values())})
    yield "topics without a relevant document are left out", scores
    scores = _only(scores, ranked.keys())
    yield "topics that the run lacks are left out", scores
    with_judged = {topic for topic, lines in judged.items() if lines}
    yield f"topics with nothing judged in the top {cutoff} are left out", _only(scores, with_judged)


def _ties_by_rank(run: Iterable[RunLine], qrels: Qrels) -> dict[str, list[RunLine]]:
    return in_qrels(sorted(run, key=lambda line: (-np.float32(line.score), line.rank)), qrels)


def _scores(order: Mapping[str, Sequence[RunLine]], labels: Qrels, cutoff: int) -> PerTopic:
    def found(topic: str) -> list[int]:
        return [labels[topic].get(line.document, 0) for line in order.get(topic, [])[:cutoff]]

    return {topic: ndcg(found(topic), labels[topic].values(), cutoff) for topic in labels}


def _only(scores: PerTopic, topics: Set[str]) -> PerTopic:
    return {topic: score for topic, score in scores.items() if topic in topics}


def _mean(scores: PerTopic) -> float:
    return fmean(scores.values()) if scores else 0.0


def _changed(before: PerTopic, after: PerTopic) -> tuple[str, ...]:
    return tuple(topic for topic in before if before[topic] != after.get(topic))
