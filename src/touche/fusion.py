"""Fusion: of several runs one that ranks high what several of them rank high."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from touche.formats.runs import RunLine, in_order_of_score

K = 60  # of reciprocal rank fusion, as in its paper: the larger, the less the first ranks stand out

Hits = list[tuple[str, float]]


@dataclass(frozen=True)
class Method:
    """How runs are fused.

    Attributes:
        given: what a run gives its documents of a topic.
        combined: the score of a document, of what it got from each run that has it.
    """

    given: Callable[[Sequence[RunLine]], Mapping[str, float]]
    combined: Callable[[Sequence[float]], float]


def fused(runs: Iterable[Iterable[RunLine]], method: Method) -> Iterator[tuple[str, Hits]]:
    """Fuses runs, whatever their order.

    Args:
        runs: the runs; a topic that only some of them have is fused of these.
        method: one of ``METHODS``.

    Yields:
        Each topic, in the order of the runs, with all its (document id, score) pairs in no order.
    """
    topics: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for topic, lines in _by_topic(run).items():
            for document, share in method.given(lines).items():
                topics.setdefault(topic, {}).setdefault(document, []).append(share)
    for topic, documents in topics.items():
        yield topic, [(document, method.combined(shares)) for document, shares in documents.items()]


def reciprocal_ranks(lines: Sequence[RunLine]) -> dict[str, float]:
    """1 / (60 + rank), the ranks being those that trec_eval derives of the scores (Cormack et al. 2009).

    Args:
        lines: all lines of a topic.
    """
    return {line.document: 1 / (K + rank) for rank, line in enumerate(in_order_of_score(lines), 1)}


def normalised(lines: Sequence[RunLine]) -> dict[str, float]:
    """(score - lowest) / (highest - lowest), 0 for the last document and 1 for the first (Lee 1997).

    So runs count alike, whatever the range of their scores. Scores that are all equal become 1.

    Args:
        lines: all lines of a topic.
    """
    scores = [line.score for line in lines]
    lowest, span = min(scores), max(scores) - min(scores)
    return {line.document: (line.score - lowest) / span if span else 1.0 for line in lines}


def times_runs(shares: Sequence[float]) -> float:
    """The sum, times how many runs have the document: CombMNZ (Fox and Shaw 1994)."""
    return len(shares) * fsum(shares)


METHODS = {
    "rrf": Method(reciprocal_ranks, fsum),
    "combsum": Method(normalised, fsum),
    "combmnz": Method(normalised, times_runs),
}


def _by_topic(run: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    found: dict[str, list[RunLine]] = {}
    for line in run:
        found.setdefault(line.topic, []).append(line)
    return found
