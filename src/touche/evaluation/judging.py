"""What to judge next: the unjudged documents whose grades move the differences between runs most."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from touche.errors import ToucheError
from touche.evaluation.bounds import Judge, mean_bounds
from touche.evaluation.evaluators import ndcg
from touche.evaluation.scores import Evaluated
from touche.trec.qrels import Qrels

Ranks = Mapping[str, Mapping[str, int]]  # of the first documents of a run, by topic


@dataclass(frozen=True)
class ToJudge:
    """An unjudged document among the first k of some runs.

    Attributes:
        topic, document: numbers of the topic, and id of the document.
        runs: number of runs that have it among their first k.
        gain: how much its highest grade would move the differences of means, summed over all pairs of runs;
            with one run, how much it would move the mean.
    """

    topic: str
    document: str
    runs: int
    gain: float


def to_judge(runs: Sequence[Evaluated], evaluator: str) -> list[ToJudge]:
    """Returns the unjudged documents of runs in one dimension, first those with the highest gain.

    Raises:
        ToucheError: if the measure has no bounds.
    """
    known = _known(runs)
    lists = [run.lines.documents_of(run.order(evaluator), known.cutoff) for run in runs]
    rows = []
    for topic in sorted(set().union(*lists)):
        documents = [of_run.get(topic, ()) for of_run in lists]
        for document in known.unjudged(topic, *documents):
            weights = np.array([_weight(known, ids, document) for ids in documents])
            pairs = np.abs(weights[:, None] - weights).sum() / 2 if len(runs) > 1 else weights.sum()
            gain = float(pairs) * _highest(known, topic) / len(known.labels)
            count = int((weights > 0).sum())
            rows.append(ToJudge(topic=topic, document=document, runs=count, gain=gain))
    return sorted(rows, key=lambda row: (-row.gain, row.topic, row.document))


def decisive(first: Evaluated, second: Evaluated, evaluator: str, rows: Sequence[ToJudge]) -> int | None:
    """Returns how many of the first rows decide whether the better of two runs stays better.

    If these documents are not relevant, it stays better whatever the grades of the others.

    Returns:
        None if it is better only because touche removes unjudged documents.
    """
    known = _known([first])
    lists = [run.lines.documents_of(run.order(evaluator), known.cutoff) for run in (first, second)]
    topics = first.bounds[evaluator].keys() & second.bounds[evaluator].keys()

    def is_decided(count: int) -> bool:
        labels = Qrels({topic: dict(of_topic) for topic, of_topic in known.labels.items()})
        for row in rows[:count]:
            labels[row.topic].setdefault(row.document, 0)
        judged = replace(known, labels=labels)
        bounds = {
            topic: judged.topic(topic, *(of_run.get(topic, ()) for of_run in lists)) for topic in topics
        }
        return mean_bounds(bounds).least >= 0

    return bisect_left(range(len(rows)), True, key=is_decided) if is_decided(len(rows)) else None


def _known(runs: Sequence[Evaluated]) -> Judge:
    known = runs[0].judge
    if known is None or (known.is_of_one and len(runs) > 1):
        problem = f"{runs[0].measure} has no bounds, which decide what to judge"
        raise ToucheError(f"{problem}; use nDCG@k, P@k or RR")
    return known


def _weight(known: Judge, documents: Sequence[str], document: str) -> float:
    """Returns the weight of a document's rank in the measure; 0 if the list lacks it."""
    if document not in documents:
        return 0.0
    rank = documents.index(document) + 1
    weights = {"nDCG": 1 / log2(rank + 1), "P": 1 / (known.cutoff or 1)}
    return weights.get(known.name, 1 / rank)


def _highest(known: Judge, topic: str) -> float:
    """Returns the value of a document with the highest grade on rank 1 of a topic."""
    if known.name != "nDCG":
        return 1.0
    labels = [*known.labels[topic].values()]
    return ndcg([known.scale[-1]], [*labels, known.scale[-1]], known.cutoff or 1)
