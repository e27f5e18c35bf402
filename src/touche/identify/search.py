"""From all hypotheses to the few that are fitted to every document, in rounds that halve them and more."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

import numpy as np

from touche.errors import ToucheError, choice
from touche.identify.counts import NAMED, Analysis, Fields, counts_of
from touche.identify.fitting import SCALES, Fit, Problem, begin_of_maximum, fit, fit_of
from touche.identify.hypotheses import MAXIMUM, Hypothesis, space
from touche.identify.samples import Integers, Sample
from touche.identify.votes import voted
from touche.processes import Pool
from touche.progress import processors, watched

_VARYING, _VARIED = 2, 3  # after this round weights and lengths of so many leading hypotheses are varied
_COARSE = 3  # scales that are left out when a fit goes on from votes
_BATCH = 4  # problems that a process takes at a time


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
class Ranking:
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


def search(sample: Sample) -> Ranking:
    """Fits all hypotheses to the scores of a sample, on all processors.

    Raises:
        ToucheError: if the processes that fit die.
    """
    counts, twins = distinct(watched(counts_of(sample), "analysing", "analyses", None))
    hypotheses = [each for each in space(list(sample.texts)) if each.analysis in counts]
    tried = set(hypotheses)
    with _pool() as pool:
        for number, now in enumerate(ROUNDS, 1):
            chosen = chosen_documents(sample, now)
            some = {analysis: _of(fields, chosen) for analysis, fields in counts.items()}
            problems = [problem_of(each, some, sample, chosen) for each in hypotheses]
            scales, votes = repeat(_scales(now, sample)), repeat(now is ROUNDS[-1])
            solved = pool.map(solve, problems, scales, votes, chunksize=_BATCH)
            label = f"fitting, round {number} of {len(ROUNDS)}"
            fits = ranked(watched(solved, label, "hypotheses", len(problems)))
            hypotheses = [fit.hypothesis for fit in kept(fits, now.kept)]
            if number == _VARYING:
                varied = [variant for fit in fits[:_VARIED] for variant in fit.hypothesis.variants()]
                hypotheses = list(dict.fromkeys([*hypotheses, *varied]))
                tried.update(varied)
    return Ranking(tuple(fits), counts, twins, len(tried))


def fits_of(hypothesis: Hypothesis, samples: Sequence[Sample]) -> list[tuple[Problem, Fit]]:
    """Fits one hypothesis to all scores of each sample: the problems and what solves them.

    Raises:
        ToucheError: if a sample lacks a field of the hypothesis, or the processes that fit die.
    """
    for name in hypothesis.fields:
        if missing := [sample.texts for sample in samples if name not in sample.texts]:
            raise ToucheError(f"the documents have no field {name!r}; {choice(name, missing[0])}")
    counts = [dict(counts_of(sample, [hypothesis.analysis])) for sample in samples]
    problems = [problem_of(hypothesis, *each) for each in zip(counts, samples, strict=True)]
    scales = [_scales(ROUNDS[-1], sample) for sample in samples]
    with _pool() as pool:
        return list(zip(problems, pool.map(solve, problems, scales, repeat(True)), strict=True))


def distinct(
    analysed: Iterable[tuple[Analysis, Fields]],
) -> tuple[dict[Analysis, Fields], dict[Analysis, tuple[Analysis, ...]]]:
    """Separates analyses that differ on the sample from those that are the same as one of them."""
    counts: dict[Analysis, Fields] = {}
    twins: dict[Analysis, tuple[Analysis, ...]] = {}
    for analysis, fields in analysed:
        same = (
            other for other in counts if all(fields[name].same_as(counts[other][name]) for name in fields)
        )
        if other := next(same, None):
            twins[other] = (*twins.get(other, ()), analysis)
        else:
            counts[analysis] = fields
    return counts, twins


def chosen_documents(sample: Sample, of_round: Round) -> Integers:
    """Chooses the places of a round's documents, ascending."""
    places: dict[str, list[int]] = {}
    for place, topic in enumerate(sample.topics):
        places.setdefault(topic, []).append(place)
    most_first = sorted(places.values(), key=len, reverse=True)
    chosen = [place for of_topic in most_first for place in _spread(of_topic, of_round.per_topic)]
    return np.array(sorted(chosen[: of_round.documents]))


def problem_of(
    hypothesis: Hypothesis, counts: Mapping[Analysis, Fields], sample: Sample, chosen: Integers | None = None
) -> Problem:
    """Poses a hypothesis on documents of a sample with these counts: on the chosen ones, or on all."""
    rows = np.arange(len(sample.scores)) if chosen is None else chosen
    fields = counts[hypothesis.analysis]
    return Problem(
        hypothesis, tuple(fields[name] for name in hypothesis.fields), sample.scores[rows], sample.slack[rows]
    )


def solve(problem: Problem, scales: Sequence[float], votes: bool) -> Fit:
    """Fits a problem, with votes for a maximum, which the search has no time for before its last round.

    It needs a process of its own: linear algebra needs more of the stack than a process with Java has left.
    """
    if not votes or problem.hypothesis.combination != MAXIMUM:
        return fit_of(problem, fit(problem, scales))
    first = voted(problem, fit(problem, scales, begin_of_maximum(problem)))
    second = voted(problem, fit(problem, scales[_COARSE:], first))
    return ranked([fit_of(problem, first), fit_of(problem, second)])[0]


def ranked(fits: Iterable[Fit]) -> list[Fit]:
    """The best first: by the share of scores that are met less the floor, then by the median error.

    Between equal shares the analyses go first that engines have by default.
    """
    named = NAMED.values()
    return sorted(fits, key=lambda fit: (-fit.gain, fit.hypothesis.analysis not in named, fit.median))


def kept(fits: Sequence[Fit], count: int) -> list[Fit]:
    """The best by either figure, and the best of so many values on each axis, to tell the winner from."""
    by_median = sorted(fits, key=lambda fit: fit.median)
    chosen = {fit.hypothesis for fit in (*fits[:count], *by_median[:count])}
    for axis in fits[0].hypothesis.axes:
        of_values: dict[str, Hypothesis] = {}
        for each in fits:
            of_values.setdefault(each.hypothesis.axes[axis], each.hypothesis)
        chosen |= set(list(of_values.values())[:count])
    return [fit for fit in fits if fit.hypothesis in chosen]


def _of(fields: Fields, chosen: Integers) -> Fields:
    return {name: counts.of(chosen) for name, counts in fields.items()}


def _spread(places: Sequence[int], count: int) -> list[int]:
    """So many of a topic's places, from its best document to its worst."""
    if len(places) <= count:
        return list(places)
    return [places[int(at)] for at in np.linspace(0, len(places) - 1, count)]


def _scales(of_round: Round, sample: Sample) -> tuple[float, ...]:
    """Those of a round that are no finer than the decimals of the scores; below, rounding is an outlier."""
    return tuple(each for each in of_round.scales if each >= 0.99 * 10.0**-sample.decimals)


@contextmanager
def _pool() -> Iterator[Pool]:
    """Starts a process for each processor, with one thread each for linear algebra."""
    threads = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(threads)
    os.environ[threads] = "1"  # read when a process begins
    try:
        with Pool(processors()) as pool:
            pool.check("fit")
            yield pool
    except BrokenProcessPool as error:
        raise ToucheError("the processes that fit have died; give them more memory") from error
    finally:
        os.environ.pop(threads)
        os.environ.update({threads: before} if before is not None else {})
