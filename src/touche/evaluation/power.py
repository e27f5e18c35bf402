"""The smallest difference that a paired t-test over some topics can find."""

from collections.abc import Sequence
from functools import cache
from math import sqrt

import numpy as np

from touche.evaluation.significance import SIGNIFICANT

POWER = 0.8  # the test finds the difference in four of five cases


def detectable_difference(differences: Sequence[float]) -> float:
    """Returns the smallest mean difference that the paired t-test finds in four of five cases.

    The test is two-sided, at 0.05.

    Args:
        differences: differences of at least two topics; their sample standard deviation is used.
    """
    return _effect(len(differences)) * float(np.std(differences, ddof=1))


@cache
def _effect(topics: int) -> float:
    """Returns the Cohen's d (1988) that the test finds with power 0.8, by the noncentral t distribution."""
    from scipy.optimize import brentq  # here, because scipy takes 680 ms
    from scipy.stats import nct, t

    degrees_of_freedom = topics - 1
    critical = t.isf(SIGNIFICANT / 2, degrees_of_freedom)

    def excess_power(effect: float) -> float:
        # Only one tail of the two-sided test: at the root, the other one has a probability below 1e-6.
        power = nct.sf(critical, degrees_of_freedom, effect * sqrt(topics))
        return float(power) - POWER

    return float(brentq(excess_power, 0, 100))  # the largest effect is 11.5, for two topics
