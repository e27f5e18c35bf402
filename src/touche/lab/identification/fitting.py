"""Fits a hypothesis's numbers to scores: least squares with a Cauchy loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from touche.lab.identification.counts import FieldCounts
from touche.lab.identification.differentiable_models import LENGTHS, MODELS, Model, Part
from touche.lab.identification.hypotheses import MAXIMUM, SUM, Hypothesis
from touche.lab.identification.samples import Array, Integers

TOLERANCE = 1e-5  # a score counts as reproduced if its error is at most this
# The scales of the loss, one after the other. At the first scale, all scores influence the fit; at the last
# one, only scores that are reproduced.
SCALES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
_FIRST_STEPS = 100  # the largest number of steps at the first scale, which needs more steps than the others
_STEPS = 15  # the largest number of steps at each of the other scales
_DAMPING = 1e-3  # at the start of a scale, relative to the second derivatives
_LEAST_DAMPING = 1e-9
_FACTOR = 5.0  # after each step, the damping is divided or multiplied by this factor
LEAST_GAIN = 1e-8  # if a step improves the loss by a smaller share than this, go on with the next scale
_HOPELESS = 0.1  # give up if the share of scores whose error is within the scale is smaller than this
_FARTHEST = np.log(1000.0)  # how far a logarithmic number can move from its initial value
_FLOAT32 = 2e-7  # relative precision of the engines' numbers
# Added to the diagonals of matrices, so that they can be inverted even if no score depends on one of the
# numbers.
_RIDGE = 1e-9
_WEIGHT = 0.5  # the initial value of a weight that is fitted


class Evaluation(NamedTuple):
    """The scores that a hypothesis predicts with certain numbers, and what is needed to compute their
    derivatives.

    Attributes:
        parts: for each field, what its terms contribute, before ``factors`` are applied.
        factors: each field's factors: the term's frequency in the title times the field's weight.
        field_scores: each document's score (column) in each field (row).
        predicted: the documents' predicted scores.
        residuals: predicted scores minus the run's scores.
    """

    parts: Sequence[Part]
    factors: Sequence[Array]
    field_scores: Array
    predicted: Array
    residuals: Array


class _Pairs(NamedTuple):
    """Pairs of derivatives of the same score, each pair once, and each derivative also with itself.

    Attributes:
        left, right: the derivatives' indexes.
        cells: where the pair's product belongs in the flat matrix of second derivatives.
        shares: 1, or 0.5 for a derivative with itself, because the matrix is added to its transpose.
    """

    left: Integers
    right: Integers
    cells: Integers
    shares: Array


@dataclass(frozen=True)
class Problem:
    """A hypothesis as a function of its free parameters, for a sample's documents.

    Numbers shared by all fields come first. Each field adds the numbers that its terms share, and one per
    term. A free weight for the second field comes last. All numbers are logarithms, except the terms'.

    Attributes:
        hypothesis: the hypothesis.
        counts: its fields' counts.
        scores: the documents' scores in the run.
        slack: for each score, its largest possible rounding error in the run.
        mean_lengths: the mean length of each field in the whole collection, in tokens; empty if unknown.
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
        """The number of free parameters, including the second field's weight if it's free."""
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
        # At least 0: with an offset of -1, the length of an empty field would be negative.
        shifted = [np.maximum(counts.lengths + self.hypothesis.offset, 0) for counts in self.counts]
        stored = [LENGTHS[self.hypothesis.lengths](lengths) for lengths in shifted]
        if self.mean_lengths and self.model.relative:
            return [lengths / mean for lengths, mean in zip(stored, self.mean_lengths, strict=True)]
        return stored

    def evaluate(self, numbers: Array) -> Evaluation:
        """Evaluates the model for all documents."""
        parts = []
        factors = []
        weights = [1.0, self.weight(numbers)]  # the first field's and, if there is one, the second's
        for index, counts in enumerate(self.counts):
            own = numbers[self.own_columns[index]][counts.terms]
            shared = numbers[self.shared_columns[index]]
            parts.append(self.model.part(counts.tf, self._lengths_of_terms[index], own, shared))
            factors.append(counts.qtf * weights[index])
        values = [part.value * factor for part, factor in zip(parts, factors, strict=True)]
        field_scores = np.array([self._by_document(index, value) for index, value in enumerate(values)])
        is_maximum = self.hypothesis.combination == MAXIMUM
        # If there is only one field, the sum is its score.
        predicted = field_scores.max(axis=0) if is_maximum else field_scores.sum(axis=0)
        return Evaluation(parts, factors, field_scores, predicted, residuals=predicted - self.scores)

    def predicted(self, numbers: Array) -> Array:
        """Returns the documents' predicted scores."""
        return self.evaluate(numbers).predicted

    def residuals(self, numbers: Array) -> Array:
        """Returns predicted scores minus the run's scores."""
        return self.evaluate(numbers).residuals

    def errors(self, numbers: Array) -> Array:
        """Returns, for each score, how much larger the prediction's error is than the score's possible
        rounding error.
        """
        return np.maximum(np.abs(self.residuals(numbers)) - self.slack, 0)

    def jacobian(self, numbers: Array) -> Array:
        """Returns the scores' derivatives (rows) with respect to the numbers (columns)."""
        rows, columns = self._places
        slopes = self._slopes(self.evaluate(numbers))
        shape = (len(self.scores), self.size)
        flat = np.bincount(rows * self.size + columns, slopes, minlength=shape[0] * shape[1])
        return flat.astype(float).reshape(shape)

    def normal_equations(self, evaluation: Evaluation, weights: Array) -> tuple[Array, Array]:
        """Returns the approximate second derivatives, and the first ones, of half the squared residuals.

        A score depends on the numbers of its own topic's terms only, so nearly all of the Jacobian's elements
        are 0. We only multiply the others.

        Args:
            evaluation: the evaluation.
            weights: a weight for each score.
        """
        rows, columns = self._places
        pairs = self._pairs
        slopes = self._slopes(evaluation)
        weighted = slopes * weights[rows]
        products = weighted[pairs.left] * slopes[pairs.right] * pairs.shares
        half = np.bincount(pairs.cells, products, minlength=self.size**2).reshape(self.size, self.size)
        first = np.bincount(columns, weighted * evaluation.residuals[rows], minlength=self.size)
        return (half + half.T).astype(float), first.astype(float)

    @cached_property
    def _lengths_of_terms(self) -> list[Array]:
        """For each field, its length for each pair of a document and a term."""
        pairs = zip(self.lengths, self.counts, strict=True)
        return [lengths[counts.rows] for lengths, counts in pairs]

    @cached_property
    def _places(self) -> tuple[Integers, Integers]:
        """The rows and columns of the derivatives that can differ from 0, in the order of ``_slopes``.

        A number that both fields share has two derivatives, which are added up.
        """
        documents = np.arange(len(self.scores))
        rows: list[Integers] = []
        columns: list[Integers] = []
        for index, counts in enumerate(self.counts):
            rows.append(counts.rows)
            columns.append(self.own_columns[index].start + counts.terms)
            for column in self.shared_columns[index]:
                rows.append(documents)
                columns.append(np.full(len(documents), column))
        if self.hypothesis.weight is None:
            rows.append(documents)
            columns.append(np.full(len(documents), self.size - 1))
        return np.concatenate(rows), np.concatenate(columns)

    def _slopes(self, evaluation: Evaluation) -> Array:
        """Returns the derivatives that can differ from 0."""
        field_scores = evaluation.field_scores
        counted = np.ones_like(field_scores)  # 1 where a field (row) contributes to a document's score
        if self.hypothesis.combination == MAXIMUM:
            fields = np.arange(len(field_scores))[:, None]
            counted = (field_scores.argmax(axis=0) == fields).astype(float)
        slopes: list[Array] = []
        for index, (part, factor) in enumerate(zip(evaluation.parts, evaluation.factors, strict=True)):
            slopes.append(part.by_own * factor * counted[index, self.counts[index].rows])
            slopes += [self._by_document(index, slope * factor) * counted[index] for slope in part.by_shared]
        if self.hypothesis.weight is None:
            # The derivative of a product with respect to a factor's logarithm is the product: this
            # field's score.
            slopes.append(field_scores[1] * counted[1])
        return np.concatenate(slopes)

    @cached_property
    def _pairs(self) -> _Pairs:
        """The pairs of derivatives of the same score."""
        rows, columns = self._places
        by_row = np.argsort(rows, kind="stable")
        first = np.arange(len(rows))
        # Each derivative is paired with itself and with the later ones in its row.
        partners = np.searchsorted(rows[by_row], rows[by_row], side="right") - first
        begins = np.cumsum(partners) - partners
        second = np.arange(partners.sum()) - np.repeat(begins - first, partners)
        left = by_row[np.repeat(first, partners)]
        right = by_row[second]
        cells = columns[left] * self.size + columns[right]
        return _Pairs(left, right, cells, shares=np.where(left == right, 0.5, 1.0))

    def free_parameters(self, numbers: Array) -> int:
        """Returns how many numbers are independent: even a wrong hypothesis could reproduce that many
        scores.

        Terms that only occur together aren't independent and count once. A maximum's derivatives are 0 in the
        field with the lower score, so we add the fields up instead.
        """
        total = replace(self, hypothesis=replace(self.hypothesis, combination=SUM))
        jacobian = total.jacobian(numbers)
        # numpy before 2.4.5 raises an error for the rank of an empty matrix.
        return int(np.linalg.matrix_rank(jacobian)) if jacobian.size else 0

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
def fit(problem: Problem, scales: Sequence[float] = SCALES, least_gain: float = LEAST_GAIN) -> Array:
    """Returns the numbers that reproduce the most scores, using the Levenberg-Marquardt method.

    The loss's scale shrinks step by step, from all scores to those that the hypothesis explains. That way,
    outliers whose texts differ between copies of a corpus don't distort the numbers. The normal equations
    contain a row per number; solving them is faster than scipy's decomposition of all derivatives.

    Args:
        problem: the problem.
        scales: the loss's scales, from coarse to fine.
        least_gain: a smaller relative gain in loss ends each scale except the last, which always ends at
            ``LEAST_GAIN``. Coarse scales only have to begin the next one, and take most steps.
    """
    initial = problem.begin()
    largest_change = np.full(problem.size, _FARTHEST)
    for columns in problem.own_columns:  # terms can have any number
        largest_change[columns] = np.inf
    numbers = initial
    for scale in scales:
        steps = _FIRST_STEPS if scale == scales[0] else _STEPS
        numbers = _fit_scale(
            problem,
            scale,
            steps,
            LEAST_GAIN if scale == scales[-1] else least_gain,
            numbers,
            lowest=initial - largest_change,
            highest=initial + largest_change,
        )
        if np.mean(problem.errors(numbers) <= scale) < _HOPELESS:
            break
    return numbers


def _fit_scale(
    problem: Problem,
    scale: float,
    steps: int,
    least_gain: float,
    numbers: Array,
    lowest: Array,
    highest: Array,
) -> Array:
    """Takes up to ``steps`` steps within the limits. The returned numbers' loss is no larger than before."""
    damping = _DAMPING
    evaluation = problem.evaluate(numbers)
    loss = _loss(evaluation.residuals, scale)
    matrix, slope = _normal_equations(problem, evaluation, scale)
    for _ in range(steps):
        diagonal = np.diag(matrix)
        damped = matrix.copy()
        # The ridge grows with the largest element, and isn't 0 if all elements are.
        np.fill_diagonal(damped, diagonal + damping * diagonal + _RIDGE * (1 + diagonal.max(initial=0)))
        changed = np.clip(numbers - np.linalg.solve(damped, slope), lowest, highest)
        evaluation = problem.evaluate(changed)
        changed_loss = _loss(evaluation.residuals, scale)
        if changed_loss >= loss or np.isnan(changed_loss):
            damping *= _FACTOR
        else:
            gain = loss - changed_loss
            numbers = changed
            loss = changed_loss
            damping = max(damping / _FACTOR, _LEAST_DAMPING)
            if gain < least_gain * loss:
                break
            matrix, slope = _normal_equations(problem, evaluation, scale)
    return numbers


def _loss(residuals: Array, scale: float) -> float:
    """Returns the sum of all scores' Cauchy losses."""
    return float(np.log1p(np.square(residuals / scale)).sum())


def _normal_equations(problem: Problem, evaluation: Evaluation, scale: float) -> tuple[Array, Array]:
    """Returns the loss's approximate second derivatives, and its first ones.

    Both are without the factor 2 / scale ** 2, because a step is their quotient.
    """
    return problem.normal_equations(evaluation, 1 / (1 + np.square(evaluation.residuals / scale)))


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
