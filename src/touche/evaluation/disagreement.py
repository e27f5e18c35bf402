"""Explains why the two evaluators differ on a run.

We start with trec_eval's score and, step by step, replace one of its rules with the corresponding rule of the
evaluator touche. Each step changes the mean by some amount. These amounts add up to the difference between
the two evaluators' scores.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from touche.errors import counted
from touche.evaluation.equality import are_equal
from touche.evaluation.evaluators import Ranked, gains, in_qrels, ndcg
from touche.trec.columns import Run
from touche.trec.qrels import Qrels

PerTopic = Mapping[str, float]


@dataclass(frozen=True)
class Reason:
    """A rule in which touche and trec_eval differ, and what it changes in a run's score.

    Attributes:
        change: by how much the mean nDCG@k changes if touche's rule replaces trec_eval's.
        topics: the topics whose score changes, or that the mean leaves out.
        text: what touche does differently.
    """

    change: float
    topics: tuple[str, ...]
    text: str


def reasons_for_disagreement(run: Run, qrels: Qrels, cutoff: int) -> Iterator[Reason]:
    """Yields those rules of the evaluator touche that change the run's scores. They are applied one after the
    other, so that their changes add up to the difference between the two evaluators' means. Yields nothing if
    both evaluators agree on all topics.

    Raises:
        ToucheError: if run and qrels share no topic.
    """
    labels = gains(qrels)
    # Each topic's documents down to the cutoff: in trec_eval's order, after touche's first rule (ties are
    # ordered by rank), and after its second rule (everything is ordered by rank).
    by_score, ties_by_rank, by_rank = (
        run.documents_of(in_qrels(order, qrels), cutoff)
        for order in (run.by_score, run.by_score_and_rank, run.by_rank)
    )
    # The third rule removes unjudged documents from these lists.
    judged = {topic: [id for id in ids if id in labels[topic]] for topic, ids in by_rank.items()}
    in_float_order, in_tie_order, with_unjudged, scores = _scores(
        [by_score, ties_by_rank, by_rank, judged], labels, cutoff
    )
    removed = [  # how many documents are removed per topic, only for topics whose score changes because of it
        len(by_rank[topic]) - len(judged[topic])
        for topic in judged
        if not are_equal(scores[topic], with_unjudged[topic])
    ]
    unjudged = counted(sum(removed), "unjudged document")
    is_or_are = "is" if sum(removed) == 1 else "are"
    # The other rules leave topics out of the mean.
    relevant = {topic for topic in labels if any(labels[topic].values())}
    with_judged = {topic for topic, ids in judged.items() if ids}
    steps = [  # each rule with the scores after it was applied; the first entry is trec_eval's score
        ("", in_float_order),  # no touche rule yet
        ("equal scores are ordered by rank, not by document id", in_tie_order),
        ("the rank column decides, not the score", with_unjudged),
        (f"{unjudged} of the top {cutoff} {is_or_are} removed, not counted as 0", scores),
        ("topics without a relevant document are left out", _of_topics(scores, relevant)),
        ("topics that the run lacks are left out", _of_topics(scores, relevant & judged.keys())),
        (
            f"topics with nothing judged in the top {cutoff} are left out",
            _of_topics(scores, relevant & with_judged),
        ),
    ]
    for (_, before), (rule, after) in pairwise(steps):
        topics = tuple(
            topic for topic in before if topic not in after or not are_equal(before[topic], after[topic])
        )
        if topics:
            change = (fmean(after.values()) if after else 0.0) - fmean(before.values())
            yield Reason(change, topics, rule)


def _scores(rankings: Sequence[Ranked], labels: Qrels, cutoff: int) -> list[dict[str, float]]:
    """Returns nDCG for each topic in the qrels, for each of several rankings.

    Unjudged documents count as grade 0. Most rules don't change a topic's ranking. Equal rankings are scored
    only once.
    """
    scores = [dict[str, float]() for _ in rankings]
    for topic, grades in labels.items():
        score_by_list = dict[tuple[str, ...], float]()
        for scores_of_ranking, ranked in zip(scores, rankings, strict=True):
            documents = tuple(ranked.get(topic, ()))
            if documents not in score_by_list:
                gains_of_list = [grades.get(document, 0) for document in documents]
                score_by_list[documents] = ndcg(gains_of_list, grades.values(), cutoff)
            scores_of_ranking[topic] = score_by_list[documents]
    return scores


def _of_topics(scores: PerTopic, topics: Collection[str]) -> PerTopic:
    """Returns some topics' scores."""
    return {topic: score for topic, score in scores.items() if topic in topics}
