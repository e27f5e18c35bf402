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

Values = Sequence[Sequence[float]]  # per run, for the same topics


def rank_intervals(values: Values) -> list[tuple[int, int]]:
    """Returns the 95% interval of each run's rank, by bootstrapping topics.

    Args:
        values: each run's value per topic, as for ``resampled_thousandths``.

    Returns:
        The 2.5th and 97.5th percentile of each run's rank, from 1. Equal means share a rank.
    """
    sums = resampled_thousandths(values)
    return [rank_interval(sums, sums_of_run) for sums_of_run in sums]


def resampled_thousandths(values: Values) -> NDArray[np.float64]:
    """Returns sums over resampled topics, using the same topics for all runs.

    Args:
        values: each run's value per topic, with up to three decimals.

    Returns:
        Thousandths, because sums of whole numbers don't depend on their order. Shape (runs, resamples).
    """
    return resampled_sums(np.rint(1000 * np.array(values)).T).T


def rank_interval(rows: NDArray[np.float64], samples: NDArray[np.float64]) -> tuple[int, int]:
    """Returns the 95% interval of a run's rank.

    Args:
        rows: resampled means or sums, shape (runs, samples); the run itself can be among them, because it is
            never above itself. Or other runs' fixed means, shape (other runs, 1).
        samples: the run's resampled means or sums, paired with the columns of ``rows``.
    """
    low, high = interval_of(1 + (rows > samples).sum(axis=0))
    # A percentile can lie between two ranks.
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
    first_of_groups = [0]  # each group's first run so far
    for run in range(len(values)):
        if (first_of_groups[-1], run) in separable:
            first_of_groups.append(run)
        groups.append(len(first_of_groups))
    return groups
