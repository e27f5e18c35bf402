"""Fits the numbers of a hypothesis to scores by least squares with a Cauchy loss."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from touche.identification.counts import FieldCounts
from touche.identification.differentiable_models import LENGTHS, MODELS, Model, Part
from touche.identification.hypotheses import MAXIMUM, SUM, Hypothesis
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
_HOPELESS = 0.1  # a fit ends if fewer scores than this share have errors below the scale
_FARTHEST = np.log(1000.0)  # how far a number that is a logarithm may be from its initial value
_FLOAT32 = 2e-7  # relative precision of engines' numbers
_RIDGE = 1e-9  # added to the diagonal of matrices, so that they have inverses if no score needs a number
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
        """For each field the indexes of the numbers that its terms share, common numbers first."""
        common = range(len(self.model.common))
        # A field's shared numbers are right before those of its terms.
        field_numbers = len(self.model.of_field)
        return [[*common, *range(own.start - field_numbers, own.start)] for own in self.own_columns]

    @cached_property
    def own_columns(self) -> list[slice]:
        """For each field the indexes of its terms' numbers."""
        columns: list[slice] = []
        end = len(self.model.common)
        for counts in self.counts:
            begin = end + len(self.model.of_field)
            end = begin + len(counts.vocabulary)
            columns.append(slice(begin, end))
        return columns

    @cached_property
    def size(self) -> int:
        """The number of free numbers: those of the fields, and a free weight."""
        weights = 1 if self.hypothesis.weight is None else 0
        return int(self.own_columns[-1].stop) + weights

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
        """The lengths of each field as the engine stores them, or relative to known mean lengths."""
        # An offset of -1 must not make the length of an empty field negative.
        shifted = [np.maximum(counts.lengths + self.hypothesis.offset, 0) for counts in self.counts]
        stored = [LENGTHS[self.hypothesis.lengths](lengths) for lengths in shifted]
        if self.mean_lengths and self.model.relative:
            return [lengths / mean for lengths, mean in zip(stored, self.mean_lengths, strict=True)]
        return stored

    def predicted(self, numbers: Array) -> Array:
        """Returns the predicted scores of the documents."""
        field_scores = self.field_scores(numbers)
        if self.hypothesis.combination == MAXIMUM:
            return np.asarray(field_scores.max(axis=0))
        return np.asarray(field_scores.sum(axis=0))  # also for a single field

    def field_scores(self, numbers: Array) -> Array:
        """Returns the score of each document (column) in each field (row)."""
        return np.array([self._by_document(index, part.value) for index, part in self._parts(numbers)])

    def residuals(self, numbers: Array) -> Array:
        """Returns the differences between predicted scores and scores."""
        return self.predicted(numbers) - self.scores

    def errors(self, numbers: Array) -> Array:
        """Returns how far each predicted score is from the score, beyond the score's rounding error."""
        return np.maximum(np.abs(self.residuals(numbers)) - self.slack, 0)

    def jacobian(self, numbers: Array) -> Array:
        """Returns the derivatives of the scores (rows) by the numbers (columns)."""
        slopes = np.zeros((len(self.scores), self.size))
        field_scores = self.field_scores(numbers)
        counted = np.ones_like(field_scores)  # 1 if a field (row) contributes to a document's score, or 0
        if self.hypothesis.combination == MAXIMUM:
            fields = np.arange(len(field_scores))[:, None]
            counted = (field_scores.argmax(axis=0) == fields).astype(float)
        for index, part in self._parts(numbers):
            counts = self.counts[index]
            columns = self.own_columns[index].start + counts.terms
            slopes[counts.rows, columns] = part.by_own * counted[index, counts.rows]
            for column, slope in zip(self.shared_columns[index], part.by_shared, strict=True):
                slopes[:, column] += self._by_document(index, slope) * counted[index]
        if self.hypothesis.weight is None:
            # The derivative of a product by the logarithm of a factor is the product: this field's score.
            slopes[:, -1] = field_scores[1] * counted[1]
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
        weights = [1.0, self.weight(numbers)]  # of the first field and of the second one, if there are two
        for index, counts in enumerate(self.counts):
            part = self.model.part(
                counts.tf,
                self.lengths[index][counts.rows],
                numbers[self.own_columns[index]][counts.terms],
                numbers[self.shared_columns[index]],
            )
            factor = counts.qtf * weights[index]
            yield index, Part(part.value * factor, part.by_own * factor, part.by_shared * factor)

    def _by_document(self, index: int, values: Array) -> Array:
        """Adds up for each document the values of its terms in a field, which has this index."""
        return np.bincount(self.counts[index].rows, values, minlength=len(self.scores)).astype(float)


@dataclass(frozen=True)
class Fit:
    """A problem with its best numbers.

    Attributes:
        problem: the problem.
        numbers: the numbers, in the order of ``Problem``.
        deviations: the standard errors of the numbers; 0 in closed form.
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
        """The median error, rounded to two digits because further digits depend on the processor."""
        return float(f"{np.median(self.errors):.1e}")

    def share(self, within: float = TOLERANCE) -> float:
        """Returns the share of documents whose error is at most ``within``."""
        return float(np.mean(self.errors <= within))


@np.errstate(all="ignore")  # numbers with a loss of NaN are tried, but not accepted
def fit(problem: Problem, scales: Sequence[float] = SCALES) -> Array:
    """Returns the numbers that reproduce most scores, by the Levenberg-Marquardt method.

    The scale of the loss falls step by step, from all scores to the scores that the hypothesis explains. So
    outliers from text differences between copies of a corpus do not distort the numbers. The normal equations
    have a row for each number. Solving them is faster than scipy's decomposition of all derivatives.

    Args:
        problem: the problem.
        scales: the scales of the loss, from coarse to fine.
    """
    initial = problem.begin()
    largest_change = np.full(problem.size, _FARTHEST)
    for columns in problem.own_columns:  # terms may have any number
        largest_change[columns] = np.inf
    numbers = initial
    for scale in scales:
        steps = _FIRST_STEPS if scale == scales[0] else _STEPS
        numbers = _fit_scale(
            problem, scale, steps, numbers, lowest=initial - largest_change, highest=initial + largest_change
        )
        if np.mean(problem.errors(numbers) <= scale) < _HOPELESS:
            break
    return numbers


def _fit_scale(
    problem: Problem, scale: float, steps: int, numbers: Array, lowest: Array, highest: Array
) -> Array:
    """Returns numbers whose loss is not larger than before, after up to ``steps`` steps within the limits."""
    damping = _DAMPING
    loss = _loss(problem, numbers, scale)
    equations = None  # those of ``numbers``, once they are computed
    for _ in range(steps):
        if equations is None:
            equations = _normal_equations(problem, numbers, scale)
        matrix, slope = equations
        diagonal = np.diag(matrix)
        # The ridge grows with the largest element, but is not 0 if all are 0.
        damped = matrix + np.diag(damping * diagonal + _RIDGE * (1 + diagonal.max()))
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
    """Returns the approximate second derivatives of the loss, and the first ones.

    Both lack the factor 2 / scale ** 2, because it cancels out in a step, which is a quotient of them.
    """
    residuals = problem.residuals(numbers)
    slopes = problem.jacobian(numbers)
    weighted = slopes / (1 + np.square(residuals / scale))[:, None]
    return weighted.T @ slopes, weighted.T @ residuals


def describe_fit(problem: Problem, numbers: Array) -> Fit:
    """Describes how well numbers solve a problem.

    Standard errors are computed from the reproduced documents; a number on which none of them depends has a
    large standard error.
    """
    errors = problem.errors(numbers)
    is_reproduced = errors <= TOLERANCE
    slopes = problem.jacobian(numbers)[is_reproduced]
    variance = 1.0  # if no document is reproduced
    if is_reproduced.any():
        variance = float(np.mean(np.square(problem.residuals(numbers)[is_reproduced])))
    information = slopes.T @ slopes + _RIDGE * np.eye(problem.size)
    deviations = np.sqrt(variance * np.diag(np.linalg.inv(information)))
    return Fit(
        problem=problem,
        numbers=numbers,
        deviations=np.maximum(deviations, _FLOAT32 * np.abs(numbers)),  # no number is more precise
        errors=errors,
        free_numbers=problem.free_numbers(numbers),
    )
