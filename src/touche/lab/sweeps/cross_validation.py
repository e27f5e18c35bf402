"""Cross-validation: each topic is scored with the candidate that is best on other topics (Stone 1974)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Generic, TypeVar

from touche.errors import ToucheError
from touche.evaluation.equality import first_highest
from touche.evaluation.significance import bootstrap_interval
from touche.io.grouping import group_by
from touche.io.identifiers import in_order

_T = TypeVar("_T")

Values = Mapping[str, float]
"""Values of a measure by topic."""

FOLDS: Mapping[str, Callable[[Sequence[str]], list[Sequence[str]]]] = {
    "two-fold": lambda topics: [topics[::2], topics[1::2]],
    "leave-one-topic-out": lambda topics: [[topic] for topic in topics],
}
"""Methods by name; each divides topics into groups that are tested together."""


@dataclass(frozen=True)
class Fold(Generic[_T]):
    """Topics that are tested together.

    Attributes:
        choice: the candidate with the highest mean over all other topics; the first one if several are equal.
        values: this candidate's value for each tested topic.
    """

    choice: _T
    values: Values

    @property
    def mean(self) -> float | None:
        """The mean over the tested topics; None if the evaluator averages over none of them."""
        return fmean(self.values.values()) if self.values else None


@dataclass(frozen=True)
class Choice(Generic[_T]):
    """A candidate that some folds choose.

    Attributes:
        choice: the candidate.
        folds: how many folds choose it.
        topics: how many of the folds' topics the evaluator scores.
        mean: the mean over these topics; None without any.
    """

    choice: _T
    folds: int
    topics: int
    mean: float | None


@dataclass(frozen=True)
class CrossValidation(Generic[_T]):
    """Tuned candidates' scores on topics that weren't used for tuning.

    Attributes:
        method: a name in ``FOLDS``.
        folds: the folds; each topic is tested in exactly one.
    """

    method: str
    folds: Sequence[Fold[_T]]

    @cached_property
    def values(self) -> Values:
        """Values by topic, in order, each from the candidate that was chosen on other topics."""
        values = {topic: value for fold in self.folds for topic, value in fold.values.items()}
        return {topic: values[topic] for topic in sorted(values, key=in_order)}

    @property
    def choices(self) -> list[Choice[_T]]:
        """Each chosen candidate, by its first fold. Candidates with the same text are equal."""
        choices = []
        # Texts are the keys, because a sweep's ``Setting`` can't be hashed.
        for folds in group_by(self.folds, lambda fold: str(fold.choice)).values():
            values = [value for fold in folds for value in fold.values.values()]  # over all the folds' topics
            choices.append(
                Choice(
                    choice=folds[0].choice,
                    folds=len(folds),
                    topics=len(values),
                    mean=fmean(values) if values else None,
                )
            )
        return choices

    @property
    def mean(self) -> float:
        """The mean over all topics."""
        return fmean(self.values.values())

    @property
    def interval(self) -> tuple[float, float]:
        """The mean's 95% confidence interval, by bootstrapping topics."""
        return bootstrap_interval(list(self.values.values()))


def cross_validated(candidates: Sequence[tuple[_T, Values]], method: str) -> CrossValidation[_T]:
    """Chooses among candidates on some topics and tests the choice on the others.

    Args:
        candidates: such as settings, which need not be hashable, each with its values.
        method: a name in ``FOLDS``.

    Raises:
        ToucheError: if there are fewer than two topics, or all values are 0.
    """
    # In order, because two-fold takes every second topic.
    topics = sorted({topic for _, values in candidates for topic in values}, key=in_order)
    if len(topics) < 2:
        problem = f"{method} cross-validation needs two topics, but there are {len(topics)}"
        raise ToucheError(f"{problem}; omit cross-validation")
    if not any(value for _, values in candidates for value in values.values()):
        raise ToucheError(f"all scores are 0, so {method} cross-validation cannot choose; check the task")
    folds = []
    for tested in FOLDS[method](topics):
        choice, values = best(candidates, set(topics).difference(tested))
        folds.append(Fold(choice, {topic: values[topic] for topic in tested if topic in values}))
    return CrossValidation(method, folds)


def best(candidates: Sequence[tuple[_T, Values]], topics: set[str]) -> tuple[_T, Values]:
    """Returns the candidate with the highest mean over some topics; the first one if several are equal.

    Args:
        candidates: candidates with their values; topics that the evaluator leaves out are missing.
        topics: topics to average over.
    """

    def mean(candidate: tuple[_T, Values]) -> float | None:
        values = [value for topic, value in candidate[1].items() if topic in topics]
        return fmean(values) if values else None

    return first_highest(candidates, [*map(mean, candidates)])
