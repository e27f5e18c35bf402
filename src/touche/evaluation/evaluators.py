"""The two evaluators of Touché: nDCG@k (Järvelin and Kekäläinen 2002) by both, other measures by trec_eval.

The evaluators agree on fully judged runs and differ more with every unjudged document, so a score needs the
name of its evaluator. ``trec_eval`` is the original C code, version 9.0.8, through ir_measures. Measures that
the C code lacks (``OWN_MEASURES``) are computed on its ranking and averaged over its topics. ``touche``
computes nDCG@k as the organizers' script does, and macro F1 of stances as on their task page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean

from touche.errors import ToucheError
from touche.evaluation.significance import bootstrap_interval
from touche.tasks.measures import Measure, parsed, uncut
from touche.tasks.own_measures import OWN_MEASURES, JudgedRanking
from touche.trec.columns import Order, Run
from touche.trec.qrels import Qrels
from touche.trec.topics import in_order

TREC_EVAL_VERSION = "9.0.8"  # the version in pytrec_eval-terrier

Ranked = Mapping[str, Sequence[str]]  # documents of each topic, best first


@dataclass(frozen=True)
class Evaluation:
    """Scores of one run by one set of judgments.

    Attributes:
        per_topic: value of the measure for each topic that the evaluator averages over, in order.
        judged_per_topic: Judged@k of each topic that run and qrels have: the share of judged documents among
            the first k (among all documents, if the measure has no cutoff).
        per_ranking: scores of each topic and stance, such as ``1 PRO``, if each stance has its own ranking;
            else None.
    """

    per_topic: Mapping[str, float]
    judged_per_topic: Mapping[str, float]
    per_ranking: "Evaluation | None" = None

    @property
    def mean(self) -> float | None:
        """Mean of the measure over the topics; None without topics."""
        return fmean(self.per_topic.values()) if self.per_topic else None

    @property
    def judged(self) -> float:
        """Mean of Judged@k over the topics of the run."""
        return fmean(self.judged_per_topic.values()) if self.judged_per_topic else 0.0

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """95% confidence interval of the mean, by bootstrap over topics; two None below two topics."""
        return bootstrap_interval(list(self.per_topic.values())) if len(self.per_topic) > 1 else (None, None)

    @property
    def topics(self) -> int:
        """Number of topics that the evaluator averages over."""
        return len(self.per_topic)

    @property
    def results(self) -> int | None:
        """None, because rankings have no number N; ``StanceEvaluation`` overrides it."""
        return None

    @property
    def unjudged(self) -> float:
        """Share of unjudged documents among the first results."""
        return round(1 - self.judged, 9)  # without the error of 1 - 0.9, which is not 0.1


def trec_eval(run: Run, qrels: Qrels, measure: Measure) -> Evaluation:
    """Computes a measure as ``trec_eval -c`` up to version 9.0.8 of 2020; nDCG@k is ``-m ndcg_cut.k``.

    Documents are ordered by descending score, ties by descending document id. Scores are float32; versions
    since September 2023 read double. The gain is the label, or 0 for labels below 0 and unjudged documents. A
    topic of the qrels that the run lacks counts 0. RR@k is ``-M k -m recip_rank``. The order is
    ``Run.by_score``.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    # The depth is the cutoff, or None if the measure skips unjudged documents before it cuts the list.
    ranked = run.documents_of(judged_order("trec_eval", run, qrels), measure.depth)
    return Evaluation(by_trec_eval(ranked, qrels, measure), judged_share(ranked, qrels, measure.cutoff))


def by_trec_eval(ranked: Ranked, qrels: Qrels, measure: Measure) -> dict[str, float]:
    """Returns the values of all topics of the qrels, computed by trec_eval's code or one of ``OWN_MEASURES``.

    Args:
        ranked: documents in trec_eval's order, down to the measure's depth.
        qrels: the judgments.
        measure: the measure; ``touche`` is not its only evaluator.
    """
    if not measure.of_trec_eval:
        return _by_definition(ranked, qrels, measure)
    import ir_measures  # optional: a container image lacks it

    plain = uncut(parsed(measure.name))  # RR for RR@k, because the rankings end at k
    scores = {  # trec_eval orders by score, so any descending scores keep the order
        topic: {document: -float(rank) for rank, document in enumerate(documents)}
        for topic, documents in ranked.items()
    }
    graded = gains(qrels)
    results = ir_measures.pytrec_eval.iter_calc([plain], graded, scores)
    values = {result.query_id: result.value for result in results}
    return dict.fromkeys(graded, 0.0) | values  # topics that the run lacks have 0


def _by_definition(ranked: Ranked, qrels: Qrels, measure: Measure) -> dict[str, float]:
    """Returns the values of one of ``OWN_MEASURES`` for all topics of the qrels."""
    graded = gains(qrels)
    named = parsed(measure.name)
    formula = OWN_MEASURES[named.NAME].formula
    highest = max((grade for labels in graded.values() for grade in labels.values()), default=0)
    values = {}
    for topic, labels in graded.items():
        documents = ranked.get(topic, ())
        ranking = JudgedRanking(
            grades=[labels.get(document, 0) for document in documents],
            is_judged=[document in labels for document in documents],
            judged_grades=[*labels.values()],
            highest=highest,
        )
        values[topic] = formula(ranking, named)
    return values


def touche(run: Run, qrels: Qrels, measure: Measure) -> Evaluation:
    """Computes nDCG@k as the organizers' script does, which has no other measure (``Measure.of_script``).

    Documents are ordered by the rank column. Unjudged documents among the first k are removed, and the others
    move up. Label -2 counts as 0. The ideal list contains the k best labels of the topic. The mean is over
    topics with a judged document among the first k and a label above 0 in the qrels; there may be no such
    topic.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    assert measure.cutoff is not None  # nDCG@k has one
    cutoff = measure.cutoff
    ranked = run.documents_of(judged_order("touche", run, qrels), cutoff)
    per_topic = {}
    for topic, labels in gains(qrels).items():
        judged = [labels[document] for document in ranked.get(topic, ()) if document in labels]
        if judged and any(labels.values()):
            per_topic[topic] = ndcg(judged, labels.values(), cutoff)
    return Evaluation(per_topic, judged_share(ranked, qrels, cutoff))


def ndcg(ranked: Iterable[int], judged: Iterable[int], cutoff: int) -> float:
    """Returns the DCG of a list divided by the DCG of the ideal list; 0 if nothing relevant is known.

    Args:
        ranked: gains of the list, in order, down to the cutoff.
        judged: all gains of the topic; the k largest, descending, are the ideal list.
        cutoff: k.
    """
    ideal = dcg(sorted(judged, reverse=True)[:cutoff])
    return dcg(ranked) / ideal if ideal else 0.0


def dcg(ranked: Iterable[float]) -> float:
    """Returns discounted cumulative gain: the sum over the ranks r from 1 of gain / log2(r + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(ranked, 1))


Evaluator = Callable[[Run, Qrels, Measure], Evaluation]
EVALUATORS: Mapping[str, Evaluator] = {"trec_eval": trec_eval, "touche": touche}


def gains(qrels: Qrels) -> Qrels:
    """Returns qrels, topics in order, with 0 instead of labels below 0 (spam), which can crash trec_eval."""
    topics = sorted(qrels, key=in_order)
    return Qrels({topic: {id: max(label, 0) for id, label in qrels[topic].items()} for topic in topics})


def judged_order(evaluator: str, run: Run, qrels: Qrels) -> Order:
    """Returns an evaluator's order of the lines of judged topics: touche orders by rank, trec_eval by score.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    return in_qrels(run.by_rank if evaluator == "touche" else run.by_score, qrels)


def in_qrels(order: Order, qrels: Qrels) -> Order:
    """Returns the topics of an order that are in the qrels.

    Raises:
        ToucheError: if there is none.
    """
    topics = {topic: lines for topic, lines in order.items() if topic in qrels}
    if not topics:
        problem = "the run and the qrels have no topic in common"
        raise ToucheError(f"{problem}; check that the task is the run's task")
    return topics


def judged_share(ranked: Ranked, qrels: Qrels, cutoff: int | None) -> dict[str, float]:
    """Returns the share of judged documents among the first k of each topic, or among all if it has fewer.

    Args:
        ranked: documents of topics that are in the qrels.
        qrels: the judgments.
        cutoff: k; None for all documents.
    """
    first = {topic: documents[:cutoff] for topic, documents in ranked.items()}
    return {
        topic: sum(document in qrels[topic] for document in documents) / len(documents)
        for topic, documents in first.items()
    }
