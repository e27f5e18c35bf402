"""Uncertainty over topics: bootstrap intervals, and paired tests corrected for multiple testing."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touche.errors import ToucheError, counted
from touche.evaluation.equality import SMALLEST_DIFFERENCE, without_rounding_errors
from touche.io.grouping import group_by

RESAMPLES = 10_000  # as in the overview papers
PERMUTATIONS = 100_000  # sign assignments in the randomisation test
SEED = 2020  # fixed, so that the same topics are drawn every time and for every run
LEVEL = 0.95  # of intervals
SIGNIFICANT = 0.05  # corrected p-values below it are significant

_EXACT = 16  # the largest number of topics for which all sign assignments are tried
_CACHED = 1_000  # the largest number of topics for which random sign assignments are kept in memory
# How many numbers are drawn at a time; fixed, so that memory doesn't grow with the number of topics.
_CELLS = 1_000_000


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the 95% confidence interval of a mean over topics (percentile bootstrap, Efron 1979).

    Args:
        values: the score per topic.

    Returns:
        The 2.5th and 97.5th percentile of 10,000 resampled means.
    """
    return interval_of(resampled_means(values))


def bootstrap_intervals(
    lists: Sequence[Sequence[float]],
) -> list[tuple[float, float] | tuple[None, None]]:
    """Returns the ``bootstrap_interval`` of each list of values; (None, None) for lists with fewer than two.
    Lists of the same length use the same resamples, because drawing them takes most of the time.
    """
    intervals: list[tuple[float, float] | tuple[None, None]] = [(None, None)] * len(lists)
    for topics, indices in group_by(range(len(lists)), lambda index: len(lists[index])).items():
        if topics > 1:
            means = _resampled_means([np.asarray(lists[index], dtype=float) for index in indices])
            for index, samples in zip(indices, means, strict=True):
                intervals[index] = interval_of(samples)
    return intervals


def resampled_means(values: Sequence[float]) -> NDArray[np.float64]:
    """Returns the mean over each of 10,000 resamples of topics.

    Args:
        values: the score per topic.
    """
    return _resampled_means([np.asarray(values, dtype=float)])[0]


def _resampled_means(lists: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Returns the ``resampled_means`` of each list. All lists must have the same length."""
    means = [np.empty(RESAMPLES) for _ in lists]
    start = 0
    for drawn in _resamples(len(lists[0])):
        for means_of_list, values in zip(means, lists, strict=True):
            means_of_list[start : start + len(drawn)] = values[drawn].mean(axis=1)
        start += len(drawn)
    return means


def resampled_sums(values: NDArray[Any]) -> NDArray[np.float64]:
    """Returns sums over the same resamples of topics as ``resampled_means``.

    Args:
        values: whole numbers, whose sums are exact; shape (topics, columns).

    Returns:
        Each column's sum over each resample; shape (resamples, columns).
    """
    topics = len(values)
    return np.concatenate([_times_drawn(drawn, topics) @ values for drawn in _resamples(topics)])


def _times_drawn(drawn: NDArray[np.int64], topics: int) -> NDArray[np.float64]:
    """Returns how often each resample contains each topic; shape (resamples, topics).

    The numbers are floats, which are exact here and multiply faster.
    """
    # Give each resample and topic its own number, to count all at once.
    cells = drawn + topics * np.arange(len(drawn))[:, None]
    shape = (len(drawn), topics)
    return np.bincount(cells.ravel(), minlength=drawn.size).reshape(shape).astype(np.float64)


def _resamples(topics: int) -> Iterator[NDArray[np.int64]]:
    """Yields 10,000 resamples in blocks: a row of topic indices for each resample. Each call draws the same
    ones.
    """
    generator = np.random.default_rng(SEED)
    for rows in _block_sizes(RESAMPLES, topics):
        yield generator.integers(topics, size=(rows, topics))


def _block_sizes(rows: int, columns: int) -> Iterator[int]:
    """Yields the numbers of rows in consecutive blocks of a table, each with about a million cells."""
    in_block = max(1, _CELLS // columns)
    for start in range(0, rows, in_block):
        yield min(in_block, rows - start)


def interval_of(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the 2.5th and the 97.5th percentile."""
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)


def differences_of(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    """Returns the differences of paired scores; 0 if scores are equal up to rounding errors.

    Without this, a test could find a rounding error significant.
    """
    return without_rounding_errors(np.subtract(scores, others)).tolist()  # type: ignore[no-any-return]


def t_test(differences: Sequence[float]) -> float | None:
    """Returns the two-sided p-value of Student's paired t-test, our significance test.

    Urbano, Lima and Hanjalic, "Statistical Significance Testing in Information Retrieval" (SIGIR 2019), found
    that, on the scores of runs, its error rate is as low as promised and that it detects many true
    differences.

    Args:
        differences: from ``differences_of``.

    Returns:
        The p-value; 1 if all differences are 0. None if all differences are the same other number, because t
        is undefined if the variance is 0.

    Raises:
        ToucheError: if there are fewer than two topics.
    """
    if len(differences) < 2:
        problem = f"{counted(len(differences), 'topic')} in common, too few for a test"
        raise ToucheError(f"{problem}; compare runs that share at least two topics")
    return t_tests([differences])[0]


def t_tests(differences: Sequence[Sequence[float]]) -> list[float | None]:
    """Returns ``t_test``'s p-values for several pairs of runs over the same topics.

    Args:
        differences: each pair's difference per topic.
    """
    from scipy.special import stdtr  # slow to import; scipy.stats takes three times as long

    rows = np.array(differences, dtype=float)
    topics = rows.shape[1]
    varies = np.ptp(rows, axis=1) >= SMALLEST_DIFFERENCE
    # The values for rows whose differences are all the same; the others are replaced below.
    p_values: list[float | None] = [None if row[0] else 1.0 for row in rows]
    standard_errors = rows[varies].std(axis=1, ddof=1) / np.sqrt(topics)
    t = rows[varies].mean(axis=1) / standard_errors
    for index, p in zip(np.flatnonzero(varies), 2 * stdtr(topics - 1, -np.abs(t)), strict=True):
        p_values[index] = float(p)
    return p_values


def printed_p(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def randomisation_test(differences: Sequence[float]) -> float:
    """Returns the two-sided p-value of Fisher's paired randomisation test on the mean (Smucker et al. 2007).

    If both runs were equally good, each difference could just as well have the opposite sign. The p-value is
    the share of assignments of signs for which the mean is at least as far from 0 as the observed mean. For
    up to 16 topics, all assignments are tried. For more topics, 100,000 assignments are drawn with a fixed
    seed, and the observed one is added to them.
    """
    observed = np.asarray(differences, dtype=float)
    total = observed.sum()
    as_far = 0  # how many assignments have a sum at least as far from 0 as the observed sum
    tried = 0
    for is_positive in _assignments(len(observed)):
        sums = (
            2 * (is_positive @ observed) - total
        )  # keeps the signs of the positive ones, negates the others
        as_far += int(np.count_nonzero(np.abs(sums) > abs(total) - SMALLEST_DIFFERENCE))
        tried += len(is_positive)
    return as_far / tried if len(observed) <= _EXACT else (as_far + 1) / (tried + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns p-values corrected for their number with Holm's step-down method (1979).

    None stands for a test without a p-value. It stays None, but counts as a test when the others are
    corrected.
    """
    p = np.array(p_values, dtype=float)  # None becomes NaN, which sorts last
    order = np.argsort(p)
    p[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    return [None if np.isnan(corrected) else float(corrected) for corrected in p]


def effect_size(differences: Sequence[float]) -> float | None:
    """Returns Cohen's d of paired scores: the mean difference divided by the differences' standard
    deviation.

    Returns:
        The effect size; 0 if all differences are 0, None if all differences are the same other number.
    """
    if not any(differences):
        return 0.0
    if np.ptp(differences) < SMALLEST_DIFFERENCE:
        return None
    mean = without_rounding_errors(np.mean(differences))
    return float(mean / np.std(differences, ddof=1))


def _assignments(topics: int) -> Iterator[NDArray[np.float64]]:
    """Yields sign assignments in blocks: all possible ones if there are few topics, otherwise random ones.
    Each row of a block is an assignment, with a column per topic: 1 is a positive sign, 0 a negative one.
    """
    if topics <= _EXACT:
        yield ((np.arange(2**topics)[:, None] >> np.arange(topics)) & 1).astype(float)
        return
    for packed in _packed_assignments(topics) if topics <= _CACHED else _drawn_assignments(topics):
        yield np.unpackbits(packed, axis=1, count=topics).astype(float)


# Cached, because drawing the signs takes ten times as long as computing the sums.
@lru_cache(maxsize=2)
def _packed_assignments(topics: int) -> Sequence[NDArray[np.uint8]]:
    """Returns random sign assignments, kept for the next comparison of runs. They take 12.5 MB for 1,000
    topics.
    """
    return [*_drawn_assignments(topics)]


def _drawn_assignments(topics: int) -> Iterator[NDArray[np.uint8]]:
    """Yields random sign assignments in blocks, a bit for each sign. Each call draws the same ones."""
    generator = np.random.default_rng(SEED)
    for rows in _block_sizes(PERMUTATIONS, topics):
        yield np.packbits(generator.integers(2, size=(rows, topics)), axis=1)
