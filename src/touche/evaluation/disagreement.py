"""Why the two evaluators differ on a run: the difference, taken apart to the last digit.

One step at a time, what ``trec_eval`` does is replaced by what ``touche`` does; what the steps change in the
mean adds up to the difference of the two scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from touche.evaluation.evaluators import gains, in_qrels, ndcg
from touche.formats.qrels import Qrels
from touche.formats.runs import RunLine, in_order_of_rank, in_order_of_score

PerTopic = Mapping[str, float]
Order = Mapping[str, Sequence[RunLine]]  # the lines of each topic


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


def reasons(run: Sequence[RunLine], qrels: Qrels, cutoff: int) -> Iterator[Reason]:
    """Yields what leads from the mean of trec_eval to the one of touche; nothing where all topics agree.

    Raises:
        ToucheError: if run and qrels have no topic in common.
    """
    before: PerTopic = {}
    for text, after, holes in _steps(run, qrels, cutoff):
        if before and after != before:
            topics = tuple(topic for topic in before if before[topic] != after.get(topic))
            change = (fmean(after.values()) if after else 0.0) - fmean(before.values())
            unjudged = sum(holes.get(topic, 0) for topic in topics)
            yield Reason(change, topics, text.format(holes=unjudged))
        before = after


def _steps(
    run: Sequence[RunLine], qrels: Qrels, cutoff: int
) -> Iterator[tuple[str, PerTopic, Mapping[str, int]]]:
    """Yields the scores of trec_eval, and those after each thing that touche does differently.

    Yields:
        What touche does, empty for the first; the scores, and the numbers of unjudged documents, by topic.
    """
    labels = gains(qrels)
    ranked = in_qrels(in_order_of_rank(run), qrels)
    judged = {
        topic: [line for line in lines[:cutoff] if line.document in labels[topic]]
        for topic, lines in ranked.items()
    }
    holes = {topic: len(lines[:cutoff]) - len(judged[topic]) for topic, lines in ranked.items()}
    ties_by_rank = sorted(run, key=lambda line: (-np.float32(line.score), line.rank))
    for text, order in (
        ("", in_qrels(in_order_of_score(run), qrels)),
        ("equal scores are ordered by rank, not by document id", in_qrels(ties_by_rank, qrels)),
        ("the rank column decides, not the score", ranked),
        (f"{{holes}} unjudged documents of the top {cutoff} are taken out, not counted as 0", judged),
    ):
        scores = _scores(order, labels, cutoff)
        yield text, scores, holes
    relevant = {topic for topic in labels if any(labels[topic].values())}
    with_judged = {topic for topic, lines in judged.items() if lines}
    for text, topics in (
        ("topics without a relevant document are left out", relevant),
        ("topics that the run lacks are left out", relevant & ranked.keys()),
        (f"topics with nothing judged in the top {cutoff} are left out", relevant & with_judged),
    ):
        yield text, {topic: score for topic, score in scores.items() if topic in topics}, holes


def _scores(order: Order, labels: Qrels, cutoff: int) -> PerTopic:
    return {
        topic: ndcg([of.get(line.document, 0) for line in order.get(topic, ())[:cutoff]], of.values(), cutoff)
        for topic, of in labels.items()
    }
