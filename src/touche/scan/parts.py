"""The parts of a collection that are kept in memory after it was read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Parts(Generic[_T]):
    """A collection's parts, at least one.

    Attributes:
        parts: the parts in this process's memory.
    """

    parts: Sequence[_T]

    def combined(self, of_part: Callable[[_T], _R], combine: Callable[[_R, _R], _R]) -> _R:
        """Computes a result for each part and combines these results into one. The order in which they are
        combined must not matter.

        Args:
            of_part: a function that computes the result for a part.
            combine: a function that combines two results into one.
        """
        return reduce(combine, map(of_part, self.parts))
