"""Whether a hypothesis stands out, and which ones cannot be told apart.

What is compared is the share of scores that are met within 1e-5, never the mean error: a few documents whose
text differs between two copies of a corpus rule that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touche.identify.counts import Analysis
from touche.identify.search import MET, Fit, Found

MOST_FREE = 0.5  # free numbers per document; with more of them everything fits
MAJORITY = 0.5  # of the scores that free numbers cannot account for
_ERRORS = 2.0  # standard errors


@dataclass(frozen=True)
class Verdict:
    """What the fits amount to.

    Attributes:
        winner: the best fit.
        stands_out: whether it is the answer.
        reason: in words, why it is or is not.
        equal: of the other fits those that cannot be told from it.
        undecided: by axis, the values that cannot be told from the winner's, which comes first.
    """

    winner: Fit
    stands_out: bool
    reason: str
    equal: tuple[Fit, ...]
    undecided: Mapping[str, tuple[str, ...]]


def verdict(found: Found) -> Verdict:
    """Judges the fits of a search."""
    winner, *others = found.fits
    equal = tuple(each for each in others if not told_apart(winner, each))
    doubt = _doubt(winner, equal)
    reason = doubt or (
        f"{_beyond(winner):.1%} of the scores that free numbers cannot account for are met, and every other "
        "model can be told from it"
    )
    return Verdict(winner, not doubt, reason, equal, _undecided(winner, equal, found.twins))


def told_apart(a: Fit, b: Fit) -> bool:
    """Whether one meets clearly more scores than the other.

    Counted are the documents that only one of them meets, as in McNemar's test: the two counts have to differ
    by more than two standard errors, and by more than the one has free numbers beyond the other.
    """
    met_a, met_b = a.errors <= MET, b.errors <= MET
    only_a, only_b = int(np.sum(met_a & ~met_b)), int(np.sum(met_b & ~met_a))
    freedom = abs(len(a.numbers) - len(b.numbers))
    return bool(abs(only_a - only_b) > _ERRORS * np.sqrt(only_a + only_b) + freedom)


def _beyond(fit: Fit) -> float:
    """The share of met scores among those that free numbers cannot account for."""
    return fit.gain / max(1 - fit.floor, 1e-9)


def _doubt(winner: Fit, equal: Sequence[Fit]) -> str:
    """Why the winner is no answer; empty where it is one."""
    if winner.floor > MOST_FREE:
        return f"with {winner.floor:.2f} free numbers per document everything fits"
    if _beyond(winner) <= MAJORITY:
        share, floor = f"{winner.share():.1%}", f"{winner.floor:.1%}"
        return f"the best one meets {share} of the scores, where its free numbers alone could meet {floor}"
    models = {each.hypothesis.axes["model"] for each in equal} - {winner.hypothesis.axes["model"]}
    return f"the best one cannot be told from {' and '.join(sorted(models))}" if models else ""


def _undecided(
    winner: Fit, equal: Sequence[Fit], twins: Mapping[Analysis, tuple[Analysis, ...]]
) -> dict[str, tuple[str, ...]]:
    mine = winner.hypothesis
    hypotheses = [mine, *(each.hypothesis for each in equal)]
    alike = [other for each in hypotheses for other in each.with_analyses(twins.get(each.analysis, ()))]
    values = {
        axis: list(dict.fromkeys(each.axes[axis] for each in (*hypotheses, *alike))) for axis in mine.axes
    }
    return {axis: tuple(found) for axis, found in values.items() if len(found) > 1}
