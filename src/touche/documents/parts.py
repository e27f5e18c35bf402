"""Results from parts of a collection, in this process or on a cluster's workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Protocol, TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R")

_MAX_READINGS = 4  # settings of one baseline seldom need more


class Parts(Protocol[_T_co]):
    """The results from all parts of a collection."""

    def folded(self, zero: _R, add_part: Callable[[_R, _T_co], _R], merge: Callable[[_R, _R], _R]) -> _R:
        """Folds all parts into one result, which must not depend on their order or grouping.

        Args:
            zero: the initial result; it is never changed.
            add_part: adds a part to a result.
            merge: merges two results, which may come from different machines.
        """


@dataclass(frozen=True)
class LocalParts(Generic[_T]):
    """Parts in this process's memory."""

    parts: Sequence[_T]

    def folded(self, zero: _R, add_part: Callable[[_R, _T], _R], merge: Callable[[_R, _R], _R]) -> _R:
        """Folds the parts in order, so there is nothing to merge."""
        return reduce(add_part, self.parts, zero)


class Readings:
    """Parts of a collection that several rankings share, so that they read it less often.

    A reading is one way to turn documents into parts. Memory holds the parts of the latest few readings.
    """

    def __init__(self) -> None:
        self._parts: dict[bytes, Parts[Any]] = {}  # by reading, the latest one last

    def parts(self, reading: bytes | None, read: Callable[[], Parts[_T]]) -> Parts[_T]:
        """Returns a reading's parts, from memory or from the collection.

        Args:
            reading: identifies the reading; equal readings are equal bytes. None if it can't be shared.
        """
        parts = self._parts.pop(reading, None) if reading else None
        if parts is None:
            parts = read()
        if reading:
            self._parts[reading] = parts
        while len(self._parts) > _MAX_READINGS:
            del self._parts[next(iter(self._parts))]
        return parts
