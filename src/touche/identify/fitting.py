"""The numbers with which a hypothesis meets the scores best: scipy's least squares, with a Cauchy loss."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from touche.identify.counts import Counts
from touche.identify.hypotheses import MAXIMUM, Hypothesis
from touche.identify.lengths import LENGTHS
from touche.identify.models import MODELS, Part
from touche.identify.samples import Array

# Of the loss: at the first all scores pull, at the last only those that are met.
SCALES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
_FIRST_STEPS, _STEPS = 100, 15  # at the first scale, which has the longest way to go, and at each other one
_FARTHEST = np.log(1000.0)  # of a shared number from where it begins, as a logarithm
_FLOAT32 = 2e-7  # of a number, which engines keep in that precision
_UNKNOWN = 1e-9  # information on a number of which nothing is known
_WEIGHT = 0.5  # a free one begins here


@dataclass(frozen=True)
class Problem:
    """A hypothesis as a function of its free numbers, on the documents of a sample.

    The numbers stand in this order: those that all fields share; for each field its own shared ones, then one
    for each term; the second field's weight where that is free. All but those of terms are logarithms.

    Attributes:
        hypothesis: the hypothesis.
        counts: those of its fields.
        scores: the documents' scores in the run.
    """

    hypothesis: Hypothesis
    counts: tuple[Counts, ...]
    scores: Array

    def begin(self) -> Array:
        """Numbers to begin with."""
        model, numbers = MODELS[self.hypothesis.model], []
        for counts in self.counts:
            found = np.bincount(counts.terms, counts.tf, minlength=len(counts.vocabulary))
            own = model.begin(found / max(1.0, counts.lengths.sum()))
            numbers += [np.log([*model.of_field.values()]), own]
        weight = [np.log(_WEIGHT)] * self._free_weight
        return np.concatenate([np.log([*model.common.values()]), *numbers, weight])

    def bounds(self) -> tuple[Array, Array]:
        """Between which each number has a meaning."""
        shared, begin = np.zeros(self.size, bool), self.begin()
        for columns in self.shared_columns:
            shared[columns] = True
        shared[self.size - self._free_weight :] = True
        far = np.where(shared, _FARTHEST, np.inf)
        return begin - far, begin + far

    @property
    def size(self) -> int:
        """How many free numbers there are."""
        return self._ends[-1] + self._free_weight

    @property
    def shared_columns(self) -> list[list[int]]:
        """For each field the places of its shared numbers, common ones first."""
        model = MODELS[self.hypothesis.model]
        common = list(range(len(model.common)))
        return [[*common, *range(end, end + len(model.of_field))] for end in self._ends[:-1]]

    @property
    def own_columns(self) -> list[slice]:
        """For each field the places of the numbers of its terms."""
        of_field = len(MODELS[self.hypothesis.model].of_field)
        return [slice(a + of_field, b) for a, b in zip(self._ends, self._ends[1:], strict=False)]

    def weight(self, numbers: Array) -> float:
        """That of the second field."""
        return float(np.exp(numbers[-1])) if self.hypothesis.weight is None else self.hypothesis.weight

    def predicted(self, numbers: Array) -> Array:
        """The scores of the documents."""
        return self._combined(self.sums(numbers))

    def sums(self, numbers: Array) -> Array:
        """The scores of the fields, rows, for the documents, columns."""
        return np.array([self._by_row(at, part[0]) for at, part in self._parts(numbers)])

    def lengths(self, at: int) -> Array:
        """What the engine stores of the lengths of a field."""
        counted = self.counts[at].lengths + self.hypothesis.offset
        return LENGTHS[self.hypothesis.lengths](np.maximum(counted, 0))

    def residuals(self, numbers: Array) -> Array:
        """By how much the scores are missed."""
        return self.predicted(numbers) - self.scores

    def jacobian(self, numbers: Array) -> Array:
        """The derivatives of the scores, rows, by the numbers, columns."""
        found = np.zeros((len(self.scores), self.size))
        parts = list(self._parts(numbers))
        sums = np.array([self._by_row(at, part[0]) for at, part in parts])
        for at, (_, by_own, by_shared) in parts:
            counts, counted = self.counts[at], self._counted(sums, at)
            there = counted[counts.rows]
            found[counts.rows, self.own_columns[at].start + counts.terms] = by_own * there
            for column, slope in zip(self.shared_columns[at], by_shared, strict=True):
                found[:, column] += self._by_row(at, slope) * counted
        if self._free_weight:
            found[:, -1] = sums[1] * self._counted(sums, 1)
        return found

    @property
    def _free_weight(self) -> bool:
        return self.hypothesis.weight is None

    @property
    def _ends(self) -> list[int]:
        """Where the numbers of each field begin, and where those of the last end."""
        model = MODELS[self.hypothesis.model]
        sizes = [len(model.of_field) + len(counts.vocabulary) for counts in self.counts]
        return [int(end) for end in np.cumsum([len(model.common), *sizes])]

    def _parts(self, numbers: Array) -> Iterable[tuple[int, Part]]:
        """The place of each field, and what its terms add to the scores, with the weight in it."""
        hypothesis = self.hypothesis
        for at, counts in enumerate(self.counts):
            own = numbers[self.own_columns[at]][counts.terms]
            shared = numbers[self.shared_columns[at]]
            value, *slopes = MODELS[hypothesis.model].part(
                counts.tf, self.lengths(at)[counts.rows], own, shared
            )
            factor = counts.qtf * (self.weight(numbers) if at else 1.0)
            yield at, (value * factor, slopes[0] * factor, slopes[1] * factor)

    def _by_row(self, at: int, values: Array) -> Array:
        found: Array = np.bincount(self.counts[at].rows, values, minlength=len(self.scores)).astype(float)
        return found

    def _combined(self, sums: Array) -> Array:
        best: Array = sums.max(axis=0) if self.hypothesis.combination == MAXIMUM else sums.sum(axis=0)
        return best

    def _counted(self, sums: Array, at: int) -> Array:
        """1 for documents whose score this field is part of, else 0."""
        if self.hypothesis.combination == MAXIMUM:
            best: Array = (sums.argmax(axis=0) == at).astype(float)
            return best
        return np.ones(len(self.scores))


def fit(problem: Problem, scales: Sequence[float] = SCALES, begin: Array | None = None) -> Array:
    """The numbers that meet most scores.

    Scales of the loss that fall by and by lead from all scores to those that the hypothesis explains; text
    differences between two copies of a corpus make outliers, which would pull at all numbers otherwise.
    """
    from scipy.optimize import least_squares  # here, for it takes a second to import

    low, high = problem.bounds()
    numbers = np.clip(problem.begin() if begin is None else begin, low + 1e-9, high - 1e-9)
    for scale in scales:
        found = least_squares(
            problem.residuals,
            numbers,
            problem.jacobian,
            bounds=(low, high),
            loss="cauchy",
            f_scale=scale,
            max_nfev=_FIRST_STEPS if scale == scales[0] else _STEPS,
        )
        numbers = found.x
    return numbers


def standard_errors(problem: Problem, numbers: Array, met: npt.NDArray[np.bool_]) -> Array:
    """Of fitted numbers, from the documents that are met; large where none of these depends on a number."""
    slopes = problem.jacobian(numbers)[met]
    variance = np.mean(np.square(problem.residuals(numbers)[met])) if met.any() else 1.0
    information = slopes.T @ slopes + _UNKNOWN * np.eye(problem.size)
    errors: Array = np.sqrt(variance * np.diag(np.linalg.inv(information)))
    return np.maximum(errors, _FLOAT32 * np.abs(numbers))
