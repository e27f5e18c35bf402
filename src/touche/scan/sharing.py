"""A collection in pieces, handed out to processes."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pickle import PicklingError, dumps
from typing import Any, TypeVar

from touche.errors import InputError, one_line
from touche.formats.pieces import Piece
from touche.processes import CannotStartError, check, executor, in_order, submit
from touche.scan.reading import Work

_T = TypeVar("_T")
_R = TypeVar("_R")

_log = logging.getLogger(__name__)

_Found = tuple[Sequence[str], Any]  # the ids of a piece, which none may have again, and what the work gave


class _NotAloneError(Exception):
    """What other processes cannot do."""


def shared(
    pieces: Iterable[Piece],
    processes: int,
    make: Callable[[], Work[_T]],
    gather: Callable[[Iterator[_T]], _R],
) -> _R | None:
    """What is found in the pieces, in their order.

    Args:
        pieces: of a collection.
        processes: how many work.
        make: makes what is done with a piece; each process calls it once.
        gather: takes what is found in each piece.

    Returns:
        What was gathered; None if a process dies or cannot be started, which a warning says, or a piece
        cannot be read by itself: the caller has to read them all, and comes across what is wrong.

    Raises:
        InputError: if a piece is broken, or an id occurs twice.
    """
    try:
        return gather(_found(pieces, processes, make))
    except _NotAloneError:
        return None
    except (CannotStartError, BrokenProcessPool, OSError) as error:
        reason = "a process died" if isinstance(error, BrokenProcessPool) else one_line(str(error))
        _log.warning("the collection is read by one process alone, which takes longer: %s", reason)
        return None


def _found(pieces: Iterable[Piece], processes: int, make: Callable[[], Work[_T]]) -> Iterator[_T]:
    _check_sendable(make)
    seen: set[str] = set()
    pool = executor(processes, _begin, make)
    try:
        check(pool, "read the collection")
        for piece, future in in_order(_cut(pieces), partial(submit, pool, _work), processes):
            yield _checked(piece, future, seen)
    finally:
        pool.shutdown(cancel_futures=True)


def _check_sendable(make: Callable[..., Any]) -> None:
    """Another process has to find all functions by their names: no lambdas, and none within another."""
    try:
        dumps(make)
    except (PicklingError, AttributeError, TypeError):
        raise _NotAloneError from None


def _cut(pieces: Iterable[Piece]) -> Iterator[Piece]:
    try:
        yield from pieces
    except InputError:  # others may come before it
        raise _NotAloneError from None


def _checked(piece: Piece, future: "Future[_Found | None]", seen: set[str]) -> Any:
    found = future.result()
    if found is None or not seen.isdisjoint(found[0]):
        for _ in piece.documents(seen):
            pass  # which says what is wrong with it
        raise _NotAloneError
    seen.update(found[0])
    return found[1]


_works: list[Work[Any]] = []  # in a process of its own, the one that it does


def _begin(make: Callable[[], Work[Any]]) -> None:
    _works.append(make())


def _work(piece: Piece) -> _Found | None:
    """What the work finds; nothing if something is wrong, or pages are still to be parsed."""
    try:
        return _works[0](piece)
    except Exception:  # the first process comes across it, too, and says it
        return None
