"""Results from the parts of a collection, in this process or on the workers of a cluster."""

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
        """Aggregates all parts into one result, which must not depend on their order or grouping.

        Args:
            zero: the result of no parts; it is never changed.
            add_part: returns a result with one more part.
            merge: merges the results of two groups of parts, which may be on different machines.
        """


@dataclass(frozen=True)
class LocalParts(Generic[_T]):
    """Parts in the memory of this process.

    Attributes:
        parts: all parts.
    """

    parts: Sequence[_T]

    def folded(self, zero: _R, add_part: Callable[[_R, _T], _R], merge: Callable[[_R, _R], _R]) -> _R:
        """Aggregates all parts as one group, so that there is nothing to merge."""
        return reduce(add_part, self.parts, zero)


class PostponedError(Exception):
    """A ranking needs parts that are not in memory; it has to be repeated in a later pass."""


class Readings:
    """Parts of one collection that several rankings share, so that a pass over it serves all of them.

    A reading makes parts from the documents in some way. Only the first ranking of a pass adds readings, so
    that memory contains the parts of one ranking. A later ranking that begins with another reading is
    postponed.
    """

    def __init__(self) -> None:
        """Starts the first pass, without parts."""
        self.begin_pass()

    def begin_pass(self) -> None:
        """Starts a pass and its first ranking; forgets all parts."""
        self._parts: dict[bytes, Parts[Any]] = {}  # by reading
        self._is_first_ranking = True  # in this pass
        self._has_begun = False  # whether the present ranking has requested parts before

    def begin_ranking(self) -> None:
        """Starts a later ranking of the same pass."""
        self._is_first_ranking = False
        self._has_begun = False

    def parts(self, reading: bytes | None, read: Callable[[], Parts[_T]]) -> Parts[_T]:
        """Returns the parts of a reading, from memory or from the collection.

        Args:
            reading: identifies the reading, because equal ones have equal bytes; None if it cannot be shared.
            read: reads the collection and makes the parts.

        Raises:
            PostponedError: if the ranking has to wait for another pass.
        """
        is_first_request = not self._has_begun
        self._has_begun = True
        if reading in self._parts:
            return self._parts[reading]
        # A later ranking waits only at its first request; once it has begun, it reads what it lacks,
        # because postponing it would repeat its work.
        if is_first_request and not self._is_first_ranking:
            raise PostponedError
        parts = read()
        # Parts that a later ranking reads are not stored, so that memory contains those of one ranking.
        if self._is_first_ranking and reading is not None:
            self._parts[reading] = parts
        return parts
