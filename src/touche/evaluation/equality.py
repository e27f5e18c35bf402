"""Decides when two numbers are equal. All significance tests, signs, stars and choices of the best use it.

Scores are sums and quotients of floats, so numbers that are equal by definition can differ in their last
digits: 1/3 + 1/3 - 2/3 need not be exactly 0. These rounding errors are below 1e-12. Scores that really
differ do so by more: by at least 1e-4 for means of P@k, and for other measures hardly ever by less than 1e-7.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST_DIFFERENCE = 1e-9
"""Numbers that differ by less are equal."""

_T = TypeVar("_T")


def are_equal(a: float, b: float) -> bool:
    """Returns whether two numbers are equal up to rounding errors."""
    return abs(a - b) < SMALLEST_DIFFERENCE


def without_last_digits(mean: float) -> float:
    """Returns a mean without the digits that rounding errors decide, so that equal means are printed alike.

    For example, means of 0.1125 can differ in the 17th digit, and would be printed as 0.112 and 0.113.
    """
    return round(mean, 12)


def without_rounding_errors(differences: ArrayLike) -> NDArray[np.float64]:
    """Returns the differences, with exactly 0 where the two numbers are equal, so that the signs can be
    trusted.
    """
    exact = np.asarray(differences, dtype=float)
    return np.where(np.abs(exact) < SMALLEST_DIFFERENCE, 0.0, exact)


def first_highest(candidates: Sequence[_T], values: Sequence[float | None]) -> _T:
    """Returns the candidate with the highest value. If several have equal values, returns the first of them.

    Args:
        candidates: what to choose from; at least one.
        values: each candidate's value; None is lower than all others.
    """
    comparable = [float("-inf") if value is None else value for value in values]
    highest = max(comparable)
    return next(
        candidate
        for candidate, value in zip(candidates, comparable, strict=True)
        # Compared with ==, too, because -inf minus -inf is not a number.
        if value == highest or are_equal(value, highest)
    )
