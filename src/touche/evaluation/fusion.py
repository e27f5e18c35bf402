"""Fusion of several runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from numbers import Real

from touche.errors import ParameterError
from touche.tira.outputs import Hit
from touche.trec.runs import RunLine, by_topic, in_order_of_score, ranking
from touche.trec.topics import Topic

K = 60  # of reciprocal rank fusion, as in its paper; a larger K levels the ranks
PHI = 0.95  # of rank-biased centroids: the chance to read on; with 0.8, rank 460 is 0 as float32

Hits = list[tuple[str, float]]
Ranking = tuple[Topic, list[Hit]]


@dataclass(frozen=True)
class Method:
    """A method of fusion.

    Attributes:
        shares: computes a run's shares for its documents of a topic.
        combine: computes a document's score from its shares of the runs that have it.
    """

    shares: Callable[[Sequence[RunLine]], Mapping[str, float]]
    combine: Callable[[Sequence[float]], float]


Shares = Mapping[str, Mapping[str, Mapping[int, float]]]
"""Shares of documents, by topic, document and index of the run."""


def fused(
    runs: Iterable[Iterable[RunLine]], method: Method, weights: Sequence[float] | None = None
) -> Iterator[tuple[str, Hits]]:
    """Fuses runs, in any order.

    Args:
        runs: runs; a topic that only some runs have is fused from these.
        method: one of ``METHODS``.
        weights: factor of each run's shares; a run with weight 0 is ignored.

    Yields:
        Each topic, in the order of the runs, with all its (document id, score) pairs in no order.
    """
    yield from weighted(shares_of(runs, method), method, weights)


def shares_of(runs: Iterable[Iterable[RunLine]], method: Method) -> Shares:
    """Returns each run's shares for its documents, without weights.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
    """
    topics: dict[str, dict[str, dict[int, float]]] = {}
    for place, run in enumerate(runs):
        for topic, lines in by_topic(run).items():
            for document, share in method.shares(lines).items():
                topics.setdefault(topic, {}).setdefault(document, {})[place] = share
    return topics


def weighted(shares: Shares, method: Method, weights: Sequence[float] | None) -> Iterator[tuple[str, Hits]]:
    """Combines shares into scores; yields each topic with its (document id, score) pairs.

    Args:
        shares: result of ``shares_of``.
        method: the same method.
        weights: one per run, or None for equal weights.
    """
    for topic, documents in shares.items():
        hits = []
        for document, of_runs in documents.items():
            got = [
                share if weights is None else weights[place] * share
                for place, share in of_runs.items()
                if weights is None or weights[place]
            ]
            if got:
                hits.append((document, method.combine(got)))
        if hits:
            yield topic, hits


def check_weights(weights: Sequence[float], runs: int) -> None:
    """Checks the weights of a fusion.

    Args:
        weights: the weights.
        runs: the number of runs.

    Raises:
        ParameterError: if the number of weights is wrong, a weight is neither 0 nor from 1e-6 to 1e6, or all
            are 0.
    """
    if isinstance(weights, str) or not isinstance(weights, Sequence):
        raise ParameterError(f"weights = {weights!r}; pass a list of numbers, one per run")
    if len(weights) != runs:
        raise ParameterError(f"{len(weights)} weights for {runs} runs; pass one per run, such as 0.7,0.3")
    if wrong := [each for each in weights if not _is_weight(each)]:
        raise ParameterError(
            f"the weight {wrong[0]!r} is neither 0 nor a number from 1e-6 to 1e6; correct it"
        )
    if not any(weights):
        raise ParameterError("all weights are 0; use at least one weight above 0")


def _is_weight(value: object) -> bool:
    """Returns whether products with a weight can be added up, and are not lost as float32."""
    return isinstance(value, Real) and (value == 0 or 1e-6 <= float(value) <= 1e6)


def reciprocal_ranks(lines: Sequence[RunLine]) -> dict[str, float]:
    """Returns 1 / (60 + rank), with trec_eval's ranks by score (Cormack et al. 2009).

    Args:
        lines: all lines of a topic.
    """
    return {line.document: 1 / (K + rank) for rank, line in enumerate(in_order_of_score(lines), 1)}


def rank_biased(lines: Sequence[RunLine]) -> dict[str, float]:
    """Returns (1 - 0.95) 0.95^(rank - 1), with the same ranks: rank-biased centroids (Bailey et al. 2017).

    Args:
        lines: all lines of a topic.
    """
    return {line.document: (1 - PHI) * PHI**rank for rank, line in enumerate(in_order_of_score(lines))}


def normalised(lines: Sequence[RunLine]) -> dict[str, float]:
    """Returns (score - lowest) / (highest - lowest), 0 for the last document and 1 for the first (Lee 1997).

    So runs with different ranges of scores count equally. If all scores are equal, they become 1.

    Args:
        lines: all lines of a topic.
    """
    scores = [line.score for line in lines]
    lowest, span = min(scores), max(scores) - min(scores)
    return {line.document: (line.score - lowest) / span if span else 1.0 for line in lines}


def standardised(lines: Sequence[RunLine]) -> dict[str, float]:
    """Returns (score - mean) / standard deviation of the population: z-scores (Montague and Aslam 2001).

    A document with the mean score gets 0, like a document that the run lacks. Equal scores become 0.

    Args:
        lines: all lines of a topic.
    """
    scores = [line.score for line in lines]
    mean = fsum(scores) / len(scores)
    deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / len(scores))
    varied = deviation and min(scores) < max(scores)  # the mean of equal scores may be rounded
    return {line.document: (line.score - mean) / deviation if varied else 0.0 for line in lines}


def times_runs(shares: Sequence[float]) -> float:
    """Returns the sum, times the number of runs with the document: CombMNZ (Fox and Shaw 1994)."""
    return len(shares) * fsum(shares)


METHODS = {
    "rrf": Method(reciprocal_ranks, fsum),
    "combsum": Method(normalised, fsum),
    "combmnz": Method(normalised, times_runs),
    "z-score": Method(standardised, fsum),
    "rbc": Method(rank_biased, fsum),
}


def fused_rankings(
    runs: Sequence[Sequence[RunLine]], method: Method, depth: int, weights: Sequence[float] | None = None
) -> Iterator[Ranking]:
    """Fuses runs into rankings; a document's stance comes from the first run that has it.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
        depth: maximum number of documents per topic.
        weights: one per run, or None for equal weights.

    Raises:
        ParameterError: if the weights are unusable.
    """
    if weights is not None:
        check_weights(weights, len(runs))
    yield from ranked(fused(runs, method, weights), runs, depth)


def ranked(
    topics: Iterable[tuple[str, Hits]], runs: Sequence[Sequence[RunLine]], depth: int
) -> Iterator[Ranking]:
    """Truncates fused topics, and adds the documents' stances from the runs."""
    stances = {(line.topic, line.document): line.stance for run in reversed(runs) for line in run}
    for topic, hits in topics:
        # with the digits of a run file, so that a fused run is the same in memory
        best = ((id, float(str(score))) for id, score in ranking(hits, depth))
        yield Topic(topic, ""), [(id, score, stances.get((topic, id), "Q0")) for id, score in best]


def doubts_of(runs: Sequence[Sequence[RunLine]]) -> Iterator[str]:
    """Yields warnings if the runs seem to be of different tasks."""
    topics = [{line.topic for line in run} for run in runs]
    if alone := set[str]().union(*topics) - topics[0].intersection(*topics):
        noun = "topic" if len(alone) == 1 else "topics"
        yield f"{len(alone)} {noun} in only some of the runs; check that all are of one task"
    documents = Counter(pair for run in runs for pair in {(line.topic, line.document) for line in run})
    if max(documents.values()) < 2:
        yield "no two runs share a document of a topic; check that all are of one task"
