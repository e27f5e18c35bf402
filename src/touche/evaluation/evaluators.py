"""The two evaluators of Touché: nDCG@k (Järvelin and Kekäläinen 2002) by both, other measures by trec_eval.

They agree on fully judged runs and drift apart with every unjudged document; a score is nothing without the
name of its evaluator. ``trec_eval`` is the original C code, version 9.0.8, through ir_measures; ``touche``
does what the organizers' own script does, which has nDCG@k alone; macro F1 of stances, as on their task page,
goes by its name as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean

from touche.errors import ToucheError
from touche.evaluation.significance import bootstrap_interval
from touche.formats.columns import Order, Run, RunLine
from touche.formats.qrels import Qrels
from touche.tasks.measures import MACRO_F1, Measure, parsed, uncut

TREC_EVAL_VERSION = "9.0.8"  # the one that pytrec_eval-terrier holds

Ranked = Mapping[str, Sequence[str]]  # the documents of each topic, best first


@dataclass(frozen=True)
class Evaluation:
    """The scores of one run against one set of judgments.

    Attributes:
        per_topic: the measure of each topic that the evaluator averages over.
        judged_per_topic: Judged@k, the share of judged documents among the first k that the measure looks at
            (all, where it has no cutoff), of each topic of the run that is in the qrels.
    """

    per_topic: Mapping[str, float]
    judged_per_topic: Mapping[str, float]

    @property
    def mean(self) -> float | None:
        """The mean of the measure over the topics; None where there is none to average over."""
        return fmean(self.per_topic.values()) if self.per_topic else None

    @property
    def judged(self) -> float:
        """The mean of Judged@k over the topics of the run."""
        return fmean(self.judged_per_topic.values()) if self.judged_per_topic else 0.0

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """The 95% confidence interval of the mean, by bootstrap over the topics; None twice without any."""
        return bootstrap_interval(list(self.per_topic.values())) if self.per_topic else (None, None)

    @property
    def topics(self) -> int:
        """The number of topics that the evaluator averages over."""
        return len(self.per_topic)

    @property
    def results(self) -> int | None:
        """N, the number of results with a judged stance; None for rankings."""
        return None

    @property
    def unjudged(self) -> float:
        """The share of the first results that has no judgment."""
        return round(1 - self.judged, 9)  # so that a tenth is a tenth


def trec_eval(run: Sequence[RunLine], qrels: Qrels, measure: Measure) -> Evaluation:
    """A measure as ``trec_eval -c`` computes it, nDCG@k as ``-m ndcg_cut.k``, up to version 9.0.8 of 2020.

    Order by score (as float32; versions since September 2023 read double) descending, ties by document id
    descending; labels below 0 are 0, and the gain is the label, 0 for unjudged documents; a topic of the
    qrels that the run lacks counts 0. RR@k is ``-M k -m recip_rank``.
    ``touche.formats.runs.in_order_of_score`` makes the order.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    run = Run.of(run)
    ranked = run.documents_of(in_qrels(run.by_score, qrels), measure.depth)
    return Evaluation(by_trec_eval(ranked, qrels, measure), judged_share(ranked, qrels, measure.cutoff))


def by_trec_eval(ranked: Ranked, qrels: Qrels, measure: Measure) -> dict[str, float]:
    """The values of all topics of the qrels, computed by the code of trec_eval.

    Args:
        ranked: in the order of trec_eval, as far as the measure looks.
        qrels: the judgments.
        measure: one that trec_eval has.
    """
    import ir_measures  # here, for the images of the baselines are without it

    plain = uncut(parsed(measure.name))
    falling = [-float(place) for place in range(max(map(len, ranked.values())))]
    scores = {topic: dict(zip(documents, falling, strict=False)) for topic, documents in ranked.items()}
    results = ir_measures.pytrec_eval.iter_calc([plain], gains(qrels), scores)
    return dict.fromkeys(qrels, 0.0) | {result.query_id: result.value for result in results}


def touche(run: Sequence[RunLine], qrels: Qrels, measure: Measure) -> Evaluation:
    """nDCG@k as the organizers' script computes it, which has no other measure (``Measure.of_script``).

    Order by the rank column; of the first k the unjudged documents are taken out and the list is closed up;
    label -2 counts as 0; the ideal list holds the k best labels of the topic. The mean is over topics with a
    judged document among the first k and a label above 0 in the qrels; there may be none.

    Raises:
        ToucheError: if the run has no topic of the qrels.
    """
    run, cutoff = Run.of(run), measure.cutoff or 0
    ranked = run.documents_of(in_qrels(run.by_rank, qrels), cutoff)
    per_topic = {}
    for topic, labels in gains(qrels).items():
        judged = [labels[document] for document in ranked.get(topic, ()) if document in labels]
        if judged and any(labels.values()):
            per_topic[topic] = ndcg(judged, labels.values(), cutoff)
    return Evaluation(per_topic, judged_share(ranked, qrels, cutoff))


def ndcg(found: Iterable[int], judged: Iterable[int], cutoff: int) -> float:
    """DCG of a list over the DCG of the ideal one; 0 where nothing relevant is known.

    Args:
        found: the gains of the list, in its order, down to the cutoff.
        judged: all gains of the topic; the best of them, in order and as many, are the ideal list.
        cutoff: k.
    """
    ideal = dcg(sorted(judged, reverse=True)[:cutoff])
    return dcg(found) / ideal if ideal else 0.0


def dcg(found: Iterable[float]) -> float:
    """Discounted cumulative gain: sum over the ranks r from 1 of gain / log2(r + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(found, 1))


Evaluator = Callable[[Sequence[RunLine], Qrels, Measure], Evaluation]
EVALUATORS: Mapping[str, Evaluator] = {"trec_eval": trec_eval, "touche": touche}


def evaluators_of(measure: Measure) -> list[str]:
    """Who computes a measure: both evaluators nDCG@k, touche macro F1, trec_eval any other."""
    if measure is MACRO_F1:
        return ["touche"]
    return [name for name in EVALUATORS if measure.of_script or name == "trec_eval"]


def gains(qrels: Qrels) -> Qrels:
    """Labels below 0, of spam, become 0: no gain either way, and trec_eval's code can crash on them."""
    return Qrels(
        {
            topic: {document: max(label, 0) for document, label in labels.items()}
            for topic, labels in qrels.items()
        }
    )


def in_qrels(order: Order, qrels: Qrels) -> Order:
    """The topics of an order that are in the qrels.

    Raises:
        ToucheError: if there is none.
    """
    topics = {topic: lines for topic, lines in order.items() if topic in qrels}
    if not topics:
        problem = "the run and the qrels have no topic in common"
        raise ToucheError(f"{problem}; check that --task is the run's task")
    return topics


def judged_share(ranked: Ranked, qrels: Qrels, cutoff: int | None) -> dict[str, float]:
    """Returns Judged@k of each topic."""
    first = {topic: documents[:cutoff] for topic, documents in ranked.items()}
    return {topic: sum(map(qrels[topic].__contains__, of)) / len(of) for topic, of in first.items()}
