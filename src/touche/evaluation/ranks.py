"""Ranks of runs over resampled topics, and groups of runs that the paired t-test can't separate."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from touche.evaluation.significance import (
    SIGNIFICANT,
    differences_of,
    holm,
    interval_of,
    resampled_sums,
    t_tests,
)

# A list per run, with one value per topic; the topics are the same for all runs.
Values = Sequence[Sequence[float]]


def rank_intervals(values: Values) -> list[tuple[int, int]]:
    """Returns the 95% interval of each run's rank, by bootstrapping topics.

    Args:
        values: each run's value per topic, as for ``resampled_thousandths``.

    Returns:
        The 2.5th and 97.5th percentile of each run's rank, from 1. Runs with equal means share a rank.
    """
    sums = resampled_thousandths(values)
    return [rank_interval(sums, sums_of_run) for sums_of_run in sums]


def resampled_thousandths(values: Values) -> NDArray[np.float64]:
    """Returns each run's sum over resampled topics. Each resample draws the same topics for all runs.

    Args:
        values: each run's value per topic, with up to three decimals.

    Returns:
        The sums in thousandths, because whole numbers have the same sum in any order. Shape (runs,
        resamples).
    """
    return resampled_sums(np.rint(1000 * np.array(values)).T).T


def rank_interval(rows: NDArray[np.float64], samples: NDArray[np.float64]) -> tuple[int, int]:
    """Returns the 95% interval of a run's rank.

    Args:
        rows: resampled means or sums of the runs to rank among, in the shape (runs, samples). It doesn't
            matter whether the run itself is one of them, because it's never above itself. If the other runs
            can't be resampled, their means, in the shape (other runs, 1).
        samples: the run's resampled means or sums. Sample i is compared with column i of ``rows``.
    """
    low, high = interval_of(1 + (rows > samples).sum(axis=0))
    # Round, because a percentile can lie between two ranks.
    return round(low), round(high)


def groups(values: Values) -> list[int]:
    """Returns each run's group, from 1.

    The best run starts the first group. The next group starts with the first run that the paired t-test,
    Holm-corrected for all pairs, separates from the current group's first run.

    Args:
        values: each run's value per topic, best run first.
    """
    pairs = [*combinations(range(len(values)), 2)]
    p_values = holm(t_tests([differences_of(values[a], values[b]) for a, b in pairs])) if pairs else []
    separable = {pair for pair, p in zip(pairs, p_values, strict=True) if p is not None and p < SIGNIFICANT}
    groups = list[int]()
    first_of_groups = [0]  # the index of each group's first run
    for run in range(len(values)):
        if (first_of_groups[-1], run) in separable:
            first_of_groups.append(run)
        groups.append(len(first_of_groups))
    return groups
