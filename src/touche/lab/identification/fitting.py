"""Fits a hypothesis's numbers to scores: least squares with a Cauchy loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from touche.lab.identification.counts import FieldCounts
from touche.lab.identification.differentiable_models import LENGTHS, MODELS, Model, Part
from touche.lab.identification.hypotheses import MAXIMUM, SUM, Hypothesis
from touche.lab.identification.samples import Array

TOLERANCE = 1e-5  # how far off a reproduced score can be
# The loss's scales. At the first one all scores count, at the last one only reproduced scores.
SCALES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
_FIRST_STEPS = 100  # for the first scale, which needs the most
_STEPS = 15  # for each other scale
_DAMPING = 1e-3  # at the start of a scale, relative to the second derivatives
_LEAST_DAMPING = 1e-9
_FACTOR = 5.0  # damping changes by this factor after a step
_LEAST_GAIN = 1e-8  # in loss; a smaller gain ends a scale
_HOPELESS = 0.1  # a fit ends if fewer scores than this share are within the scale
_FARTHEST = np.log(1000.0)  # how far a logarithmic number can move from its initial value
_FLOAT32 = 2e-7  # relative precision of the engines' numbers
_RIDGE = 1e-9  # added to matrices' diagonals, so that they have inverses even if no score needs a number
_WEIGHT = 0.5  # a free weight's initial value


@dataclass(frozen=True)
class Problem:
    """A hypothesis as a function of its free parameters, for a sample's documents.

    Numbers shared by all fields come first. Each field adds the numbers that its terms share, and one per
    term. A free weight for the second field comes last. All numbers are logarithms, except the terms'.

    Attributes:
        hypothesis: the hypothesis.
        counts: its fields' counts.
        scores: the documents' scores in the run.
        slack: each score's largest possible rounding error.
        mean_lengths: its fields' mean lengths in the whole collection, or empty.
    """

    hypothesis: Hypothesis
    counts: tuple[FieldCounts, ...]
    scores: Array
    slack: Array | float = 0.0
    mean_lengths: tuple[float, ...] = ()

    @property
    def model(self) -> Model:
        """The hypothesis's model."""
        model = MODELS[self.hypothesis.model]
        if self.mean_lengths and model.relative:
            return replace(model, common=model.relative, of_field={})
        return model

    @cached_property
    def shared_columns(self) -> list[list[int]]:
        """For each field, where the numbers are that its terms share; common numbers come first."""
        common = range(len(self.model.common))
        # A field's shared numbers come right before its terms'.
        field_numbers = len(self.model.of_field)
        return [[*common, *range(own.start - field_numbers, own.start)] for own in self.own_columns]

    @cached_property
    def own_columns(self) -> list[slice]:
        """For each field, where its terms' numbers are."""
        columns: list[slice] = []
        end = len(self.model.common)
        for counts in self.counts:
            begin = end + len(self.model.of_field)
            end = begin + len(counts.vocabulary)
            columns.append(slice(begin, end))
        return columns

    @cached_property
    def size(self) -> int:
        """How many free parameters there are: the fields', and a free weight."""
        weights = 1 if self.hypothesis.weight is None else 0
        return int(self.own_columns[-1].stop) + weights

    def begin(self) -> Array:
        """Returns the initial numbers."""
        parts = [np.log([*self.model.common.values()])]
        for counts in self.counts:
            parts.append(np.log([*self.model.of_field.values()]))
            parts.append(self.model.begin(counts.statistics))
        if self.hypothesis.weight is None:  # the weight is free
            parts.append(np.log([_WEIGHT]))
        return np.concatenate(parts)

    def weight(self, numbers: Array) -> float:
        """Returns the second field's weight."""
        return float(np.exp(numbers[-1])) if self.hypothesis.weight is None else self.hypothesis.weight

    @cached_property
    def lengths(self) -> list[Array]:
        """Each field's lengths as the engine stores them, or relative to known mean lengths."""
        # With an offset of -1, an empty field's length would be negative.
        shifted = [np.maximum(counts.lengths + self.hypothesis.offset, 0) for counts in self.counts]
        stored = [LENGTHS[self.hypothesis.lengths](lengths) for lengths in shifted]
        if self.mean_lengths and self.model.relative:
            return [lengths / mean for lengths, mean in zip(stored, self.mean_lengths, strict=True)]
        return stored

    def predicted(self, numbers: Array) -> Array:
        """Returns the documents' predicted scores."""
        field_scores = self._field_scores(self._parts(numbers))
        if self.hypothesis.combination == MAXIMUM:
            return np.asarray(field_scores.max(axis=0))
        return np.asarray(field_scores.sum(axis=0))  # works for a single field too

    def residuals(self, numbers: Array) -> Array:
        """Returns predicted scores minus the run's scores."""
        return self.predicted(numbers) - self.scores

    def errors(self, numbers: Array) -> Array:
        """Returns how far predicted scores are off, beyond the scores' rounding errors."""
        return np.maximum(np.abs(self.residuals(numbers)) - self.slack, 0)

    def jacobian(self, numbers: Array) -> Array:
        """Returns the scores' derivatives (rows) with respect to the numbers (columns)."""
        slopes = np.zeros((len(self.scores), self.size))
        parts = self._parts(numbers)
        field_scores = self._field_scores(parts)
        counted = np.ones_like(field_scores)  # 1 where a field (row) contributes to a document's score
        if self.hypothesis.combination == MAXIMUM:
            fields = np.arange(len(field_scores))[:, None]
            counted = (field_scores.argmax(axis=0) == fields).astype(float)
        for index, (counts, part) in enumerate(zip(self.counts, parts, strict=True)):
            columns = self.own_columns[index].start + counts.terms
            slopes[counts.rows, columns] = part.by_own * counted[index, counts.rows]
            for column, slope in zip(self.shared_columns[index], part.by_shared, strict=True):
                slopes[:, column] += self._by_document(index, slope) * counted[index]
        if self.hypothesis.weight is None:
            # The derivative of a product with respect to a factor's logarithm is the product: this
            # field's score.
            slopes[:, -1] = field_scores[1] * counted[1]
        return slopes

    def free_parameters(self, numbers: Array) -> int:
        """Returns how many numbers are independent: even a wrong hypothesis could reproduce that many
        scores.

        Terms that only occur together aren't independent and count once. A maximum's derivatives are 0 in the
        field with the lower score, so we add the fields up instead.
        """
        total = replace(self, hypothesis=replace(self.hypothesis, combination=SUM))
        return int(np.linalg.matrix_rank(total.jacobian(numbers)))

    def _parts(self, numbers: Array) -> list[Part]:
        """Returns the weighted contributions of each field's terms."""
        parts = []
        weights = [1.0, self.weight(numbers)]  # the first field's and, if there is one, the second's
        for index, counts in enumerate(self.counts):
            part = self.model.part(
                counts.tf,
                self.lengths[index][counts.rows],
                numbers[self.own_columns[index]][counts.terms],
                numbers[self.shared_columns[index]],
            )
            factor = counts.qtf * weights[index]
            parts.append(Part(part.value * factor, part.by_own * factor, part.by_shared * factor))
        return parts

    def _field_scores(self, parts: Sequence[Part]) -> Array:
        """Returns each document's score (column) in each field (row)."""
        return np.array([self._by_document(index, part.value) for index, part in enumerate(parts)])

    def _by_document(self, index: int, values: Array) -> Array:
        """Adds up a field's term values by document. ``index`` is the field's."""
        return np.bincount(self.counts[index].rows, values, minlength=len(self.scores)).astype(float)


@dataclass(frozen=True)
class Fit:
    """A problem with its best numbers.

    Attributes:
        problem: the problem.
        numbers: the numbers, in ``Problem``'s order.
        deviations: the numbers' standard errors; 0 in closed form.
        errors: how far each score is off, beyond rounding.
        free_parameters: see ``Problem.free_parameters``; in closed form, the number of parameters.
        parameters: the parameters in closed form.
    """

    problem: Problem
    numbers: Array
    deviations: Array
    errors: Array
    free_parameters: int
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis."""
        return self.problem.hypothesis

    @property
    def floor(self) -> float:
        """The share of scores that free parameters could reproduce even for a wrong hypothesis."""
        return self.free_parameters / len(self.errors)

    @property
    def gain(self) -> float:
        """The share of reproduced scores minus the floor."""
        return self.share() - self.floor

    @property
    def median(self) -> float:
        """The median error, to two digits: further digits depend on the processor."""
        return float(f"{np.median(self.errors):.1e}")

    def share(self, within: float = TOLERANCE) -> float:
        """Returns the share of documents whose error is at most ``within``."""
        return float(np.mean(self.errors <= within))


@np.errstate(all="ignore")  # numbers whose loss is NaN are tried but never accepted
def fit(problem: Problem, scales: Sequence[float] = SCALES) -> Array:
    """Returns the numbers that reproduce the most scores, using the Levenberg-Marquardt method.

    The loss's scale shrinks step by step, from all scores to those that the hypothesis explains. That way,
    outliers whose texts differ between copies of a corpus don't distort the numbers. The normal equations
    contain a row per number; solving them is faster than scipy's decomposition of all derivatives.

    Args:
        problem: the problem.
        scales: the loss's scales, from coarse to fine.
    """
    initial = problem.begin()
    largest_change = np.full(problem.size, _FARTHEST)
    for columns in problem.own_columns:  # terms can have any number
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
    """Takes up to ``steps`` steps within the limits. The returned numbers' loss is no larger than before."""
    damping = _DAMPING
    loss = _loss(problem, numbers, scale)
    matrix, slope = _normal_equations(problem, numbers, scale)
    for _ in range(steps):
        diagonal = np.diag(matrix)
        # The ridge grows with the largest element, and isn't 0 if all elements are.
        damped = matrix + np.diag(damping * diagonal + _RIDGE * (1 + diagonal.max(initial=0)))
        changed = np.clip(numbers - np.linalg.solve(damped, slope), lowest, highest)
        changed_loss = _loss(problem, changed, scale)
        if changed_loss >= loss or np.isnan(changed_loss):
            damping *= _FACTOR
        else:
            gain = loss - changed_loss
            numbers = changed
            loss = changed_loss
            damping = max(damping / _FACTOR, _LEAST_DAMPING)
            if gain < _LEAST_GAIN * loss:
                break
            matrix, slope = _normal_equations(problem, numbers, scale)
    return numbers


def _loss(problem: Problem, numbers: Array, scale: float) -> float:
    """Returns the sum of all scores' Cauchy losses."""
    return float(np.log1p(np.square(problem.residuals(numbers) / scale)).sum())


def _normal_equations(problem: Problem, numbers: Array, scale: float) -> tuple[Array, Array]:
    """Returns the loss's approximate second derivatives, and its first ones.

    Both are without the factor 2 / scale ** 2, because a step is their quotient.
    """
    residuals = problem.residuals(numbers)
    slopes = problem.jacobian(numbers)
    weighted = slopes / (1 + np.square(residuals / scale))[:, None]
    return weighted.T @ slopes, weighted.T @ residuals


def describe_fit(problem: Problem, numbers: Array) -> Fit:
    """Describes how well numbers solve a problem.

    Standard errors come from the reproduced documents. If none of them depends on a number, its error is
    large.
    """
    errors = problem.errors(numbers)
    is_reproduced = errors <= TOLERANCE
    slopes = problem.jacobian(numbers)[is_reproduced]
    variance = 1.0  # no document is reproduced
    if is_reproduced.any():
        variance = float(np.mean(np.square(problem.residuals(numbers)[is_reproduced])))
    information = slopes.T @ slopes + _RIDGE * np.eye(problem.size)
    deviations = np.sqrt(variance * np.diag(np.linalg.inv(information)))
    return Fit(
        problem=problem,
        numbers=numbers,
        deviations=np.maximum(deviations, _FLOAT32 * np.abs(numbers)),  # no number is more precise than that
        errors=errors,
        free_parameters=problem.free_parameters(numbers),
    )
