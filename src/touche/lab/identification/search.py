"""Searches all hypotheses: fits them to some documents, then the best and similar ones to all documents."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice, repeat

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError, choice
from touche.io.processes import Pool
from touche.io.progress import processors, watched
from touche.lab.identification.closed import NEGLIGIBLE, closed_space, fit_closed, with_fitted_weight
from touche.lab.identification.counts import NAMED, CandidateAnalysis, Fields, count_terms
from touche.lab.identification.fitting import LEAST_GAIN, SCALES, Fit, Problem, describe_fit, fit
from touche.lab.identification.hypotheses import Hypothesis, space
from touche.lab.identification.samples import Integers, Sample

_BATCH = 4  # problems sent to a process at a time
CLOSED = 0.8  # share of scores that a closed form must reproduce
_ROUGH = 1e-3  # the smallest gain of coarse scales, while fits only select hypotheses

_log = logging.getLogger(__name__)


EqualAnalyses = Mapping[CandidateAnalysis, Sequence[CandidateAnalysis]]
"""Analyses that weren't tried, because others give the same results on a sample, by the analysis that was."""


def search(
    sample: Sample, documents: Iterable[AnyDocument] | None = None
) -> tuple[list[Fit], EqualAnalyses, int]:
    """Fits all hypotheses to a sample's scores, on all processors.

    Closed forms come first, using the statistics of all documents. If one of them fits, the search is over.
    They aren't tried if many of the run's documents aren't in the dataset. These documents contain the
    topics' terms, so the run's collection has other statistics than the dataset.

    Args:
        sample: the sample.
        documents: all the dataset's documents; without them, closed forms aren't tried.

    Returns:
        The fits to all documents, best first; equal analyses; and how many hypotheses were tried.

    Raises:
        ToucheError: if fitting processes die.
    """
    counts = count_terms(sample, documents=documents)
    if documents is not None and sample.can_be_complete:
        fits, tried = _search_closed(sample, counts)
        if fits:
            return fits, {}, tried
    counts, equal_analyses = distinct(counts)
    with _pool() as pool:
        fits, tried = _search_free(sample, counts, pool)
    return fits, equal_analyses, tried


def _search_closed(sample: Sample, counts: Mapping[CandidateAnalysis, Fields]) -> tuple[list[Fit], int]:
    """Fits closed forms to some documents. Then it fits the closed forms that reproduce most scores to all
    documents.

    Each analysis is tried with all hypotheses until one reproduces all scores. From then on, later analyses
    are only tried with that hypothesis's formula and fields (``shape``).

    Returns:
        The fits to all documents, best first (none if no hypothesis reproduces most scores), and how many
        hypotheses were tried.
    """
    few_documents = some_documents(sample)
    all_documents = np.arange(len(sample.scores))
    tried = 0
    fits = dict[Hypothesis, Fit]()
    exact_shapes = set[tuple[str, tuple[str, ...], str]]()  # of hypotheses that reproduce all scores
    for analysis, fields in watched(counts.items(), "fitting", "analyses", len(counts)):
        hypotheses = list(closed_space(list(sample.texts), analysis))
        if exact_shapes:
            hypotheses = [hypothesis for hypothesis in hypotheses if hypothesis.shape in exact_shapes]
        tried += len(hypotheses)
        fits_before = len(fits)
        some_fields = {name: field.select(few_documents) for name, field in fields.items()}
        for hypothesis in hypotheses:
            on_some = fit_closed(_problem(hypothesis, some_fields, sample, few_documents))
            if on_some.share() < CLOSED:
                continue
            on_all = with_fitted_weight(fit_closed(_problem(hypothesis, fields, sample, all_documents)))
            weight = on_all.hypothesis.weight
            is_negligible = weight is not None and weight < NEGLIGIBLE
            if on_all.share() >= CLOSED and not is_negligible:
                # A free weight can end up as 1, and then the hypothesis was already tried with that
                # weight.
                fits.setdefault(on_all.hypothesis, on_all)
        if len(fits) == fits_before:
            _log.debug("dropped %d formulas of %s: none reproduces most scores", len(hypotheses), analysis)
        exact_shapes |= {fit.hypothesis.shape for fit in fits.values() if fit.share() == 1}
    return ranked(fits.values()), tried


def _search_free(
    sample: Sample, counts: Mapping[CandidateAnalysis, Fields], pool: Pool
) -> tuple[list[Fit], int]:
    """Fits hypotheses with a free parameter per term.

    Two rounds fit fewer and fewer hypotheses to more documents, and the last ones are fitted to all
    documents. Then we fit hypotheses that differ from the best one on a single axis, until none is better.

    Returns:
        The fits to all documents, best first, and how many hypotheses were tried.
    """
    fit_all = partial(_fit_all, pool, sample, counts)
    searched = [hypothesis for hypothesis in space(list(sample.texts)) if hypothesis.analysis in counts]
    fits = fit_all(searched, some_documents(sample), (1.0, 0.1, 0.01), "round 1", _ROUGH)
    hypotheses = _best(fits, 100, "round 1")
    documents = some_documents(sample, most=1000, per_topic=40)
    fits = fit_all(hypotheses, documents, SCALES, "round 2", _ROUGH)
    hypotheses = _best(fits, 3, "round 2")
    all_documents = np.arange(len(sample.scores))
    fits = []  # to all documents
    while hypotheses:
        fits = ranked([*fits, *fit_all(hypotheses, all_documents, SCALES, "all scores")])
        fitted = {fit.hypothesis for fit in fits}
        relatives = dict.fromkeys(fits[0].hypothesis.relatives(searched))
        hypotheses = [relative for relative in relatives if relative not in fitted]
    # Relatives' weights and offsets can be outside the searched space.
    return fits, len({*searched, *(fit.hypothesis for fit in fits)})


def _fit_all(
    pool: Pool,
    sample: Sample,
    counts: Mapping[CandidateAnalysis, Fields],
    hypotheses: Sequence[Hypothesis],
    documents: Integers,
    scales: Sequence[float],
    label: str,
    least_gain: float = LEAST_GAIN,
) -> list[Fit]:
    """Fits hypotheses to documents, given by their indexes in the sample. Returns the best fit first."""
    counts_of_documents = {
        analysis: {name: field.select(documents) for name, field in fields.items()}
        for analysis, fields in counts.items()
    }
    problems = [
        _problem(hypothesis, counts_of_documents[hypothesis.analysis], sample, documents)
        for hypothesis in hypotheses
    ]
    scales = _scales(scales, sample)
    solved = pool.map(solve, problems, repeat(scales), repeat(least_gain), chunksize=_BATCH)
    return ranked(watched(solved, f"fitting, {label}", "hypotheses", len(problems)))


def _best(fits: Sequence[Fit], count: int, when: str) -> list[Hypothesis]:
    """Returns the best hypotheses after a round, and logs why the others are dropped.

    Those with the smallest medians are kept too, and the best for some values on each axis.

    Args:
        fits: the fits, best first, as from ``ranked``.
        count: how many first fits, how many with small medians, and how many values per axis.
        when: the round.
    """
    by_median = sorted(fits, key=lambda fit: fit.median)
    chosen = {fit.hypothesis for fit in (*fits[:count], *by_median[:count])}
    for axis in fits[0].hypothesis.axes:
        by_value: dict[str, Hypothesis] = {}
        for fitted in fits:
            by_value.setdefault(fitted.hypothesis.axes[axis], fitted.hypothesis)
        chosen.update(islice(by_value.values(), count))
    for fitted in fits:
        if fitted.hypothesis not in chosen:
            quality = f"{fitted.share():.1%} of {len(fitted.errors)} scores, median error {fitted.median:.0e}"
            _log.debug("%s dropped %s: %s", when, fitted.hypothesis, quality)
    return [fit.hypothesis for fit in fits if fit.hypothesis in chosen]


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
        fields = count_terms(sample, [hypothesis.analysis])[hypothesis.analysis]
        problems.append(_problem(hypothesis, fields, sample, np.arange(len(sample.scores))))
    scales = [_scales(SCALES, sample) for sample in samples]
    with _pool() as pool:
        return list(pool.map(solve, problems, scales))


def distinct(
    analysed: Mapping[CandidateAnalysis, Fields],
) -> tuple[dict[CandidateAnalysis, Fields], EqualAnalyses]:
    """Returns analyses that differ on the sample, and for each the later ones with the same results."""
    counts: dict[CandidateAnalysis, Fields] = {}
    equal_analyses: dict[CandidateAnalysis, list[CandidateAnalysis]] = {}
    for analysis, fields in analysed.items():
        for earlier, earlier_fields in counts.items():
            if all(fields[name].same_as(earlier_fields[name]) for name in fields):
                equal_analyses.setdefault(earlier, []).append(analysis)
                break
        else:  # no earlier analysis gives the same results
            counts[analysis] = fields
    return counts, equal_analyses


def some_documents(sample: Sample, most: int = 160, per_topic: int = 20) -> Integers:
    """Chooses documents evenly between each topic's best and worst. Returns ascending indexes.

    If there are more topics than ``most``, the topics with the most documents are kept.
    """
    topics = np.array(sample.topics)
    # A sample is ordered by topic and score, so each topic's rows start with its best document.
    by_topic = [np.flatnonzero(topics == topic) for topic in dict.fromkeys(sample.topics)]
    chosen = [
        rows[np.linspace(0, len(rows) - 1, min(len(rows), per_topic)).astype(int)]
        for rows in sorted(by_topic, key=len, reverse=True)
    ]
    return np.sort(np.concatenate(chosen)[:most])


def solve(problem: Problem, scales: Sequence[float], least_gain: float = LEAST_GAIN) -> Fit:
    """Fits a problem.

    Call it in a process without Java: linear algebra needs more stack than Java leaves.
    """
    return describe_fit(problem, fit(problem, scales, least_gain))


def ranked(fits: Iterable[Fit]) -> list[Fit]:
    """Returns the fits, best first: by the share of reproduced scores minus the floor.

    Ties are broken by engines' default analyses, then small median errors, then names.
    """
    named = NAMED.values()  # the default analyses; False sorts before True

    def rank(fit: Fit) -> tuple[float, bool, float, str]:
        return -fit.gain, fit.hypothesis.analysis not in named, fit.median, str(fit.hypothesis)

    return sorted(fits, key=rank)


def _problem(hypothesis: Hypothesis, fields: Fields, sample: Sample, rows: Integers) -> Problem:
    """Returns a hypothesis's problem for some of a sample's documents."""
    means = tuple(sample.mean_lengths[name] for name in hypothesis.fields if name in sample.mean_lengths)
    # A closed form computes mean lengths from the documents instead. If any field's mean length is
    # unknown, those of all fields are fitted.
    has_known_means = len(means) == len(hypothesis.fields) and not hypothesis.formula
    return Problem(
        hypothesis=hypothesis,
        counts=tuple(fields[name] for name in hypothesis.fields),
        scores=sample.scores[rows],
        slack=sample.slack[rows],
        mean_lengths=means if has_known_means else (),
    )


def _scales(scales: Sequence[float], sample: Sample) -> tuple[float, ...]:
    """Drops scales finer than the scores' decimals."""
    finest = float(
        f"1e-{sample.decimals}"
    )  # not 0.1 ** decimals, which can be slightly above the equal scale
    return tuple(scale for scale in scales if scale >= finest)


@contextmanager
def _pool() -> Iterator[Pool]:
    """Starts a process per processor, each using one thread for linear algebra."""
    try:
        # Each process begins with this call, because numpy reads the variable when it's imported.
        with Pool(processors(), os.putenv, "OPENBLAS_NUM_THREADS", "1") as pool:
            pool.check("fit")
            yield pool
    except BrokenProcessPool as error:
        raise ToucheError("the fitting processes died; allow more memory") from error
