"""Touché's two evaluators: both compute nDCG@k (Järvelin and Kekäläinen 2002), trec_eval the other measures.

They agree on a run if all of its first k documents are judged, no scores are tied, the ranks agree with the
scores, the run has results for every topic, and every topic has a relevant document. Otherwise they can
differ, so always say which evaluator computed a score. ``trec_eval`` is the original C code, version 9.0.8,
through ir_measures. Measures that trec_eval doesn't know (``OWN_MEASURES``) are computed by us, on documents
in trec_eval's order and averaged over the topics that trec_eval averages over. ``touche`` computes nDCG@k
like the organizers' script, and macro F1 as defined on their task page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean

from touche.errors import ToucheError
from touche.evaluation.equality import without_last_digits
from touche.io.identifiers import in_order
from touche.tasks.measures import Measure, uncut
from touche.tasks.own_measures import OWN_MEASURES, JudgedRanking
from touche.trec.columns import Order, Run
from touche.trec.qrels import Qrels

TREC_EVAL_VERSION = "9.0.8"  # pytrec_eval-terrier's version

Ranked = Mapping[str, Sequence[str]]  # each topic's documents, best first


@dataclass(frozen=True)
class Evaluation:
    """A run's scores for one set of judgments.

    Attributes:
        per_topic: the measure's value for each topic that the evaluator averages over, in topic order.
        judged_per_topic: Judged@k for each topic in both run and qrels: the judged share of the first k
            documents, or of all for measures without a cutoff.
        per_ranking: the value of each ranking, such as ``1 PRO``, if each stance of a topic has its own
            ranking; otherwise None.
    """

    per_topic: Mapping[str, float]
    judged_per_topic: Mapping[str, float]
    per_ranking: "Evaluation | None" = None

    @property
    def mean(self) -> float | None:
        """The mean over topics; None if there are no topics."""
        return without_last_digits(fmean(self.per_topic.values())) if self.per_topic else None

    @property
    def judged(self) -> float:
        """The mean Judged@k over the run's topics."""
        return fmean(self.judged_per_topic.values()) if self.judged_per_topic else 0.0

    @property
    def topics(self) -> int:
        """How many topics the evaluator averages over."""
        return len(self.per_topic)

    @property
    def results(self) -> int | None:
        """None, because rankings have no N. ``StanceEvaluation`` overrides it."""
        return None

    @property
    def unjudged(self) -> float:
        """The share of the first k results that is unjudged."""
        return round(1 - self.judged, 9)  # 1 - 0.9 isn't exactly 0.1


def trec_eval(run: Run, qrels: Qrels, measure: Measure) -> Evaluation:
    """Computes a measure like ``trec_eval -c`` up to version 9.0.8 (2020); nDCG@k is ``-m ndcg_cut.k``.

    Documents are ordered by descending score, ties by descending document id (``Run.by_score``). Scores are
    float32; versions since September 2023 read doubles. The gain is the label, or 0 for negative labels and
    unjudged documents. For measures without gains, documents with a label of at least ``rel``, by default 1,
    are relevant. Bpref, infAP and measures with ``judged_only`` also skip documents with negative labels. A
    topic of the qrels without results in the run counts 0. RR@k is ``-M k -m recip_rank``.

    Raises:
        ToucheError: if the run contains none of the qrels' topics.
    """
    # The depth is the cutoff, or None if the measure skips unjudged documents before cutting.
    ranked = run.documents_of(judged_order("trec_eval", run, qrels), measure.depth)
    return Evaluation(by_trec_eval(ranked, qrels, measure), judged_share(ranked, qrels, measure.cutoff))


def by_trec_eval(ranked: Ranked, qrels: Qrels, measure: Measure) -> dict[str, float]:
    """Returns the values for all topics in the qrels, using trec_eval's code or one of ``OWN_MEASURES``.

    Args:
        ranked: documents in trec_eval's order, down to the measure's depth.
        qrels: the judgments.
        measure: a measure that trec_eval or ir_measures can compute, and not only the script.
    """
    if not measure.of_trec_eval:
        return _by_definition(ranked, qrels, measure)
    import ir_measures  # not installed in images

    plain = uncut(measure.in_library)  # RR for RR@k, because the rankings end at k
    # trec_eval sorts by score, so any descending scores keep the order. All topics share them to save memory.
    descending = [-float(rank) for rank in range(max(map(len, ranked.values()), default=0))]
    scores = {topic: dict(zip(documents, descending, strict=False)) for topic, documents in ranked.items()}
    # Topics without results count as 0. So do topics that would crash trec_eval, because no document is
    # relevant for them.
    zeros = qrels.keys() - ranked.keys() | topics_that_crash_trec_eval(qrels, measure)
    graded = {topic: labels for topic, labels in qrels.items() if topic not in zeros}
    results = ir_measures.pytrec_eval.iter_calc([plain], graded, scores)
    values = {result.query_id: result.value for result in results}
    return dict.fromkeys(sorted(qrels, key=in_order), 0.0) | values


def topics_that_crash_trec_eval(qrels: Qrels, measure: Measure) -> set[str]:
    """Returns the topics whose labels are all negative.

    For all other topics, negative labels are passed to trec_eval unchanged, because trec_eval doesn't treat
    them like 0: Bpref, infAP and measures with ``judged_only`` skip documents with negative labels. But
    trec_eval counts a topic's labels in an array whose length is given by the highest label. If that label is
    negative, any measure can crash, or read numbers left over from an earlier topic.
    """
    # Ir_measures replaces labels with these gains before trec_eval sees them.
    gain_of = measure.in_library.params.get("gains", {})
    return {
        topic
        for topic, labels in qrels.items()
        if all(gain_of.get(label, label) < 0 for label in labels.values())
    }


def _by_definition(ranked: Ranked, qrels: Qrels, measure: Measure) -> dict[str, float]:
    """Returns the values of one of ``OWN_MEASURES`` for all topics in the qrels."""
    graded = gains(qrels)
    ir_measure = measure.in_library
    formula = OWN_MEASURES[ir_measure.NAME].formula
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
        values[topic] = formula(ranking, ir_measure)
    return values


def touche(run: Run, qrels: Qrels, measure: Measure) -> Evaluation:
    """Computes nDCG@k like the organizers' script. The script knows no other ranking measure
    (``Measure.of_script``).

    Documents are ordered by the rank column. Unjudged documents among the first k are removed, and the others
    move up. Label -2 counts as 0. The ideal list contains the topic's k best labels. Topics without a judged
    document among the first k, or without a positive label, are left out of the mean. It can happen that all
    topics are left out.

    Raises:
        ToucheError: if the run contains none of the qrels' topics.
    """
    assert measure.cutoff is not None  # because the measure is nDCG@k
    cutoff = measure.cutoff
    ranked = run.documents_of(judged_order("touche", run, qrels), cutoff)
    per_topic = {}
    for topic, labels in gains(qrels).items():
        judged = [labels[document] for document in ranked.get(topic, ()) if document in labels]
        if judged and any(labels.values()):
            per_topic[topic] = ndcg(judged, labels.values(), cutoff)
    return Evaluation(per_topic, judged_share(ranked, qrels, cutoff))


def ndcg(ranked: Iterable[int], judged: Iterable[int], cutoff: int) -> float:
    """Returns a list's DCG divided by the ideal list's DCG; 0 if no relevant document is known.

    Args:
        ranked: the list's gains in order, down to the cutoff.
        judged: all the topic's gains; the k largest, descending, form the ideal list.
        cutoff: k.
    """
    ideal = dcg(sorted(judged, reverse=True)[:cutoff])
    return dcg(ranked) / ideal if ideal else 0.0


def dcg(ranked: Iterable[float]) -> float:
    """Returns the discounted cumulative gain: the sum over ranks r from 1 of gain / log2(r + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(ranked, 1))


Evaluator = Callable[[Run, Qrels, Measure], Evaluation]
EVALUATORS: Mapping[str, Evaluator] = {"trec_eval": trec_eval, "touche": touche}


def gains(qrels: Qrels) -> Qrels:
    """Returns the qrels in topic order, with 0 for negative labels (spam)."""

    def gains_of(labels: dict[str, int]) -> dict[str, int]:
        has_spam = any(label < 0 for label in labels.values())
        return {id: max(label, 0) for id, label in labels.items()} if has_spam else labels

    return Qrels({topic: gains_of(qrels[topic]) for topic in sorted(qrels, key=in_order)})


def judged_order(evaluator: str, run: Run, qrels: Qrels) -> Order:
    """Returns each judged topic's lines in the order in which the evaluator reads them: by rank for touche,
    by score for trec_eval.

    Raises:
        ToucheError: if the run contains none of the qrels' topics.
    """
    return in_qrels(run.by_rank if evaluator == "touche" else run.by_score, qrels)


def in_qrels(order: Order, qrels: Qrels) -> Order:
    """Returns the lines of those topics that are in the qrels.

    Raises:
        ToucheError: if none of the topics is in the qrels.
    """
    topics = {topic: lines for topic, lines in order.items() if topic in qrels}
    if not topics:
        problem = f"no topic of the run, such as {next(iter(order), 'none')}, is in the qrels"
        raise ToucheError(f"{problem}; check that they are for the same topics")
    return topics


def judged_share(ranked: Ranked, qrels: Qrels, cutoff: int | None) -> dict[str, float]:
    """Returns which share of each topic's first k documents is judged. If there are fewer than k, the share
    of all.

    Args:
        ranked: documents by topic; all topics are in the qrels.
        qrels: the judgments.
        cutoff: k; None for all documents.
    """
    first = {topic: documents[:cutoff] for topic, documents in ranked.items()}
    return {
        topic: sum(document in qrels[topic] for document in documents) / len(documents)
        for topic, documents in first.items()
    }
