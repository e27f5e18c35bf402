"""Whether a hypothesis stands out, and which ones cannot be told apart.

Compared are the shares of scores that are met within 1e-5, never the mean errors: a few documents whose text
differs between two copies of a corpus rule those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from touche.identify.counts import Analysis
from touche.identify.fitting import MET, Fit

MOST_FREE = 0.5  # free numbers per document; with more of them everything fits
MAJORITY = 0.5  # of the scores that free numbers cannot account for
_ERRORS = 2.0  # standard errors


def told_apart(a: Fit, b: Fit) -> bool:
    """Whether one meets clearly more scores than the other.

    Counted are the documents that only one of them meets, as in McNemar's test: the two counts have to differ
    by more than two standard errors, and by more than the one has free numbers beyond the other.
    """
    met_a, met_b = a.errors <= MET, b.errors <= MET
    only_a, only_b = int(np.sum(met_a & ~met_b)), int(np.sum(met_b & ~met_a))
    freedom = abs(len(a.numbers) - len(b.numbers))
    return bool(abs(only_a - only_b) > _ERRORS * np.sqrt(only_a + only_b) + freedom)


def verdict(winner: Fit, equal: Sequence[Fit]) -> tuple[bool, str]:
    """Judges whether the best fit is the answer, and explains why.

    Args:
        winner: the best fit.
        equal: those that cannot be told from it.
    """
    beyond = winner.gain / max(1 - winner.floor, 1e-9)  # of what free numbers cannot account for
    models = {fit.hypothesis.axes["model"] for fit in equal} - {winner.hypothesis.axes["model"]}
    if winner.floor > MOST_FREE:
        return False, f"with {winner.floor:.2f} free numbers per document everything fits"
    if beyond <= MAJORITY:
        share, floor = f"{winner.share():.1%}", f"{winner.floor:.1%}"
        return (
            False,
            f"the best one meets {share} of the scores, where its free numbers alone could meet {floor}",
        )
    if models:
        return False, f"the best one cannot be told from {' and '.join(sorted(models))}"
    met = f"{beyond:.1%} of the scores that free numbers cannot account for are met"
    return True, f"{met}, and every other model can be told from it"


def undecided(
    fits: Sequence[Fit], twins: Mapping[Analysis, Sequence[Analysis]]
) -> dict[str, tuple[str, ...]]:
    """Lists, by axis, the values that cannot be told from the winner's, which comes first.

    Args:
        fits: the winner, then those that cannot be told from it.
        twins: analyses that are the same on the sample, by the one that stands for them.
    """
    hypotheses = [fit.hypothesis for fit in fits]
    hypotheses += [
        replace(each, analysis=twin) for each in hypotheses for twin in twins.get(each.analysis, ())
    ]
    values = {
        axis: tuple(dict.fromkeys(each.axes[axis] for each in hypotheses)) for axis in hypotheses[0].axes
    }
    return {axis: of_axis for axis, of_axis in values.items() if len(of_axis) > 1}
