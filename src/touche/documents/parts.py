"""Results from parts of a collection, in this process or on a cluster's workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Protocol, TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R")


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


class PostponedError(Exception):
    """A ranking needs parts that are not in memory, so it must run again in a later pass."""


class Readings:
    """Parts of a collection that several rankings share, so that one pass can serve them all.

    A reading is one way to turn documents into parts. Only the first ranking of a pass stores its parts, to
    save memory. A later ranking that starts with another reading is postponed.
    """

    def __init__(self) -> None:
        self.begin_pass()

    def begin_pass(self) -> None:
        """Starts a pass and its first ranking, and forgets all parts."""
        self._parts: dict[bytes, Parts[Any]] = {}  # by reading
        self._is_first_ranking = True  # of this pass
        self._has_begun = False  # whether the current ranking has requested parts

    def begin_ranking(self) -> None:
        """Starts the pass's next ranking."""
        self._is_first_ranking = False
        self._has_begun = False

    def parts(self, reading: bytes | None, read: Callable[[], Parts[_T]]) -> Parts[_T]:
        """Returns a reading's parts, from memory or from the collection, or raises PostponedError.

        Args:
            reading: identifies the reading; equal readings are equal bytes. None if it can't be shared.
        """
        is_first_request = not self._has_begun
        self._has_begun = True
        if reading in self._parts:
            return self._parts[reading]
        # A later ranking can only be postponed at its first request. Once under way, it reads what is
        # missing, because postponing it would repeat its work.
        if is_first_request and not self._is_first_ranking:
            raise PostponedError
        parts = read()
        # A later ranking's parts are not stored: memory holds one ranking's parts.
        if self._is_first_ranking and reading is not None:
            self._parts[reading] = parts
        return parts
