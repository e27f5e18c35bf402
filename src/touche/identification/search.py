"""Searches all hypotheses in rounds; each round fits fewer hypotheses to more documents."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice, repeat
from typing import NamedTuple

import numpy as np

from touche.documents.records import AnyDocument
from touche.errors import ToucheError, choice
from touche.identification.closed import NEGLIGIBLE, closed_space, fit_closed, with_fitted_weight
from touche.identification.counts import NAMED, CandidateAnalysis, Fields, count_terms
from touche.identification.fitting import SCALES, Fit, Problem, begin_of_maximum, describe_fit, fit
from touche.identification.hypotheses import MAXIMUM, Hypothesis, space
from touche.identification.samples import Integers, Sample
from touche.identification.votes import voted
from touche.io.processes import Pool
from touche.io.progress import processors, watched

_VARYING = 2  # after this round, weights and lengths of the first hypotheses are varied
_VARIED = 3  # first hypotheses that are varied
_COARSE = 3  # scales that are skipped after votes
_BATCH = 4  # problems that a process receives at a time
CLOSED = 0.8  # the share of scores that a hypothesis in closed form has to reproduce

_log = logging.getLogger(__name__)


class Round(NamedTuple):
    """Limits of a round: documents (from topics with most of them first), and remaining hypotheses.

    Hypotheses that differ from the first few (``relatives``) only on one axis also remain, because least
    squares may have stopped at a bad place.
    """

    documents: int
    per_topic: int
    scales: tuple[float, ...]
    hypotheses: int
    relatives: int = 0


_ALL = 10**9
ROUNDS = (
    Round(documents=160, per_topic=20, scales=(1.0, 0.1, 0.01), hypotheses=100, relatives=3),
    Round(documents=320, per_topic=40, scales=SCALES, hypotheses=12, relatives=1),
    Round(documents=1000, per_topic=40, scales=SCALES, hypotheses=3),
    Round(documents=_ALL, per_topic=_ALL, scales=SCALES, hypotheses=_ALL),
)


Twins = Mapping[CandidateAnalysis, Sequence[CandidateAnalysis]]
"""Analyses with equal results on a sample, by the analysis that represents them."""


def search(sample: Sample, documents: Iterable[AnyDocument] | None = None) -> tuple[list[Fit], Twins, int]:
    """Fits all hypotheses to the scores of a sample, on all processors.

    Hypotheses in closed form are first, because they need no other search if the documents are complete.

    Args:
        sample: the sample.
        documents: all documents of the dataset; without them, there are no hypotheses in closed form.

    Returns:
        The fits to all documents, best first; analyses with equal results; the number of hypotheses.

    Raises:
        ToucheError: if fitting processes die.
    """
    counts = dict(count_terms(sample, documents=documents))
    if documents is not None:
        fits, tried = _search_closed(sample, counts)
        if fits:
            return fits, {}, tried
    with _pool() as pool:
        return _search_free(sample, counts, pool)


def _search_closed(sample: Sample, counts: Mapping[CandidateAnalysis, Fields]) -> tuple[list[Fit], int]:
    """Fits hypotheses in closed form to some documents, and those that reproduce most of these to all.

    The first analysis by which a hypothesis reproduces all scores is the last one for which all hypotheses
    are tried. For every other analysis, only those are tried that have the same formula and fields.

    Returns:
        The fits to all documents, best first; none if no hypothesis reproduces most scores; the number of
        hypotheses.
    """
    some = chosen_documents(sample, ROUNDS[0])
    every = np.arange(len(sample.scores))
    tried = 0
    fits = dict[Hypothesis, Fit]()
    shapes = set[tuple[str, tuple[str, ...], str]]()
    for analysis, fields in watched(counts.items(), "fitting", "analyses", len(counts)):
        hypotheses = [*closed_space([*sample.texts], [analysis])]
        if shapes:
            hypotheses = [one for one in hypotheses if one.shape in shapes]
        tried += len(hypotheses)
        before = len(fits)
        some_fields = {name: counts.select(some) for name, counts in fields.items()}
        for hypothesis in hypotheses:
            if fit_closed(_problem(hypothesis, some_fields, sample, some)).share() >= CLOSED:
                closed = with_fitted_weight(fit_closed(_problem(hypothesis, fields, sample, every)))
                if closed.share() >= CLOSED and (closed.hypothesis.weight or 0.0) >= NEGLIGIBLE:
                    fits.setdefault(closed.hypothesis, closed)
        if len(fits) == before:
            _log.debug("dropped %d formulas of %s: none reproduces most scores", len(hypotheses), analysis)
        shapes |= {fit.hypothesis.shape for fit in fits.values() if fit.share() == 1}
    return ranked(fits.values()), tried


def _search_free(
    sample: Sample, counts: Mapping[CandidateAnalysis, Fields], pool: Pool
) -> tuple[list[Fit], Twins, int]:
    """Fits hypotheses with a free number for each term in rounds."""
    counts, twins = distinct(counts.items())
    every = [one for one in space(list(sample.texts)) if one.analysis in counts]
    hypotheses = every
    tried = {*every}
    for number, limits in enumerate(ROUNDS, 1):
        chosen = chosen_documents(sample, limits)
        some = {
            analysis: {name: field.select(chosen) for name, field in fields.items()}
            for analysis, fields in counts.items()
        }
        problems = [_problem(one, some[one.analysis], sample, chosen) for one in hypotheses]
        scales = _scales(limits, sample)
        votes = number == len(ROUNDS)
        solved = pool.map(solve, problems, repeat(scales), repeat(votes), chunksize=_BATCH)
        label = f"fitting, round {number} of {len(ROUNDS)}"
        fits = ranked(watched(solved, label, "hypotheses", len(problems)))
        hypotheses = [fit.hypothesis for fit in best(fits, limits.hypotheses)]
        leaders = [fit.hypothesis for fit in fits[: limits.relatives]]
        hypotheses += [one for one in every if any(leader.is_relative(one) for leader in leaders)]
        if number == _VARYING:
            hypotheses += [variant for fit in fits[:_VARIED] for variant in fit.hypothesis.variants()]
        hypotheses = list(dict.fromkeys(hypotheses))
        tried.update(hypotheses)
        remaining = {*hypotheses}
        for fitted in fits:
            if fitted.hypothesis not in remaining:
                share = f"{fitted.share():.1%} of {len(chosen)} scores, median error {fitted.median:.0e}"
                _log.debug("round %d dropped %s: %s", number, fitted.hypothesis, share)
    return fits, twins, len(tried)


def fits_of(hypothesis: Hypothesis, samples: Sequence[Sample]) -> list[Fit]:
    """Fits one hypothesis to all scores of each sample.

    Raises:
        ToucheError: if a sample lacks a field of the hypothesis, or fitting processes die.
    """
    problems = []
    for sample in samples:
        for name in hypothesis.fields:
            if name not in sample.texts:
                raise ToucheError(f"the documents have no field {name!r}; {choice(name, sample.texts)}")
        ((_, fields),) = count_terms(sample, [hypothesis.analysis])
        problems.append(_problem(hypothesis, fields, sample, np.arange(len(sample.scores))))
    scales = [_scales(ROUNDS[-1], sample) for sample in samples]
    with _pool() as pool:
        return list(pool.map(solve, problems, scales, repeat(True)))


def distinct(
    analysed: Iterable[tuple[CandidateAnalysis, Fields]],
) -> tuple[dict[CandidateAnalysis, Fields], Twins]:
    """Returns analyses that differ on the sample, and for each of them those with equal results."""
    counts: dict[CandidateAnalysis, Fields] = {}
    twins: dict[CandidateAnalysis, list[CandidateAnalysis]] = {}
    for analysis, fields in analysed:
        for other, others in counts.items():
            if all(fields[name].same_as(others[name]) for name in fields):
                twins.setdefault(other, []).append(analysis)
                break
        else:
            counts[analysis] = fields
    return counts, twins


def chosen_documents(sample: Sample, limits: Round) -> Integers:
    """Chooses a round's documents, evenly from each topic's best to its worst; returns ascending indexes."""
    topics = np.array(sample.topics)
    by_topic = [np.flatnonzero(topics == topic) for topic in dict.fromkeys(sample.topics)]
    chosen = [
        rows[np.linspace(0, len(rows) - 1, min(len(rows), limits.per_topic)).astype(int)]
        for rows in sorted(by_topic, key=len, reverse=True)
    ]
    return np.sort(np.concatenate(chosen)[: limits.documents])


def solve(problem: Problem, scales: Sequence[float], votes: bool) -> Fit:
    """Fits a problem; a maximum also gets votes, which are too slow before the last round.

    Run it in a separate process: linear algebra needs more stack than a process with Java has left.
    """
    if not votes or problem.hypothesis.combination != MAXIMUM:
        return describe_fit(problem, fit(problem, scales))
    first = voted(problem, fit(problem, scales, begin_of_maximum(problem)))
    second = voted(problem, fit(problem, scales[_COARSE:], first))
    return ranked([describe_fit(problem, first), describe_fit(problem, second)])[0]


def ranked(fits: Iterable[Fit]) -> list[Fit]:
    """Returns the fits, best first: by the share of reproduced scores minus the floor, then by the median.

    Among equal shares, engines' default analyses come first; ties are broken by the name.
    """
    named = NAMED.values()

    def rank(fit: Fit) -> tuple[float, bool, float, str]:
        return -fit.gain, fit.hypothesis.analysis not in named, fit.median, str(fit.hypothesis)

    return sorted(fits, key=rank)


def best(fits: Sequence[Fit], count: int) -> list[Fit]:
    """Returns the best fits by share and by median, and the fits of the best values on each axis."""
    by_median = sorted(fits, key=lambda fit: fit.median)
    chosen = {fit.hypothesis for fit in (*fits[:count], *by_median[:count])}
    for axis in fits[0].hypothesis.axes:
        by_value: dict[str, Hypothesis] = {}
        for fitted in fits:
            by_value.setdefault(fitted.hypothesis.axes[axis], fitted.hypothesis)
        chosen.update(islice(by_value.values(), count))
    return [fit for fit in fits if fit.hypothesis in chosen]


def _problem(hypothesis: Hypothesis, fields: Fields, sample: Sample, rows: Integers) -> Problem:
    """Returns the problem of a hypothesis on some documents of a sample, with their counts."""
    means = tuple(sample.mean_lengths[name] for name in hypothesis.fields if name in sample.mean_lengths)
    is_known = len(means) == len(hypothesis.fields) and not hypothesis.formula
    return Problem(
        hypothesis=hypothesis,
        counts=tuple(fields[name] for name in hypothesis.fields),
        scores=sample.scores[rows],
        slack=sample.slack[rows],
        mean_lengths=means if is_known else (),
    )


def _scales(limits: Round, sample: Sample) -> tuple[float, ...]:
    """Returns the scales of a round that are not finer than the scores' decimals."""
    return tuple(scale for scale in limits.scales if scale >= 0.99 * 10.0**-sample.decimals)


@contextmanager
def _pool() -> Iterator[Pool]:
    """Starts a process for each processor, with one thread for linear algebra."""
    threads = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(threads)
    os.environ[threads] = "1"  # read when a process starts
    try:
        with Pool(processors()) as pool:
            pool.check("fit")
            yield pool
    except BrokenProcessPool as error:
        raise ToucheError("the fitting processes died; allow more memory") from error
    finally:
        os.environ.pop(threads)
        os.environ.update({threads: before} if before is not None else {})
