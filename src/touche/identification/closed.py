"""Formulas in closed form: the statistics of a complete dataset replace the free numbers of terms.

Only a few numbers remain, such as mu, k1 and b. So a formula that reproduces all scores of a run made them,
and a wrong one reproduces few of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from touche.identification.counts import ANALYSES, CandidateAnalysis
from touche.identification.fitting import Fit, Problem
from touche.identification.hypotheses import MAXIMUM, SUM, Hypothesis, pairs
from touche.identification.models import BM25, CLASSIC, DLH, DPH, K1, LM_DIRICHLET, MU, PL2, C
from touche.identification.parameters import near
from touche.identification.samples import Array
from touche.scan.statistics import Statistics

B, FLOOR, WEIGHT = "b", "lowest idf", "weight"
NEGLIGIBLE = 1e-3  # a weight, below which the hypothesis has only one field
_CALLS = 100  # of a formula in least squares
_BEYOND = 30.0  # the largest logarithm of a parameter

Parameters = Mapping[str, float]
Numbers = Callable[[Parameters, Statistics], tuple[Sequence[float], Array]]
"""Maps parameters and statistics of a field to the shared numbers and the numbers of terms of a model."""


@dataclass(frozen=True)
class Formula:
    """A formula whose statistics are known.

    Attributes:
        model: the name of the model in ``MODELS`` with the same form.
        lengths: the names of the ways in which its engines store lengths.
        begins: initial values of its parameters.
        numbers: maps its parameters and statistics to the numbers of the model.
    """

    model: str
    lengths: Sequence[str]
    begins: Mapping[str, Sequence[float]]
    numbers: Numbers


def _likelihood(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return [values[MU]], np.log(values[MU] * (known.ttf + 1) / (known.tokens + 1))


def _saturated(values: Parameters, known: Statistics, weights: Array) -> tuple[Sequence[float], Array]:
    k1, b = values[K1], values[B]
    return [max(k1 * (1 - b), 1e-12), max(k1 * b, 1e-12) * known.documents / known.tokens], weights


def _lucene_idf(known: Statistics) -> Array:
    return np.log1p((known.documents - known.df + 0.5) / (known.df + 0.5))


def _bm25(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return _saturated(values, known, _lucene_idf(known))


def _older_bm25(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return _saturated(values, known, (values[K1] + 1) * _lucene_idf(known))


def _tf_idf(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return _saturated(values, known, values[K1] * np.log2(known.documents / known.df + 1))


def _okapi(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    idf = np.log((known.documents - known.df + 0.5) / (known.df + 0.5))
    return _saturated(values, known, (values[K1] + 1) * np.where(idf < 0, values[FLOOR], idf))


def _classic(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return [], 1 + np.log((known.documents + 1) / (known.df + 1))


def _odds(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return [], np.log2(known.tokens / known.ttf)


def _poisson(values: Parameters, known: Statistics) -> tuple[Sequence[float], Array]:
    return [values[C] * known.tokens / known.documents], np.log(known.ttf / known.documents)


_LUCENE, _OTHERS = ("one byte", "before Lucene 7"), ("exact",)
_K1_AND_B = {K1: (0.9, 1.6), B: (0.4, 0.75)}
FORMULAS: Mapping[str, Formula] = {
    LM_DIRICHLET: Formula(LM_DIRICHLET, (*_LUCENE, *_OTHERS), {MU: (500.0, 2000.0)}, _likelihood),
    BM25: Formula(BM25, (*_LUCENE, *_OTHERS), _K1_AND_B, _bm25),
    "BM25 of Lucene before 8": Formula(BM25, (*_LUCENE, *_OTHERS), _K1_AND_B, _older_bm25),
    "BM25Okapi of rank_bm25": Formula(BM25, _OTHERS, _K1_AND_B | {FLOOR: (1.0,)}, _okapi),
    "Terrier's TF_IDF": Formula(BM25, _OTHERS, _K1_AND_B, _tf_idf),
    CLASSIC: Formula(CLASSIC, (*_LUCENE, *_OTHERS), {}, _classic),
    DPH: Formula(DPH, _OTHERS, {}, _odds),
    DLH: Formula(DLH, _OTHERS, {}, _odds),
    PL2: Formula(PL2, _OTHERS, {C: (1.0, 5.0)}, _poisson),
}


def closed_space(
    fields: Sequence[str], analyses: Sequence[CandidateAnalysis] = ANALYSES
) -> Iterator[Hypothesis]:
    """Yields all hypotheses in closed form on documents with these fields."""
    shapes: list[tuple[tuple[str, ...], str, float | None]] = [((field,), "", 1.0) for field in fields]
    shapes += product(pairs(fields), (SUM, MAXIMUM), (1.0, None))
    for analysis, (name, formula) in product(analyses, FORMULAS.items()):
        for lengths, (names, combination, weight) in product(formula.lengths, shapes):
            yield Hypothesis(
                model=formula.model,
                analysis=analysis,
                fields=names,
                combination=combination,
                lengths=lengths,
                weight=weight,
                formula=name,
            )


def fit_closed(problem: Problem, begin: Parameters | None = None) -> Fit:
    """Fits the parameters of a hypothesis in closed form, and rounds them if this misses no more scores.

    The parameters are fitted to all scores, then to the better half, so that a few wrong scores do not move
    them.

    Args:
        problem: the hypothesis with the statistics of a dataset.
        begin: the initial values; without them, the best of the formula's.
    """
    from scipy.optimize import leastsq  # here, because it takes a second to import

    formula = FORMULAS[problem.hypothesis.formula]
    begins = {name: np.log(values) for name, values in formula.begins.items()}
    if problem.hypothesis.weight is None:
        begins[WEIGHT] = np.log([1.0, 0.25])
    names = [*begins]
    starts = product(*begins.values()) if begin is None else [[np.log(begin[name]) for name in names]]
    residuals = partial(_residuals, problem, names)
    best = min((np.array(start) for start in starts), key=lambda start: float(np.abs(residuals(start)).sum()))
    if names:
        with np.errstate(all="ignore"):
            best = leastsq(residuals, best, full_output=True, maxfev=_CALLS)[0]
            errors = np.abs(residuals(best))
            better = errors <= np.median(errors)
            best = leastsq(lambda x: residuals(x) * better, best, full_output=True, maxfev=_CALLS)[0]
    values = dict(zip(names, np.exp(np.clip(best, -_BEYOND, _BEYOND)).tolist(), strict=True))
    fit = _described(problem, values)
    rounded = {
        name: value if near(value) is None else float(near(value) or 0) for name, value in values.items()
    }
    in_words = _described(problem, rounded)
    return in_words if in_words.share() >= fit.share() else fit


def with_fitted_weight(fit: Fit) -> Fit:
    """Returns the fit as one of a hypothesis with the fitted weight; this weight may be the usual 1."""
    if WEIGHT not in fit.parameters:
        return fit
    problem = replace(fit.problem, hypothesis=replace(fit.hypothesis, weight=fit.parameters[WEIGHT]))
    return replace(fit, problem=problem, numbers=fit.numbers[:-1])


def _residuals(problem: Problem, names: Sequence[str], logarithms: Array) -> Array:
    values = dict(zip(names, np.exp(np.clip(logarithms, -_BEYOND, _BEYOND)).tolist(), strict=True))
    return np.nan_to_num(problem.residuals(_numbers(problem, values)), nan=1e6, posinf=1e6, neginf=-1e6)


def _described(problem: Problem, values: Parameters) -> Fit:
    numbers = _numbers(problem, values)
    errors = np.nan_to_num(problem.errors(numbers), nan=np.inf)
    return Fit(
        problem=problem,
        numbers=numbers,
        deviations=np.zeros(len(numbers)),
        errors=errors,
        rank=len(values),
        parameters=values,
    )


def _numbers(problem: Problem, values: Parameters) -> Array:
    """Returns the numbers of a problem for parameters of its formula."""
    formula = FORMULAS[problem.hypothesis.formula]
    numbers = np.zeros(problem.size)
    for counts, shared, own in zip(problem.counts, problem.shared_columns, problem.own_columns, strict=True):
        assert counts.statistics
        of_field, of_terms = formula.numbers(values, counts.statistics)
        numbers[shared] = np.log(of_field)
        numbers[own] = of_terms
    if problem.hypothesis.weight is None:
        numbers[-1] = np.log(values[WEIGHT])
    return numbers
