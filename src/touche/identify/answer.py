"""The answer to what made a run, as plain records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touche.identify.collection import Collection, collections_of
from touche.identify.fitting import MET, Fit, Problem
from touche.identify.models import BM25
from touche.identify.numbers import Number, shared_numbers
from touche.identify.samples import Sample
from touche.identify.search import problem_of, search
from touche.identify.verdict import told_apart, undecided, verdict
from touche.identify.worst import Miss, worst

WITHIN = (1e-5, 1e-4, 1e-3)
_NEXT = 5  # hypotheses after the winner


@dataclass(frozen=True)
class Candidate:
    """A hypothesis, and how well it meets the scores.

    Attributes:
        hypothesis: in words.
        axes: the same, by the axes of the search.
        documents: n, whose scores it was fitted to.
        free_numbers: p.
        floor: p / n, the share that free numbers could meet if the hypothesis were wrong.
        shares: of the scores that are met within 1e-5, 1e-4 and 1e-3.
        median: the median error.
        told_apart: whether it can be told from the first one.
    """

    hypothesis: str
    axes: Mapping[str, str]
    documents: int
    free_numbers: int
    floor: float
    shares: tuple[float, ...]
    median: float
    told_apart: bool


@dataclass(frozen=True)
class TopicShare:
    """The share of a topic's scores that the first hypothesis meets within 1e-5."""

    topic: str
    title: str
    documents: int
    share: float


@dataclass(frozen=True)
class TermNumber:
    """The number of a term in a field: ln(mu P), the weight, or log2(avgdl N / ttf)."""

    field: str
    term: str
    value: float


@dataclass(frozen=True)
class Answer:
    """What made a run.

    Attributes:
        in_run: documents of the run for topics of the task.
        decimals: those that the scores in the file were rounded to; 7 where they were not.
        tried: how many hypotheses.
        stands_out: whether the first candidate is the answer.
        reason: why it is, or is not.
        candidates: the best one, and the next five.
        nearest: the one with the smallest median error.
        undecided: by axis, values that cannot be told apart, the best one's first.
        numbers: of the first candidate, those that all terms share.
        terms: of the first candidate, those of terms.
        collections: by field, N and df where they come out as whole numbers.
        topics: the shares per topic.
        worst: the documents whose scores are missed most.
    """

    in_run: int
    decimals: int
    tried: int
    stands_out: bool
    reason: str
    candidates: tuple[Candidate, ...]
    nearest: Candidate
    undecided: Mapping[str, tuple[str, ...]]
    numbers: tuple[Number, ...]
    terms: tuple[TermNumber, ...]
    collections: Mapping[str, Collection]
    topics: tuple[TopicShare, ...]
    worst: tuple[Miss, ...]


def answer(sample: Sample) -> Answer:
    """Searches for what made the scores of a sample.

    Raises:
        ToucheError: if Lucene is not installed, or the processes that fit die.
    """
    ranking = search(sample)
    winner, *others = ranking.fits
    equal = [winner, *(fit for fit in others if not told_apart(winner, fit))]
    stands_out, reason = verdict(winner, equal)
    problem = problem_of(winner.hypothesis, ranking.counts, sample)
    is_known = stands_out and winner.hypothesis.model == BM25
    return Answer(
        sample.in_run,
        sample.decimals,
        ranking.tried,
        stands_out,
        reason,
        tuple(_candidate(fit, equal) for fit in ranking.fits[: 1 + _NEXT]),
        _candidate(min(ranking.fits, key=lambda fit: fit.median), equal),
        undecided(equal, ranking.twins),
        tuple(shared_numbers(problem, winner.numbers)),
        tuple(_terms(problem, winner)),
        collections_of(problem, winner) if is_known else {},
        tuple(_topics(sample, winner)),
        tuple(worst(problem, winner, sample)),
    )


def _candidate(fit: Fit, equal: Sequence[Fit]) -> Candidate:
    hypothesis, shares = fit.hypothesis, tuple(map(fit.share, WITHIN))
    n, p, is_other = len(fit.errors), len(fit.numbers), all(fit is not each for each in equal)
    return Candidate(str(hypothesis), hypothesis.axes, n, p, fit.floor, shares, fit.median, is_other)


def _terms(problem: Problem, fit: Fit) -> Iterator[TermNumber]:
    fields = zip(fit.hypothesis.fields, problem.counts, problem.own_columns, strict=True)
    for field, counts, columns in fields:
        for term, value in zip(counts.vocabulary, fit.numbers[columns], strict=True):
            yield TermNumber(field, term, float(value))


def _topics(sample: Sample, fit: Fit) -> Iterator[TopicShare]:
    for topic in dict.fromkeys(sample.topics):
        met = fit.errors[np.array(sample.topics) == topic] <= MET
        yield TopicShare(topic, sample.titles[topic], len(met), float(met.mean()))
