"""Fits closed forms: formulas in which the statistics of a complete dataset replace the free parameters of
terms.

Only a few numbers have to be fitted, such as mu, k1 and b. So if a formula reproduces all scores of a run,
the run was made with it; a wrong formula reproduces only few.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from touche.lab.identification.counts import CandidateAnalysis
from touche.lab.identification.differentiable_models import (
    BM25,
    CLASSIC,
    DLH,
    DPH,
    K1,
    LENGTHS,
    LM_DIRICHLET,
    MU,
    PL2,
    B,
    C,
)
from touche.lab.identification.fitting import Fit, Problem
from touche.lab.identification.hypotheses import Hypothesis, hypotheses_on
from touche.lab.identification.parameters import near
from touche.lab.identification.samples import Array
from touche.scan.statistics import Statistics

# Rank_bm25 replaces negative idf with this number, which depends on all terms in the collection.
FLOOR = "lowest idf"
WEIGHT = "weight"  # the name of the second field's weight among the parameters
# If the second field's weight is smaller, the hypothesis is the same as one with only the first field.
NEGLIGIBLE = 1e-3
_CALLS = 100  # maximum number of evaluations in one fit
# Limit for the logarithms of parameters: far above realistic values, but products of several parameters are
# still finite.
_LARGEST_LOGARITHM = 30.0

Parameters = Mapping[str, float]


@dataclass(frozen=True)
class Formula:
    """A formula with known statistics.

    Attributes:
        model: the model in ``MODELS`` with the same form.
        lengths: how its engines store lengths.
        begins: initial values for each parameter; the fit starts from the best of them.
        own: maps its parameters and a field's statistics to each term's number, as the model defines it; see
            ``touche.lab.identification.differentiable_models``.
    """

    model: str
    lengths: Sequence[str]
    begins: Mapping[str, Sequence[float]]
    own: Callable[[Parameters, Statistics], Array]


def _lucene_idf(known: Statistics) -> Array:
    return np.log1p((known.documents - known.df + 0.5) / (known.df + 0.5))


def _okapi(values: Parameters, known: Statistics) -> Array:
    """Returns (k1 + 1) idf for each term. rank_bm25 replaces all negative idf with the same number, which is
    a free parameter here.
    """
    idf = np.log((known.documents - known.df + 0.5) / (known.df + 0.5))
    return (values[K1] + 1) * np.where(idf < 0, values[FLOOR], idf)


def _information(values: Parameters, known: Statistics) -> Array:
    """Returns each term's information, log2(avgdl N / ttf); avgdl N is the number of tokens."""
    return np.log2(known.tokens / known.ttf)


_ANY = tuple(LENGTHS)
_EXACT = ("exact",)
_K1_AND_B = {K1: (0.9, 1.6), B: (0.4, 0.75)}  # initial values
FORMULAS: Mapping[str, Formula] = {
    LM_DIRICHLET: Formula(
        model=LM_DIRICHLET,
        lengths=_ANY,
        begins={MU: (500.0, 2000.0)},
        own=lambda values, known: np.log(values[MU] * (known.ttf + 1) / (known.tokens + 1)),
    ),
    BM25: Formula(model=BM25, lengths=_ANY, begins=_K1_AND_B, own=lambda values, known: _lucene_idf(known)),
    "BM25 of Lucene before 8": Formula(
        model=BM25,
        lengths=_ANY,
        begins=_K1_AND_B,
        own=lambda values, known: (values[K1] + 1) * _lucene_idf(known),
    ),
    "BM25Okapi of rank_bm25": Formula(
        model=BM25, lengths=_EXACT, begins=_K1_AND_B | {FLOOR: (1.0,)}, own=_okapi
    ),
    "Terrier's TF_IDF": Formula(
        model=BM25,
        lengths=_EXACT,
        begins=_K1_AND_B,
        own=lambda values, known: values[K1] * np.log2(known.documents / known.df + 1),
    ),
    CLASSIC: Formula(
        model=CLASSIC,
        lengths=_ANY,
        begins={},
        own=lambda values, known: 1 + np.log((known.documents + 1) / (known.df + 1)),
    ),
    DPH: Formula(model=DPH, lengths=_EXACT, begins={}, own=_information),
    DLH: Formula(model=DLH, lengths=_EXACT, begins={}, own=_information),
    PL2: Formula(
        model=PL2,
        lengths=_EXACT,
        begins={C: (1.0, 5.0)},
        own=lambda values, known: np.log(known.ttf / known.documents),
    ),
}


def _shared(values: Parameters, known: Statistics) -> list[float]:
    """Returns the numbers shared by all terms of a field, in the model's order. All are positive."""
    # At least 1, because it can happen that no document has this field, and 0 can't be a divisor.
    documents = max(known.documents, 1)
    tokens = max(known.tokens, 1)
    if K1 in values:  # BM25 has c0 = k1 (1 - b) and c1 = k1 b / avgdl, where avgdl is tokens / documents
        # The fit can try b >= 1 or tiny parameters, but the logarithms of c0 and c1 must be finite.
        c0 = max(values[K1] * (1 - values[B]), 1e-12)
        return [c0, max(values[K1] * values[B], 1e-12) * documents / tokens]
    if C in values:  # PL2 has c avgdl
        return [values[C] * tokens / documents]
    return [values[MU]] if MU in values else []


def closed_space(fields: Sequence[str], analysis: CandidateAnalysis) -> Iterator[Hypothesis]:
    """Yields all closed-form hypotheses with an analysis, on documents with these fields."""
    for name, formula in FORMULAS.items():
        yield from hypotheses_on(fields, formula.model, analysis, formula.lengths, formula=name)


def fit_closed(problem: Problem) -> Fit:
    """Fits a closed form's parameters, and rounds them if no reproduced score gets lost.

    The parameters are fitted to all scores, then to the better half, so that a few wrong scores don't move
    them.

    Args:
        problem: the hypothesis with a dataset's statistics.
    """
    from scipy.optimize import leastsq  # takes 490 ms

    begins = dict(FORMULAS[problem.hypothesis.formula].begins)
    if problem.hypothesis.weight is None:  # the second field's weight is a free parameter
        begins[WEIGHT] = (1.0, 0.25)  # both fields have equal weight, or the second one is less important
    names = [*begins]

    def residuals(logarithms: Array) -> Array:
        numbers = _numbers(problem, _parameters(names, logarithms))
        # If scores aren't finite with some parameters, return a huge error, so that the fit moves away from
        # them.
        return np.nan_to_num(problem.residuals(numbers), nan=1e6, posinf=1e6, neginf=-1e6)

    def error(logarithms: Array) -> float:
        return float(np.abs(residuals(logarithms)).sum())

    # Parameters are positive, so we fit their logarithms, starting from the best initial values.
    best = min(map(np.log, product(*begins.values())), key=error)
    # Some formulas have no parameters. With fewer scores than parameters, the initial values remain.
    if 0 < len(names) <= len(problem.scores):
        # ``residuals`` turns scores that aren't numbers into errors, so numpy needn't warn. With
        # full_output, scipy doesn't warn when a fit ends early.
        with np.errstate(all="ignore"):
            best = leastsq(residuals, best, full_output=True, maxfev=_CALLS)[0]
            errors = np.abs(residuals(best))
            is_better_half = errors <= np.median(errors)
            best = leastsq(lambda x: residuals(x) * is_better_half, best, full_output=True, maxfev=_CALLS)[0]
    values = _parameters(names, best)
    as_fitted = _described(problem, values)
    # Replace values that are close to a round number with that number.
    rounded = _described(problem, {name: near(value) or value for name, value in values.items()})
    return rounded if rounded.share() >= as_fitted.share() else as_fitted


def with_fitted_weight(fit: Fit) -> Fit:
    """Fixes the second field's fitted weight in the hypothesis, if it was free.

    The weight still counts as one of the fit's parameters, and as a free one, because it was fitted.
    """
    if WEIGHT not in fit.parameters:
        return fit
    problem = replace(fit.problem, hypothesis=replace(fit.hypothesis, weight=fit.parameters[WEIGHT]))
    return replace(fit, problem=problem, numbers=fit.numbers[:-1])  # a free weight is the last number


def _parameters(names: Sequence[str], logarithms: Array) -> dict[str, float]:
    """Returns parameters by name from their logarithms."""
    values = np.exp(np.clip(logarithms, -_LARGEST_LOGARITHM, _LARGEST_LOGARITHM))
    return dict(zip(names, values.tolist(), strict=True))


def _described(problem: Problem, values: Parameters) -> Fit:
    """Describes the fit of a problem with its formula's parameters."""
    numbers = _numbers(problem, values)
    return Fit(
        problem=problem,
        numbers=numbers,
        deviations=np.zeros(len(numbers)),  # not computed, because nobody uses them
        errors=np.nan_to_num(problem.errors(numbers), nan=np.inf),  # a score that is NaN isn't reproduced
        free_parameters=len(values),
        parameters=values,
    )


def _numbers(problem: Problem, values: Parameters) -> Array:
    """Returns the values of the problem's free parameters, in order, given its formula's parameters."""
    formula = FORMULAS[problem.hypothesis.formula]
    numbers = np.zeros(problem.size)
    # All of a problem's numbers are logarithms, except the terms'.
    columns_of_fields = zip(problem.counts, problem.shared_columns, problem.own_columns, strict=True)
    for counts, shared_columns, own_columns in columns_of_fields:
        numbers[shared_columns] = np.log(_shared(values, counts.statistics))
        numbers[own_columns] = formula.own(values, counts.statistics)
    if problem.hypothesis.weight is None:  # a free weight is the last number
        numbers[-1] = np.log(values[WEIGHT])
    return numbers
