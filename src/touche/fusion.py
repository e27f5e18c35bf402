"""Several runs as one: fused, so that what several rank high is high, or joined from parts of a whole."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from pathlib import Path

from touche.errors import InputError, ParameterError, ToucheError
from touche.formats.runs import RunLine, by_topic, in_order_of_score, ranking, read_run
from touche.formats.statistics import parts_of
from touche.formats.topics import Topic
from touche.io.opening import md5
from touche.tira.outputs import METADATA_FILE, Hit
from touche.tira.provenance import statistics_of

K = 60  # of reciprocal rank fusion, as in its paper: the larger, the less the first ranks stand out
PHI = 0.95  # of rank-biased centroids: the chance to read on; 0.8, for one, is 0 as float32 from rank 460 on

Hits = list[tuple[str, float]]
Ranking = tuple[Topic, list[Hit]]


@dataclass(frozen=True)
class Method:
    """How runs are fused.

    Attributes:
        given: what a run gives its documents of a topic.
        combined: the score of a document, of what it got from each run that has it.
    """

    given: Callable[[Sequence[RunLine]], Mapping[str, float]]
    combined: Callable[[Sequence[float]], float]


Shares = Mapping[str, Mapping[str, Mapping[int, float]]]
"""What documents get, by topic, document and the place of the run."""


def fused(
    runs: Iterable[Iterable[RunLine]], method: Method, weights: Sequence[float] | None = None
) -> Iterator[tuple[str, Hits]]:
    """Fuses runs, whatever their order.

    Args:
        runs: the runs; a topic that only some of them have is fused of these.
        method: one of ``METHODS``.
        weights: what the shares of each run are multiplied by; a run of weight 0 is left out.

    Yields:
        Each topic, in the order of the runs, with all its (document id, score) pairs in no order.
    """
    yield from weighted(shares_of(runs, method), method, weights)


def shares_of(runs: Iterable[Iterable[RunLine]], method: Method) -> Shares:
    """What each run gives its documents, before any weight.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
    """
    topics: dict[str, dict[str, dict[int, float]]] = {}
    for place, run in enumerate(runs):
        for topic, lines in by_topic(run).items():
            for document, share in method.given(lines).items():
                topics.setdefault(topic, {}).setdefault(document, {})[place] = share
    return topics


def weighted(shares: Shares, method: Method, weights: Sequence[float] | None) -> Iterator[tuple[str, Hits]]:
    """Combines what runs give; yields each topic with its (document id, score) pairs.

    Args:
        shares: what ``shares_of`` returns.
        method: the same method.
        weights: one for each run, or None for all alike.
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
                hits.append((document, method.combined(got)))
        if hits:
            yield topic, hits


def check_weights(weights: Sequence[float], runs: int) -> None:
    """Checks the weights of a fusion.

    Args:
        weights: the weights.
        runs: the number of runs.

    Raises:
        ParameterError: unless there is a weight for each run, finite, none below 0 and one above 0.
    """
    if len(weights) != runs:
        raise ParameterError(f"{len(weights)} weights for {runs} runs; name one for each, such as 0.7,0.3")
    if wrong := [weight for weight in weights if not (isfinite(weight) and weight >= 0)]:
        raise ParameterError(f"the weight {wrong[0]:g} is not a finite number from 0; correct it")
    if not any(weights):
        raise ParameterError("all weights are 0; give one run a weight above 0")


def reciprocal_ranks(lines: Sequence[RunLine]) -> dict[str, float]:
    """1 / (60 + rank), the ranks being those that trec_eval derives of the scores (Cormack et al. 2009).

    Args:
        lines: all lines of a topic.
    """
    return {line.document: 1 / (K + rank) for rank, line in enumerate(in_order_of_score(lines), 1)}


def rank_biased(lines: Sequence[RunLine]) -> dict[str, float]:
    """(1 - 0.95) 0.95^(rank - 1), by the same ranks: rank-biased centroids (Bailey et al. 2017).

    Args:
        lines: all lines of a topic.
    """
    return {line.document: (1 - PHI) * PHI**rank for rank, line in enumerate(in_order_of_score(lines))}


def normalised(lines: Sequence[RunLine]) -> dict[str, float]:
    """(score - lowest) / (highest - lowest), 0 for the last document and 1 for the first (Lee 1997).

    So runs count alike, whatever the range of their scores. Scores that are all equal become 1.

    Args:
        lines: all lines of a topic.
    """
    scores = [line.score for line in lines]
    lowest, span = min(scores), max(scores) - min(scores)
    return {line.document: (line.score - lowest) / span if span else 1.0 for line in lines}


def standardised(lines: Sequence[RunLine]) -> dict[str, float]:
    """(score - mean) / standard deviation of the population: z-scores (Montague and Aslam 2001).

    A run gives its mean document 0, as much as one that it lacks. Scores that are all equal become 0.

    Args:
        lines: all lines of a topic.
    """
    scores = [line.score for line in lines]
    mean = fsum(scores) / len(scores)
    deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / len(scores))
    varied = deviation and min(scores) < max(scores)  # the mean of equal scores may be rounded
    return {line.document: (line.score - mean) / deviation if varied else 0.0 for line in lines}


def times_runs(shares: Sequence[float]) -> float:
    """The sum, times how many runs have the document: CombMNZ (Fox and Shaw 1994)."""
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
    """Fuses runs into the rankings of one; a stance is that of the first run that has the document.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
        depth: how many documents are returned per topic.
        weights: one for each run, or None for all alike.

    Raises:
        ParameterError: if the weights are unusable.
    """
    if weights is not None:
        check_weights(weights, len(runs))
    yield from ranked(fused(runs, method, weights), runs, depth)


def ranked(
    topics: Iterable[tuple[str, Hits]], runs: Sequence[Sequence[RunLine]], depth: int
) -> Iterator[Ranking]:
    """Cuts fused topics, and gives their documents the stances that they have in the runs."""
    stances = {(line.topic, line.document): line.stance for run in reversed(runs) for line in run}
    for topic, hits in topics:
        best = ranking(hits, depth)
        yield Topic(topic, ""), [(id, float(score), stances.get((topic, id), "Q0")) for id, score in best]


def doubts_of(runs: Sequence[Sequence[RunLine]]) -> Iterator[str]:
    """Says by what runs of different tasks are recognized."""
    topics = [{line.topic for line in run} for run in runs]
    if alone := set[str]().union(*topics) - topics[0].intersection(*topics):
        noun = "topic" if len(alone) == 1 else "topics"
        yield f"{len(alone)} {noun} in some of the runs only; are all of one task?"
    documents = Counter(pair for run in runs for pair in {(line.topic, line.document) for line in run})
    if max(documents.values()) < 2:
        yield "no two runs have a document of a topic in common; are all of one task?"


def joined(paths: Sequence[Path], topics: Sequence[Topic], depth: int) -> tuple[str, list[Ranking]]:
    """Joins runs of one baseline on parts of a collection; returns their tag and the rankings.

    Args:
        paths: the run files; one on a part without any term of the topics is empty.
        topics: those of the runs.
        depth: how many documents are returned per topic.

    Raises:
        InputError: if a run has another topic, or another tag than the first.
        ToucheError: if all runs are empty.
    """
    best: dict[str, list[RunLine]] = {topic.number: [] for topic in topics}
    tag = ""
    for path in filter(lambda path: path.stat().st_size, paths):
        lines = read_run(path)
        tag = tag or lines[0].tag
        for line in lines:
            if line.topic not in best:
                raise InputError(
                    path, f"topic {line.topic} is not in the input", "give the topics of the runs"
                )
            if line.tag != tag:
                remedy = "join runs of one baseline and its options"
                raise InputError(path, f"a run of {line.tag}, not of {tag}", remedy)
            best[line.topic].append(line)
        best = {number: [*in_order_of_score(lines)[:depth]] for number, lines in best.items()}
    if not tag:
        raise ToucheError("all runs are empty; check what wrote them")
    hits: list[list[Hit]] = [
        [(line.document, line.score, line.stance) for line in best[topic.number]] for topic in topics
    ]
    return tag, list(zip(topics, hits, strict=True))


def check_ranked_by(statistics: Path, paths: Sequence[Path]) -> None:
    """Checks that the scores of runs compare, because they are by the same statistics.

    Raises:
        InputError: naming the run that is missing or ranked by others.
    """
    if (parts := parts_of(statistics)) > len(paths):
        problem = f"the sum of {parts} parts, and {len(paths)} of their runs are given"
        raise InputError(statistics, problem, "give those of all parts")
    digest = md5(statistics)
    for path in paths:
        if not path.is_file():
            raise InputError(path, "no such file", "give the run.txt of each part")
        if statistics_of(path.with_name(METADATA_FILE)) != digest:
            remedy = "run the baseline with --statistics, and leave ir-metadata.yml beside run.txt"
            raise InputError(path, f"not ranked by {statistics}", remedy)
