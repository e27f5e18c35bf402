"""Explanation of the difference between the two evaluators on a run.

Step by step, a rule of ``trec_eval`` is replaced by a rule of ``touche``. The steps' changes of the mean add
up to the difference of the two scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from touche.evaluation.evaluators import Ranked, gains, in_qrels, ndcg
from touche.trec.columns import Run, RunLine
from touche.trec.qrels import Qrels

PerTopic = Mapping[str, float]


@dataclass(frozen=True)
class Reason:
    """A difference between touche and trec_eval.

    Attributes:
        change: change of the mean of nDCG@k.
        topics: topics whose score changes, or that the mean leaves out.
        text: what touche does differently.
    """

    change: float
    topics: tuple[str, ...]
    text: str


class _Step(NamedTuple):
    """The scores of trec_eval after some rules of touche.

    Attributes:
        rule: the last of these rules; empty without one. It may have a field ``{unjudged}``.
        scores: scores by topic.
        unjudged: numbers of unjudged documents among the first k, by topic.
    """

    rule: str
    scores: PerTopic
    unjudged: Mapping[str, int]


def reasons(run: Sequence[RunLine], qrels: Qrels, cutoff: int) -> Iterator[Reason]:
    """Yields the steps from trec_eval's mean to touche's mean; none if all topics agree.

    Raises:
        ToucheError: if run and qrels have no topic in common.
    """
    before: PerTopic = {}  # empty before the first step, or if a rule has left out all topics
    for step in _steps(Run.of(run), qrels, cutoff):
        after = step.scores
        if before and after != before:
            topics = tuple(topic for topic in before if before[topic] != after.get(topic))
            change = (fmean(after.values()) if after else 0.0) - fmean(before.values())
            unjudged = sum(step.unjudged.get(topic, 0) for topic in topics)
            yield Reason(change, topics, step.rule.format(unjudged=unjudged))
        before = after


def _steps(run: Run, qrels: Qrels, cutoff: int) -> Iterator[_Step]:
    """Yields trec_eval's scores, then the scores after each rule of touche."""
    labels = gains(qrels)
    by_score, ties_by_rank, ranked = (  # documents of each topic down to the cutoff
        run.documents_of(in_qrels(order, qrels), cutoff)
        for order in (run.by_score, run.by_score_and_rank, run.by_rank)
    )
    judged = {topic: [id for id in ids if id in labels[topic]] for topic, ids in ranked.items()}
    unjudged = {topic: len(ids) - len(judged[topic]) for topic, ids in ranked.items()}
    for rule, order in (
        ("", by_score),
        ("equal scores are ordered by rank, not by document id", ties_by_rank),
        ("the rank column decides, not the score", ranked),
        (f"{{unjudged}} unjudged documents of the top {cutoff} are removed, not counted as 0", judged),
    ):
        scores = _scores(order, labels, cutoff)
        yield _Step(rule, scores, unjudged)
    scores_of_judged = scores  # those of the last order, from which the other rules leave out topics
    relevant = {topic for topic in labels if any(labels[topic].values())}
    with_judged = {topic for topic, lines in judged.items() if lines}
    for rule, topics in (
        ("topics without a relevant document are left out", relevant),
        ("topics that the run lacks are left out", relevant & ranked.keys()),
        (f"topics with nothing judged in the top {cutoff} are left out", relevant & with_judged),
    ):
        averaged = {topic: score for topic, score in scores_of_judged.items() if topic in topics}
        yield _Step(rule, averaged, unjudged)


def _scores(ranked: Ranked, labels: Qrels, cutoff: int) -> PerTopic:
    """Returns nDCG of each topic of the qrels; unjudged documents have grade 0."""
    return {
        topic: ndcg([grades.get(document, 0) for document in ranked.get(topic, ())], grades.values(), cutoff)
        for topic, grades in labels.items()
    }
