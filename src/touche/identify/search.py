"""From all hypotheses to the few that are fitted to every document, in rounds that halve them and more."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from touche.errors import ToucheError, choice
from touche.identify.counts import Analysis, Fields, counts_of
from touche.identify.fitting import SCALES, Problem, fit, standard_errors
from touche.identify.hypotheses import MAXIMUM, Hypothesis, space
from touche.identify.samples import Array, Integers, Sample
from touche.identify.votes import voted
from touche.progress import processors, watched

MET = 1e-5  # a score is met where it is missed by no more
_VARYING, _VARIED = 1, 3  # after this round weights and lengths of so many leading hypotheses are varied
_COARSE = 3  # scales that are left out when a fit goes on from votes
_BATCH = 4  # problems that a process takes at a time
_DIED = (
    "the processes that fit have died; give them more memory; in a script of your own, call it below "
    'if __name__ == "__main__":'
)


class Round(NamedTuple):
    """Which documents a round takes, topics with the most of them first, and how many hypotheses it keeps."""

    documents: int
    per_topic: int
    scales: tuple[float, ...]
    kept: int


_ALL = 10**9
ROUNDS = (
    Round(160, 20, (1.0, 0.1, 0.01), 100),
    Round(320, 40, SCALES, 12),
    Round(1000, 40, SCALES, 3),
    Round(_ALL, _ALL, SCALES, _ALL),
)


@dataclass(frozen=True)
class Fit:
    """A hypothesis with its numbers.

    Attributes:
        hypothesis: the hypothesis.
        numbers: in the order of ``Problem``.
        deviations: their standard errors.
        errors: by how much each document's score is missed, beyond what rounding in the file explains.
    """

    hypothesis: Hypothesis
    numbers: Array
    deviations: Array
    errors: Array

    @property
    def floor(self) -> float:
        """The share of scores that the free numbers could meet if the hypothesis were wrong."""
        return len(self.numbers) / len(self.errors)

    @property
    def gain(self) -> float:
        """The share of scores that are met, less the floor."""
        return self.share() - self.floor

    @property
    def median(self) -> float:
        """The median error."""
        return float(np.median(self.errors))

    def share(self, within: float = MET) -> float:
        """Of the documents whose scores are missed by no more."""
        return float(np.mean(self.errors <= within))


@dataclass(frozen=True)
class Found:
    """What came of a search.

    Attributes:
        fits: of the hypotheses that were fitted to all documents, the best first.
        counts: by analysis; those that no score can tell from another one are left out.
        twins: the analyses that were left out, by the one that stands for them.
        tried: how many hypotheses there were.
    """

    fits: tuple[Fit, ...]
    counts: Mapping[Analysis, Fields]
    twins: Mapping[Analysis, tuple[Analysis, ...]]
    tried: int

    def problem(self, fit: Fit, sample: Sample) -> Problem:
        """The problem that a fit solves."""
        return problem_of(fit.hypothesis, self.counts, sample.scores)


def search(sample: Sample) -> Found:
    """Fits all hypotheses to the scores of a sample, on all processors.

    Raises:
        ToucheError: if the processes that fit die.
    """
    counts, twins = distinct(watched(counts_of(sample), "analysing", "analyses", None))
    hypotheses = [each for each in space(list(sample.texts)) if each.analysis in counts]
    tried = len(hypotheses)
    fits: list[Fit] = []
    with _processes() as executor:
        for place, now in enumerate(ROUNDS):
            chosen = chosen_documents(sample, now)
            some = {analysis: _of(fields, chosen) for analysis, fields in counts.items()}
            problems = [problem_of(each, some, sample.scores[chosen]) for each in hypotheses]
            # A small sample is the same in several rounds.
            known = fits if place and _same(ROUNDS[place - 1], now, fits, chosen) else []
            solve = _solve
            if now is ROUNDS[-1]:
                solve, known = _solve_with_votes, [e for e in known if e.hypothesis.combination != MAXIMUM]
            told = f"fitting, round {place + 1} of {len(ROUNDS)}"
            fits = _solved(
                executor, partial(solve, sample.slack[chosen], _scales(now, sample)), problems, known, told
            )
            hypotheses = [fit.hypothesis for fit in kept(fits, now.kept)]
            if place == _VARYING:
                varied = _varied(fits)
                tried += len({*varied} - {*hypotheses})
                hypotheses = list(dict.fromkeys([*hypotheses, *varied]))
    return Found(tuple(fits), counts, twins, tried)


def fits_of(hypothesis: Hypothesis, samples: Iterable[Sample]) -> list[tuple[Problem, Fit]]:
    """Fits one hypothesis to all scores of each sample: the problems and what solves them.

    Raises:
        ToucheError: if a sample lacks a field of the hypothesis, or the processes that fit die.
    """
    posed = [(_whole(hypothesis, each), each) for each in samples]
    with _processes() as executor:
        solved = [
            (problem, executor.submit(_solve_with_votes, each.slack, _scales(ROUNDS[-1], each), problem))
            for problem, each in posed
        ]
        try:
            return [(problem, each.result()) for problem, each in solved]
        except BrokenProcessPool as error:
            raise ToucheError(_DIED) from error


def _whole(hypothesis: Hypothesis, sample: Sample) -> Problem:
    """A hypothesis on all documents of a sample."""
    for name in hypothesis.fields:
        if name not in sample.texts:
            raise ToucheError(f"the documents have no field {name!r}; {choice(name, sample.texts)}")
    return problem_of(hypothesis, dict(counts_of(sample, [hypothesis.analysis])), sample.scores)


def distinct(
    found: Iterable[tuple[Analysis, Fields]],
) -> tuple[dict[Analysis, Fields], dict[Analysis, tuple[Analysis, ...]]]:
    """Analyses that differ on the sample, and those that are the same as one of them."""
    counts: dict[Analysis, Fields] = {}
    twins: dict[Analysis, tuple[Analysis, ...]] = {}
    for analysis, fields in found:
        for other, known in counts.items():
            if all(fields[name].same_as(known[name]) for name in fields):
                twins[other] = (*twins.get(other, ()), analysis)
                break
        else:
            counts[analysis] = fields
    return counts, twins


def chosen_documents(sample: Sample, of_round: Round) -> Integers:
    """The places of a round's documents, ascending."""
    places: dict[str, list[int]] = {}
    for place, topic in enumerate(sample.topics):
        places.setdefault(topic, []).append(place)
    most_first = sorted(places.values(), key=len, reverse=True)
    chosen = [place for of_topic in most_first for place in _spread(of_topic, of_round.per_topic)]
    return np.array(sorted(chosen[: of_round.documents]))


def problem_of(hypothesis: Hypothesis, counts: Mapping[Analysis, Fields], scores: Array) -> Problem:
    """A hypothesis on documents with these counts and scores."""
    fields = counts[hypothesis.analysis]
    return Problem(hypothesis, tuple(fields[name] for name in hypothesis.fields), scores)


def _of(fields: Fields, chosen: Integers) -> Fields:
    return {name: counts.of(chosen) for name, counts in fields.items()}


def ranked(fits: Iterable[Fit]) -> list[Fit]:
    """The best first: by the share of scores that are met less the floor, then by the median error.

    Between equal shares the analyses go first that engines have by default.
    """
    return sorted(fits, key=lambda fit: (-fit.gain, not fit.hypothesis.analysis.named, fit.median))


def kept(fits: Sequence[Fit], count: int) -> list[Fit]:
    """The best by either figure, and the best of so many values on each axis, to tell the winner from."""
    by_median = sorted(fits, key=lambda fit: fit.median)
    chosen = {fit.hypothesis for fit in (*fits[:count], *by_median[:count])}
    for axis in fits[0].hypothesis.axes:
        of_values: dict[str, Hypothesis] = {}
        for hypothesis in (each.hypothesis for each in fits):
            of_values.setdefault(hypothesis.axes[axis], hypothesis)
        chosen |= set(list(of_values.values())[:count])
    return [fit for fit in fits if fit.hypothesis in chosen]


def _spread(places: Sequence[int], count: int) -> list[int]:
    """So many of a topic's places, from its best document to its worst."""
    if len(places) <= count:
        return list(places)
    return [places[int(at)] for at in np.linspace(0, len(places) - 1, count)]


def _solve(slack: Array, scales: Sequence[float], problem: Problem) -> Fit:
    """In a process of its own: linear algebra needs more of the stack than one that runs Java has left."""
    return _fit_of(problem, fit(problem, scales), slack)


def _fit_of(problem: Problem, numbers: Array, slack: Array) -> Fit:
    errors = np.maximum(np.abs(problem.residuals(numbers)) - slack, 0)
    return Fit(problem.hypothesis, numbers, standard_errors(problem, numbers, errors <= MET), errors)


def _solve_with_votes(slack: Array, scales: Sequence[float], problem: Problem) -> Fit:
    """The same, with votes for a maximum, which the search has no time for before its last round."""
    if problem.hypothesis.combination != MAXIMUM:
        return _solve(slack, scales, problem)
    numbers, fits = problem.begin(), []
    for again in (scales, scales[_COARSE:]):
        numbers = voted(problem, fit(problem, again, numbers), slack + MET)
        fits.append(_fit_of(problem, numbers, slack))
    return ranked(fits)[0]


def _scales(of_round: Round, sample: Sample) -> tuple[float, ...]:
    """Those of a round that are no finer than the decimals of the scores; below, rounding is an outlier."""
    return tuple(each for each in of_round.scales if each >= 0.99 * 10.0**-sample.decimals)


def _same(before: Round, now: Round, fits: Sequence[Fit], chosen: Integers) -> bool:
    """Whether a round takes the documents of the one before, at the same scales."""
    return before.scales == now.scales and len(fits[0].errors) == len(chosen)


def _varied(fits: Sequence[Fit]) -> list[Hypothesis]:
    """The leading hypotheses with other weights and lengths."""
    return [more for fit in fits[:_VARIED] for more in fit.hypothesis.variants()]


def _solved(
    executor: ProcessPoolExecutor,
    solve: partial[Fit],
    problems: Sequence[Problem],
    known: Sequence[Fit],
    told: str,
) -> list[Fit]:
    """The fits of problems, the best first; those that are known are not fitted again."""
    fits = {fit.hypothesis: fit for fit in known}
    new = [each for each in problems if each.hypothesis not in fits]
    again = [fits[each.hypothesis] for each in problems if each.hypothesis in fits]
    solved = executor.map(solve, new, chunksize=_BATCH)
    try:
        return ranked([*again, *watched(solved, told, "hypotheses", len(new))])
    except BrokenProcessPool as error:
        raise ToucheError(_DIED) from error


@contextmanager
def _processes() -> Iterator[ProcessPoolExecutor]:
    """A process for each processor: spawned, as one that runs Java cannot be forked, with a thread each."""
    threads = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(threads)
    os.environ[threads] = "1"  # read when a process begins
    try:
        executor = ProcessPoolExecutor(processors(), mp_context=get_context("spawn"))
        try:
            yield executor
        finally:
            executor.shutdown(cancel_futures=True)
    finally:
        if before is None:
            del os.environ[threads]
        else:
            os.environ[threads] = before
