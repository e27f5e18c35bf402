"""Uncertainty over topics: bootstrap intervals, and paired tests corrected for multiple testing."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from touche.errors import ToucheError, counted

RESAMPLES = 10_000  # as in the overview papers; a multiple of _AT_A_TIME
PERMUTATIONS = 100_000  # sign assignments in the randomisation test; a multiple of _AT_A_TIME
SEED = 2020  # the same resamples every time and for every run
LEVEL = 0.95  # of intervals
SIGNIFICANT = 0.05  # corrected p-values below it are significant

_AT_A_TIME = 1_000  # resamples or sign assignments
_EXACT = 16  # up to this many topics, all sign assignments are tried
_DECIMALS = 9  # of differences; equal lists can differ from the 16th decimal on


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the 95% confidence interval of a mean over topics (percentile bootstrap, Efron 1979).

    Args:
        values: the score per topic.

    Returns:
        The 2.5th and 97.5th percentile of 10,000 resampled means.
    """
    scores = np.asarray(values, dtype=float)
    return interval_of(np.concatenate([scores[drawn].mean(axis=1) for drawn in _draws(len(scores))]))


def draws(topics: int) -> NDArray[np.int64]:
    """Returns 10,000 resamples: rows with a topic index per topic, the same in each call."""
    return np.concatenate([*_draws(topics)])


# Cached, because all of a task's runs use the same resamples.
@lru_cache(maxsize=4)
def times_drawn(topics: int) -> NDArray[np.float64]:
    """Returns how often each resample of ``draws`` contains each topic; shape (resamples, topics).

    The numbers are floats, which are exact here and multiply faster.
    """
    drawn = draws(topics)
    # Give each resample and topic its own number, to count all at once.
    cells = drawn + topics * np.arange(len(drawn))[:, None]
    return np.bincount(cells.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.float64)


def _draws(topics: int) -> Iterator[NDArray[np.int64]]:
    """Yields ``draws``' rows in blocks, because all rows for a thousand topics need 80 MB."""
    generator = np.random.default_rng(SEED)
    for _ in range(0, RESAMPLES, _AT_A_TIME):
        yield generator.integers(topics, size=(_AT_A_TIME, topics))


def interval_of(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the 2.5th and the 97.5th percentile."""
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)


def differences_of(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    """Returns the differences of paired scores, rounded to nine decimals.

    This is the only rule for ties: if scores are equal up to rounding errors, their difference is 0, and
    equal differences are exactly equal. Otherwise, the tests would take rounding errors for findings.
    """
    differences = np.round(np.subtract(scores, others), _DECIMALS) + 0.0  # turns -0 into 0
    return differences.tolist()  # type: ignore[no-any-return]


def t_test(differences: Sequence[float]) -> float | None:
    """Returns the two-sided p-value of Student's paired t-test, our significance test.

    Urbano, Lima and Hanjalic, "Statistical Significance Testing in Information Retrieval" (SIGIR 2019), found
    that it keeps its error rate on run scores and has power.

    Args:
        differences: from ``differences_of``.

    Returns:
        1 if no topic differs. None if all differ by the same amount, because t is undefined without variance.

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
    varies = np.ptp(rows, axis=1) > 0
    p_values: list[float | None] = [None if row[0] else 1.0 for row in rows]  # rows without variance
    standard_errors = rows[varies].std(axis=1, ddof=1) / np.sqrt(topics)
    t = rows[varies].mean(axis=1) / standard_errors
    for index, p in zip(np.flatnonzero(varies), 2 * stdtr(topics - 1, -np.abs(t)), strict=True):
        p_values[index] = float(p)
    return p_values


def printed_p(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def randomisation_test(differences: Sequence[float]) -> float:
    """Returns the two-sided p-value of Fisher's paired randomisation test on the mean (Smucker et al. 2007).

    If both runs were equal, each difference could just as well be negated. The p-value is the share of sign
    assignments whose mean is at least as far from 0. Up to 16 topics, all assignments are tried. For more,
    100,000 are drawn with a fixed seed, and the observed one is added.
    """
    observed = np.asarray(differences, dtype=float)
    exact = len(observed) <= _EXACT
    rounding = 1e-12 * float(
        np.abs(observed).sum()
    )  # sums of equal numbers differ with the order of addition
    assignments = _assignments(len(observed))
    total = observed.sum()
    as_far = 0  # assignments whose sum is at least as far from 0
    for start in range(0, len(assignments), _AT_A_TIME):
        bits = np.unpackbits(assignments[start : start + _AT_A_TIME], axis=1, count=len(observed))
        sums = 2 * (bits.astype(float) @ observed) - total  # 1 keeps the sign, 0 changes it
        as_far += int(np.count_nonzero(np.abs(sums) >= abs(total) - rounding))
    return as_far / len(assignments) if exact else (as_far + 1) / (len(assignments) + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns p-values corrected for their number with Holm's step-down method (1979).

    A test without a p-value (None) stays None, but still counts as a test.
    """
    p = np.array(p_values, dtype=float)  # None becomes NaN, which sorts last
    order = np.argsort(p)
    p[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    return [None if np.isnan(corrected) else float(corrected) for corrected in p]


def effect_size(differences: Sequence[float]) -> float | None:
    """Returns Cohen's d of paired scores: the mean difference divided by the differences' standard
    deviation.

    Returns:
        0 if no topic differs; None if all differ by the same amount.
    """
    if not any(differences):
        return 0.0
    if len({*differences}) == 1:
        return None
    return float(np.mean(differences) / np.std(differences, ddof=1))


# Cached for the next comparison, because drawing takes ten times as long as adding.
@lru_cache(maxsize=2)
def _assignments(topics: int) -> NDArray[np.uint8]:
    """Returns sign assignments, one per row: all of them or random ones. A bit of 1 means a positive sign.

    They are packed, because those for a thousand topics need 800 MB as floats.
    """
    if topics <= _EXACT:
        return np.packbits((np.arange(2**topics)[:, None] >> np.arange(topics)) & 1, axis=1)
    generator = np.random.default_rng(SEED)
    # Drawing in blocks needs less memory and gives the same numbers.
    blocks = range(0, PERMUTATIONS, _AT_A_TIME)
    return np.concatenate(
        [np.packbits(generator.integers(2, size=(_AT_A_TIME, topics)), axis=1) for _ in blocks]
    )
