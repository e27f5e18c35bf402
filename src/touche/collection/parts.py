"""What an engine keeps of a collection, part by part: in this process, or on the workers of a cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, Protocol, TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R")


class Parts(Protocol[_T_co]):
    """The parts of a collection, any number of them, anywhere."""

    def folded(self, zero: _R, fold: Callable[[_R, _T_co], _R], add: Callable[[_R, _R], _R]) -> _R:
        """Folds all parts; the result must not depend on their order, nor on how they are grouped.

        Args:
            zero: the result for no parts; never changed.
            fold: adds a part to the result of those before it.
            add: adds up the results of two groups of parts.
        """


@dataclass(frozen=True)
class LocalParts(Generic[_T]):
    """Parts in the memory of this process.

    Attributes:
        parts: all of them.
    """

    parts: Sequence[_T]

    def folded(self, zero: _R, fold: Callable[[_R, _T], _R], add: Callable[[_R, _R], _R]) -> _R:
        """Folds all parts, which are one group."""
        return reduce(fold, self.parts, zero)
