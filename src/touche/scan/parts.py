"""The parts that reading a collection leaves."""

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
        """Returns one result for all parts, which must not depend on how they are grouped.

        Args:
            of_part: computes a part's result.
            combine: combines two results into one.
        """
        return reduce(combine, map(of_part, self.parts))
