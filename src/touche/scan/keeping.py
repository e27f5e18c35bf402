"""What was found in the parts of a collection, kept where it was found: in this process, or on a cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, Protocol, TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R")


class Kept(Protocol[_T_co]):
    """The parts of a collection, of which there may be any number, anywhere."""

    def folded(self, zero: _R, fold: Callable[[_R, _T_co], _R], add: Callable[[_R, _R], _R]) -> _R:
        """What all parts come to; it must not depend on their order, nor on how they lie together.

        Args:
            zero: what no parts come to; never changed.
            fold: adds a part to what those before it came to.
            add: adds up what two groups of parts came to.
        """


@dataclass(frozen=True)
class Here(Generic[_T]):
    """Parts in the memory of this process.

    Attributes:
        parts: all of them.
    """

    parts: Sequence[_T]

    def folded(self, zero: _R, fold: Callable[[_R, _T], _R], add: Callable[[_R, _R], _R]) -> _R:
        """What all parts come to; there is one group of them."""
        return reduce(fold, self.parts, zero)
