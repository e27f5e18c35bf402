"""Fits the numbers of a hypothesis to scores by least squares with a Cauchy loss."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from touche.identification.counts import FieldCounts
from touche.identification.hypotheses import MAXIMUM, SUM, Hypothesis
from touche.identification.models import LENGTHS, MODELS, Model, Part
from touche.identification.samples import Array

TOLERANCE = 1e-5  # the largest error of a reproduced score
# Scales of the loss: at the first one all scores count, at the last one only reproduced scores.
SCALES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
_FIRST_STEPS = 100  # at the first scale, which needs the most
_STEPS = 15  # at every other scale
_DAMPING = 1e-3  # at the start of a scale, relative to the second derivatives
_LEAST_DAMPING = 1e-9
_FACTOR = 5.0  # by which the damping changes after a step
_LEAST_GAIN = 1e-8  # of the loss; smaller gains end a scale
_HOPELESS = 0.1  # the share of the scores with errors below the scale; a fit with a lower share ends
_FARTHEST = np.log(1000.0)  # the largest change of a shared number, as a logarithm
_FLOAT32 = 2e-7  # relative precision of engines' numbers
_UNKNOWN = 1e-9  # information on a number without data
_WEIGHT = 0.5  # the initial value of a free weight


@dataclass(frozen=True)
class Problem:
    """A hypothesis as a function of its free numbers, on the documents of a sample.

    The numbers shared by all fields are first. Each field adds numbers that its terms share, and a number
    per term. A free weight of the second field is last. All numbers except those of terms are logarithms.

    Attributes:
        hypothesis: the hypothesis.
        counts: the counts of its fields.
        scores: the documents' scores in the run.
        slack: the largest rounding error of each score.
        mean_lengths: the mean lengths of its fields in the whole collection, or empty.
    """

    hypothesis: Hypothesis
    counts: tuple[FieldCounts, ...]
    scores: Array
    slack: Array | float = 0.0
    mean_lengths: tuple[float, ...] = ()

    @property
    def model(self) -> Model:
        """The model of the hypothesis."""
        model = MODELS[self.hypothesis.model]
        return model.with_mean_lengths() if self.mean_lengths else model

    @cached_property
    def shared_columns(self) -> list[list[int]]:
        """For each field the indexes of its shared numbers, common numbers first."""
        common = range(len(self.model.common))
        return [
            [*common, *range(own.start - len(self.model.of_field), own.start)] for own in self.own_columns
        ]

    @cached_property
    def own_columns(self) -> list[slice]:
        """For each field the indexes of its terms' numbers."""
        terms = [len(counts.vocabulary) for counts in self.counts]
        sizes = (len(self.model.of_field) + count for count in terms)
        _, *ends = accumulate(sizes, initial=len(self.model.common))
        return [slice(end - count, end) for end, count in zip(ends, terms, strict=True)]

    @property
    def size(self) -> int:
        """The number of free numbers."""
        return int(self.own_columns[-1].stop) + (self.hypothesis.weight is None)

    def begin(self) -> Array:
        """Returns the initial numbers."""
        parts = [np.log([*self.model.common.values()])]
        for counts in self.counts:
            parts.append(np.log([*self.model.of_field.values()]))
            parts.append(self.model.begin(counts.statistics))
        if self.hypothesis.weight is None:  # it is free
            parts.append(np.log([_WEIGHT]))
        return np.concatenate(parts)

    def weight(self, numbers: Array) -> float:
        """Returns the weight of the second field."""
        return float(np.exp(numbers[-1])) if self.hypothesis.weight is None else self.hypothesis.weight

    @cached_property
    def lengths(self) -> list[Array]:
        """The lengths of each field as the engine stores them."""
        exact = [np.maximum(counts.lengths + self.hypothesis.offset, 0) for counts in self.counts]
        stored = [LENGTHS[self.hypothesis.lengths](lengths) for lengths in exact]
        if not self.mean_lengths or not self.model.relative:
            return stored
        return [lengths / mean for lengths, mean in zip(stored, self.mean_lengths, strict=True)]

    def predicted(self, numbers: Array) -> Array:
        """Returns the predicted scores of the documents."""
        sums = self.sums(numbers)
        return np.asarray(sums.max(axis=0) if self.hypothesis.combination == MAXIMUM else sums.sum(axis=0))

    def sums(self, numbers: Array) -> Array:
        """Returns the scores of fields (rows) for documents (columns)."""
        return np.array([self._by_row(at, part.value) for at, part in self._parts(numbers)])

    def residuals(self, numbers: Array) -> Array:
        """Returns the differences between predicted scores and scores."""
        return self.predicted(numbers) - self.scores

    def errors(self, numbers: Array) -> Array:
        """Returns the absolute differences beyond rounding errors."""
        return np.maximum(np.abs(self.residuals(numbers)) - self.slack, 0)

    def jacobian(self, numbers: Array) -> Array:
        """Returns the derivatives of the scores (rows) by the numbers (columns)."""
        slopes = np.zeros((len(self.scores), self.size))
        sums = self.sums(numbers)
        counted = np.ones_like(sums)  # whether a field (row) contributes to a document's score
        if self.hypothesis.combination == MAXIMUM:
            counted = (sums.argmax(axis=0) == np.arange(len(sums))[:, None]).astype(float)
        for at, part in self._parts(numbers):
            counts = self.counts[at]
            columns = self.own_columns[at].start + counts.terms
            slopes[counts.rows, columns] = part.by_own * counted[at, counts.rows]
            for column, slope in zip(self.shared_columns[at], part.by_shared, strict=True):
                slopes[:, column] += self._by_row(at, slope) * counted[at]
        if self.hypothesis.weight is None:
            slopes[:, -1] = sums[1] * counted[1]  # the weight is a factor of the second field's score
        return slopes

    def free_numbers(self, numbers: Array) -> int:
        """Returns how many of the numbers are independent: a wrong hypothesis could reproduce so many scores.

        Terms that only occur together are not independent, and count once. The derivatives of a maximum are 0
        in the field with the lower score, so the fields are added up instead.
        """
        total = replace(self, hypothesis=replace(self.hypothesis, combination=SUM))
        return int(np.linalg.matrix_rank(total.jacobian(numbers)))

    def _parts(self, numbers: Array) -> Iterator[tuple[int, Part]]:
        """Yields the index of each field, and its terms' weighted contributions to the scores."""
        for at, counts in enumerate(self.counts):
            part = self.model.part(
                counts.tf,
                self.lengths[at][counts.rows],
                numbers[self.own_columns[at]][counts.terms],
                numbers[self.shared_columns[at]],
            )
            factor = counts.qtf * (self.weight(numbers) if at else 1.0)  # only the second field has a weight
            yield at, Part(part.value * factor, part.by_own * factor, part.by_shared * factor)

    def _by_row(self, at: int, values: Array) -> Array:
        """Returns the sum of a field's values, one for each document and term, for each document."""
        return np.bincount(self.counts[at].rows, values, minlength=len(self.scores)).astype(float)


@dataclass(frozen=True)
class Fit:
    """A problem with its best numbers.

    Attributes:
        problem: the problem.
        numbers: the numbers, in the order of ``Problem``.
        deviations: the standard errors of the numbers.
        errors: the error of each document's score beyond rounding.
        free_numbers: the result of ``Problem.free_numbers``, or the number of parameters in closed form.
        parameters: the parameters in closed form.
    """

    problem: Problem
    numbers: Array
    deviations: Array
    errors: Array
    free_numbers: int
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis."""
        return self.problem.hypothesis

    @property
    def floor(self) -> float:
        """The share of scores that the free numbers could reproduce for a wrong hypothesis."""
        return self.free_numbers / len(self.errors)

    @property
    def gain(self) -> float:
        """The share of reproduced scores, minus the floor."""
        return self.share() - self.floor

    @property
    def median(self) -> float:
        """The median error to two digits, because further digits depend on the processor."""
        return float(f"{np.median(self.errors):.1e}")

    def share(self, within: float = TOLERANCE) -> float:
        """Returns the share of documents whose error is at most ``within``."""
        return float(np.mean(self.errors <= within))


@np.errstate(all="ignore")
def fit(problem: Problem, scales: Sequence[float] = SCALES) -> Array:
    """Returns the numbers that reproduce most scores, by the Levenberg-Marquardt method.

    The scale of the loss falls step by step, from all scores to the scores that the hypothesis explains. So
    outliers from text differences between copies of a corpus do not distort the numbers. Scores have few
    terms each, so the normal equations are much cheaper than scipy's decompositions of all derivatives.

    Args:
        problem: the problem.
        scales: the scales of the loss, from coarse to fine.
    """
    begin = problem.begin()
    far = np.full(problem.size, _FARTHEST)  # the largest change of each number; terms may have any number
    for columns in problem.own_columns:
        far[columns] = np.inf
    numbers = begin
    for scale in scales:
        steps = _FIRST_STEPS if scale == scales[0] else _STEPS
        numbers = _fit_scale(problem, scale, steps, numbers, begin - far, begin + far)
        if np.mean(problem.errors(numbers) <= scale) < _HOPELESS:
            break
    return numbers


def _fit_scale(
    problem: Problem, scale: float, steps: int, numbers: Array, lowest: Array, highest: Array
) -> Array:
    """Returns numbers with a smaller loss than the initial ones, after at most so many steps."""
    damping = _DAMPING
    loss = _loss(problem, numbers, scale)
    equations = None  # those of ``numbers``, once they are computed
    for _ in range(steps):
        if equations is None:
            equations = _normal_equations(problem, numbers, scale)
        matrix, slope = equations
        diagonal = np.diag(matrix)
        damped = matrix + np.diag(damping * diagonal + _UNKNOWN * (1 + diagonal.max()))
        changed = np.clip(numbers - np.linalg.solve(damped, slope), lowest, highest)
        changed_loss = _loss(problem, changed, scale)
        if changed_loss >= loss or np.isnan(changed_loss):
            damping *= _FACTOR
        else:
            gain = loss - changed_loss
            numbers = changed
            loss = changed_loss
            equations = None
            damping = max(damping / _FACTOR, _LEAST_DAMPING)
            if gain < _LEAST_GAIN * loss:
                break
    return numbers


def _loss(problem: Problem, numbers: Array, scale: float) -> float:
    """Returns the sum of the Cauchy losses of all scores."""
    return float(np.log1p(np.square(problem.residuals(numbers) / scale)).sum())


def _normal_equations(problem: Problem, numbers: Array, scale: float) -> tuple[Array, Array]:
    """Returns the approximate second derivatives of half the loss, and the first ones."""
    residuals = problem.residuals(numbers)
    slopes = problem.jacobian(numbers)
    weighted = slopes / (1 + np.square(residuals / scale))[:, None]
    return weighted.T @ slopes, weighted.T @ residuals


def describe_fit(problem: Problem, numbers: Array) -> Fit:
    """Describes how well numbers solve a problem.

    Standard errors are computed from the reproduced documents; numbers without such documents have large
    ones.
    """
    errors = problem.errors(numbers)
    met = errors <= TOLERANCE
    slopes = problem.jacobian(numbers)[met]
    variance = np.mean(np.square(problem.residuals(numbers)[met])) if met.any() else 1.0
    information = slopes.T @ slopes + _UNKNOWN * np.eye(problem.size)
    deviations = np.sqrt(variance * np.diag(np.linalg.inv(information)))
    return Fit(
        problem=problem,
        numbers=numbers,
        deviations=np.maximum(deviations, _FLOAT32 * np.abs(numbers)),
        errors=errors,
        free_numbers=problem.free_numbers(numbers),
    )
