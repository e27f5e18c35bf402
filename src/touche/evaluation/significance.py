"""Uncertainty over topics: bootstrap intervals, and paired tests with correction for many of them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from touche.errors import ToucheError

RESAMPLES = 10_000  # of the bootstrap, as in the overview papers
PERMUTATIONS = 100_000
SEED = 2020  # the same topics are drawn every time, and for every run
LEVEL = 0.95  # of intervals
SIGNIFICANT = 0.05  # p-values below, corrected, are called so

_AT_A_TIME = 1_000  # resamples
_EXACT = 16  # topics; 2 to the power of 16 assignments of signs are all tried


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95% confidence interval of a mean over topics (percentile bootstrap, Efron 1979).

    Args:
        values: the score of each topic.

    Returns:
        The 2.5th and the 97.5th percentile of the means of 10,000 resamples.
    """
    scores = np.asarray(values, dtype=float)
    return interval_of(np.concatenate([scores[drawn].mean(axis=1) for drawn in _draws(len(scores))]))


def draws(topics: int) -> NDArray[np.int64]:
    """Returns the topics of each resample: 10,000 rows of that many numbers of topics, the same each time."""
    return np.concatenate([*_draws(topics)])


def _draws(topics: int) -> Iterator[NDArray[np.int64]]:
    """Yields the same, some at a time, because all of a thousand topics need 80 MB."""
    generator = np.random.default_rng(SEED)
    for _ in range(0, RESAMPLES, _AT_A_TIME):
        yield generator.integers(topics, size=(_AT_A_TIME, topics))


def interval_of(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the 2.5th and the 97.5th percentile."""
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)


def t_test(differences: Sequence[float]) -> float | None:
    """The two-sided p-value of Student's paired t-test, by which this project calls differences significant.

    Urbano, Lima and Hanjalic, «Statistical Significance Testing in Information Retrieval» (SIGIR 2019), found
    it to keep its error rate on scores of runs, and to have power.

    Returns:
        1 where no topic differs, and None where all differ alike: then there is no variance to test against.

    Raises:
        ToucheError: if there are fewer than two topics.
    """
    from scipy.stats import ttest_1samp  # here, for it takes a second to import

    if len(differences) < 2:
        problem = f"{len(differences)} topics in common are too few for a test"
        raise ToucheError(f"{problem}; compare runs that share two topics at least")
    if _all_alike(differences):
        return None if differences[0] else 1.0
    return float(ttest_1samp(differences, 0).pvalue)


def randomisation_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of Fisher's paired randomisation test on the mean (Smucker et al. 2007).

    If the two runs were the same, each difference could as well have the other sign. The p-value is the share
    of assignments of signs whose mean is at least as far from 0: of all of them up to 16 topics, else of
    100,000 drawn with a fixed seed, where the observed one counts as one more.
    """
    observed = np.asarray(differences, dtype=float)
    exact = len(observed) <= _EXACT
    rounding = 1e-12 * float(np.abs(observed).sum())  # equal sums differ by their order of adding up
    sums = np.abs(_signs(len(observed)) @ observed)
    as_far = int(np.count_nonzero(sums >= abs(observed.sum()) - rounding))
    return as_far / len(sums) if exact else (as_far + 1) / (len(sums) + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number: the step-down method of Holm (1979).

    None, where a test has no p-value, stays None and counts as one of them: that corrects no less.
    """
    p = np.array(p_values, dtype=float)  # None is not a number, and sorted behind all others
    order = np.argsort(p)
    p[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    return [None if np.isnan(corrected) else float(corrected) for corrected in p]


def effect_size(differences: Sequence[float]) -> float | None:
    """Cohen's d of paired scores: the mean difference in standard deviations of the differences.

    Returns:
        0 where no topic differs, and None where all differ by the same amount.
    """
    if not any(differences):
        return 0.0
    if _all_alike(differences):
        return None
    return float(np.mean(differences) / np.std(differences, ddof=1))


def _all_alike(differences: Sequence[float]) -> bool:
    return max(differences) - min(differences) <= 1e-9 * max(map(abs, differences))


# Kept for the next comparison, as drawing them takes ten times as long as adding up.
@lru_cache(maxsize=2)
def _signs(topics: int) -> NDArray[np.float64]:
    """Assignments of signs, a row each: all that there are, or those drawn."""
    if topics <= _EXACT:
        bits = np.arange(2**topics)[:, None] >> np.arange(topics) & 1
        return np.where(bits, 1.0, -1.0)
    generator = np.random.default_rng(SEED)
    return generator.choice(np.array([-1.0, 1.0]), size=(PERMUTATIONS, topics))
