"""What to judge next: the unjudged documents whose grades move the differences between runs most."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from touche.errors import ToucheError
from touche.evaluation.bounds import Judge, rank_discounts
from touche.evaluation.evaluators import ndcg
from touche.evaluation.scores import Evaluated
from touche.trec.qrels import Qrels


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
        ToucheError: if the measure has no bounds, or no grade is above 0. Several runs need bounds of the
            difference of two.
    """
    known = _known(runs)
    first_of_runs = [run.first_documents(evaluator) for run in runs]  # of each run, by topic
    longest = max(len(ids) for first in first_of_runs for ids in first.values())
    weights_of_ranks = _weights(known, longest)
    rows = []
    for topic in sorted(set().union(*first_of_runs)):
        ids_of_runs = [first.get(topic, ()) for first in first_of_runs]
        # The weights of each run by document.
        weights_of_runs = [dict(zip(ids, weights_of_ranks, strict=False)) for ids in ids_of_runs]
        documents = dict.fromkeys(chain(*ids_of_runs))  # each once
        unjudged = [document for document in documents if document not in known.labels[topic]]
        for document in unjudged:
            # A weight for each run; 0 if the run lacks the document.
            weights = np.array([by_document.get(document, 0.0) for by_document in weights_of_runs])
            differences = np.abs(weights[:, None] - weights).sum() / 2  # each pair of runs is counted twice
            factor = differences if len(runs) > 1 else weights.sum()
            gain = float(factor) * _highest(known, topic) / len(known.labels)  # of a mean over the topics
            count = int((weights > 0).sum())
            rows.append(ToJudge(topic=topic, document=document, runs=count, gain=gain))
    return sorted(rows, key=lambda row: (-row.gain, row.topic, row.document))


def decisive(better: Evaluated, other: Evaluated, evaluator: str, rows: Sequence[ToJudge]) -> int | None:
    """Returns how many rows, from the first one on, decide that the better of two runs does not get worse.

    If these documents are not relevant, its mean is at least the other's, whatever the other grades are.

    Args:
        better: the run with the higher mean.
        other: the other run.
        evaluator: the evaluator whose order of the runs counts.
        rows: the unjudged documents of both, and perhaps of more runs, as from ``to_judge``.

    Returns:
        None if it is better only because touche removes unjudged documents.
    """
    known = _known([better, other])
    first_of_better = better.first_documents(evaluator)
    first_of_other = other.first_documents(evaluator)
    topics = better.bounds[evaluator].keys() & other.bounds[evaluator].keys()

    def is_decided(count: int) -> bool:
        """Returns whether the better run stays at least equal if the first rows are not relevant."""
        labels = Qrels({topic: dict(grades) for topic, grades in known.labels.items()})
        for row in rows[:count]:
            labels[row.topic][row.document] = 0
        difference = replace(known, labels=labels).mean(first_of_better, first_of_other, topics)
        return difference.least >= 0

    if not is_decided(len(rows)):
        return None
    # If some rows decide, more rows also do.
    return bisect_left(range(len(rows)), True, key=is_decided)


def _known(runs: Sequence[Evaluated]) -> Judge:
    """Returns what is known about grades.

    Raises:
        ToucheError: if the measure has no bounds, or no grade is above 0. Several runs need bounds of the
            difference of two, which AP lacks.
    """
    known = runs[0].judge
    has_relevant = any(max(labels.values()) > 0 for labels in runs[0].judgments.values())
    # With the grades of a task's card, there are bounds even if no document is relevant.
    if known is None and not has_relevant:
        problem = f"{runs[0].qrels}: no document is relevant, so the documents to judge cannot be chosen"
        raise ToucheError(f"{problem}; add judgments above 0")
    if known is None or (known.is_of_one and len(runs) > 1):
        problem = f"{runs[0].measure} cannot choose the documents to judge, because it has no bounds"
        raise ToucheError(f"{problem}; use nDCG@k, P@k or RR")
    return known


def _weights(known: Judge, count: int) -> list[float]:
    """Returns the weights of the first ranks in the measure."""
    if known.name == "nDCG":
        return [*rank_discounts(count)]
    if known.name == "P":
        return [1 / known.k] * count
    return [1 / rank for rank in range(1, count + 1)]  # of RR, and about those of AP


def _highest(known: Judge, topic: str) -> float:
    """Returns the value of a document with the highest grade on rank 1 of a topic."""
    if known.name != "nDCG":
        return 1.0
    highest_grade = known.scale[-1]
    labels = [*known.labels[topic].values(), highest_grade]  # once judged, it is in the ideal list
    return ndcg([highest_grade], labels, known.k)
