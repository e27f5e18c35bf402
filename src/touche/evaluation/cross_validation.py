"""Cross-validation: each topic is scored with what is best on other topics (Stone 1974)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Generic, TypeVar

from touche.errors import ToucheError
from touche.evaluation.significance import bootstrap_interval

_T = TypeVar("_T")

Values = Mapping[str, float]
"""A measure by topic."""

FOLDS: Mapping[str, Callable[[Sequence[str]], list[Sequence[str]]]] = {
    "two-fold": lambda topics: [topics[::2], topics[1::2]],
    "leave-one-topic-out": lambda topics: [[topic] for topic in topics],
}
"""The names of the methods, each a function from topics to the topics that are tested together."""


@dataclass(frozen=True)
class Fold(Generic[_T]):
    """Topics that are tested together.

    Attributes:
        choice: the candidate with the highest mean over all other topics; the first of several.
        values: the measure of this candidate by tested topic.
    """

    choice: _T
    values: Values

    @property
    def mean(self) -> float | None:
        """The mean over the tested topics; None where the evaluator averages over none of them."""
        return fmean(self.values.values()) if self.values else None


@dataclass(frozen=True)
class CrossValidation(Generic[_T]):
    """What tuning is worth on topics that it has not seen.

    Attributes:
        method: a name in ``FOLDS``.
        folds: the folds; each topic is tested in one of them.
    """

    method: str
    folds: Sequence[Fold[_T]]

    @cached_property
    def values(self) -> Values:
        """The measure by topic, each with a candidate that was chosen by other topics."""
        return {topic: value for fold in self.folds for topic, value in fold.values.items()}

    @property
    def mean(self) -> float:
        """The mean over all topics."""
        return fmean(self.values.values())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the mean, by bootstrap over the topics."""
        return bootstrap_interval(list(self.values.values()))


def cross_validated(
    candidates: Mapping[_T, Values], topics: Sequence[str], method: str
) -> CrossValidation[_T]:
    """Chooses among candidates by some topics and tests the choice on the others.

    Args:
        candidates: settings, weights or whatever is tuned, each with its values.
        topics: the topics in their order, by which they are split: two folds have every second topic.
        method: a name in ``FOLDS``.

    Raises:
        ToucheError: if there are less than two topics.
    """
    if len(topics) < 2:
        raise ToucheError(
            f"{method} cross-validation needs two topics, and there are {len(topics)}; leave it out"
        )
    folds = []
    for tested in FOLDS[method](topics):
        others = set(topics).difference(tested)
        choice = best(candidates, others)
        values = {topic: candidates[choice][topic] for topic in tested if topic in candidates[choice]}
        folds.append(Fold(choice, values))
    return CrossValidation(method, folds)


def best(candidates: Mapping[_T, Values], topics: set[str]) -> _T:
    """The candidate with the highest mean over some topics; the first of several.

    Args:
        candidates: what is tuned, each with its values; a topic that the evaluator leaves out has none.
        topics: the only topics that count.
    """

    def mean(candidate: _T) -> float:
        values = [value for topic, value in candidates[candidate].items() if topic in topics]
        return fmean(values) if values else float("-inf")

    return max(candidates, key=mean)
