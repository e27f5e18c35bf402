"""Ranks of runs over resampled topics, and groups of runs that the paired t-test cannot separate."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from touche.evaluation.significance import (
    SIGNIFICANT,
    differences_of,
    holm,
    interval_of,
    t_tests,
    times_drawn,
)

Values = Sequence[Sequence[float]]  # of each run, for the same topics


def rank_intervals(values: Values) -> list[tuple[int, int]]:
    """Returns the 95% interval of each run's rank, by bootstrap over topics.

    Args:
        values: values of each run and topic, as for ``resampled_sums``.

    Returns:
        For each run the 2.5th and the 97.5th percentile of its rank, from 1; equal means share a rank.
    """
    sums = resampled_sums(values)
    return [rank_interval(sums, sums_of_run) for sums_of_run in sums]


def resampled_sums(values: Values) -> NDArray[np.float64]:
    """Returns sums over resampled topics, the same topics for all runs.

    Args:
        values: values of each run and topic, with up to three decimals.

    Returns:
        Thousandths, because whole numbers have equal sums whatever their order. A row for each run, and a
        column for each resample.
    """
    thousandths = np.rint(1000 * np.array(values))
    sums: NDArray[np.float64] = thousandths @ times_drawn(thousandths.shape[1]).T
    return sums


def rank_interval(rows: NDArray[np.float64], samples: NDArray[np.float64]) -> tuple[int, int]:
    """Returns the 95% interval of a run's rank.

    Args:
        rows: of shape (runs, samples), samples of each run's mean or sum; the run itself may be among these
            runs, because it is never above itself. Or of shape (other runs, 1), fixed means of the others.
        samples: samples of the run's mean or sum, paired with the columns of ``rows``.
    """
    low, high = interval_of(1 + (rows > samples).sum(axis=0))
    # A percentile can be between two ranks.
    return round(low), round(high)


def groups(values: Values) -> list[int]:
    """Returns the number of each run's group, from 1.

    The best run begins the first group. The next group begins with the first run that the paired t-test, with
    Holm's correction for all pairs, separates from the first run of the group before it.

    Args:
        values: values of each run and topic, best run first.
    """
    pairs = [*combinations(range(len(values)), 2)]
    p_values = holm(t_tests([differences_of(values[a], values[b]) for a, b in pairs])) if pairs else []
    separable = {pair for pair, p in zip(pairs, p_values, strict=True) if p is not None and p < SIGNIFICANT}
    numbers = list[int]()
    first_of_groups = [0]  # the first run of each group so far
    for run in range(len(values)):
        if (first_of_groups[-1], run) in separable:
            first_of_groups.append(run)
        numbers.append(len(first_of_groups))
    return numbers
