"""A whole collection, read and counted by all processors."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from pickle import PicklingError, dumps

from touche.formats.documents import AnyDocument
from touche.formats.pieces import InPieces, Piece
from touche.processes import check, executor
from touche.progress import processors
from touche.scan.counting import Counting, Fields, Part, Vocabulary, count, joined
from touche.web.page import RawPage, Skipped

_FEW = 3  # pieces; before a process has started, this one has counted as many
_TOGETHER = 1 << 16  # documents that are scored together: their numbers fit into a processor's cache


def read(documents: Iterable[AnyDocument], vocabulary: Vocabulary, fields: Fields) -> list[Part]:
    """Reads a collection and counts; what is found does not depend on the number of processes.

    A collection in pieces is handed to a process for each processor. Where that cannot be, or something is
    wrong with a piece, it is read by this one, which says what.

    Args:
        documents: the collection; never held in memory as a whole.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document.
    """
    if pieces := _worth_sharing(documents, fields):
        try:
            return list(_together(_counted(pieces, vocabulary, fields)))
        except (_NotAloneError, BrokenProcessPool):
            pass
    return list(_together(count(documents, vocabulary, fields)))


class _NotAloneError(Exception):
    """A piece cannot be counted by itself."""


def _worth_sharing(documents: Iterable[AnyDocument], fields: Fields) -> Iterator[Piece] | None:
    pieces = documents.pieces() if isinstance(documents, InPieces) and processors() > 1 else None
    first = list(islice(pieces, _FEW)) if pieces else []
    return chain(first, pieces) if pieces and len(first) == _FEW and _can_travel(fields) else None


def _can_travel(fields: Fields) -> bool:
    """Whether another process can find the functions; not those that stand within another, and lambdas."""
    try:
        return bool(dumps(fields))
    except (PicklingError, AttributeError, TypeError):
        return False


def _together(parts: Iterable[Part]) -> Iterator[Part]:
    """The same documents in larger parts."""
    waiting: list[Part] = []
    for part in parts:
        waiting.append(part)
        if sum(len(each.ids) for each in waiting) >= _TOGETHER:
            yield joined(waiting)
            waiting.clear()
    if waiting:
        yield joined(waiting)


def _counted(pieces: Iterable[Piece], vocabulary: Vocabulary, fields: Fields) -> Iterator[Part]:
    """What each piece holds, in their order; few are under way at a time, so that none pile up."""
    seen: set[str] = set()
    workers = processors()
    pool = executor(workers, _begin, vocabulary, fields)
    under_way: deque[tuple[Piece, Future[Part | None]]] = deque()
    try:
        check(pool, "count terms")
        for piece in pieces:
            under_way.append((piece, pool.submit(_count, piece)))
            if len(under_way) > 2 * workers:
                yield _new(*under_way.popleft(), seen)
        while under_way:
            yield _new(*under_way.popleft(), seen)
    finally:
        pool.shutdown(cancel_futures=True)


def _new(piece: Piece, future: "Future[Part | None]", seen: set[str]) -> Part:
    part = future.result()
    if part is None or not seen.isdisjoint(part.ids):
        for _ in piece.documents(seen):
            pass  # which says what is wrong with it
        raise _NotAloneError
    seen.update(part.ids)
    return part


# In a process of its own: what it counts with, and never closes.
_counting: list[Counting] = []


def _begin(vocabulary: Vocabulary, fields: Fields) -> None:
    _counting.append(Counting(vocabulary, fields))


def _count(piece: Piece) -> Part | None:
    """What a piece holds; nothing if something is wrong with it, or its pages are still to be parsed."""
    try:
        documents = list(piece.documents())
        to_be_parsed = any(isinstance(each, RawPage | Skipped) for each in documents)
        return None if to_be_parsed else _counting[0].part(documents)
    except Exception:  # the first process finds it again, and says it
        return None
