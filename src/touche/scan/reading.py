"""A whole collection, read by all processors."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, islice
from pickle import PicklingError, dumps
from typing import Any, Protocol, TypeVar, runtime_checkable

from touche.errors import InputError
from touche.formats.documents import AnyDocument
from touche.formats.pieces import Piece
from touche.processes import check, executor
from touche.progress import processors
from touche.scan.counting import Counting, Fields, Part, Vocabulary, count, joined
from touche.web.page import RawPage, Skipped

_T = TypeVar("_T")
_Work = Callable[[Sequence[AnyDocument]], _T]  # what is done with the documents of a piece

_FEW = 4  # pieces, which one process has read before others have started
_TOGETHER = 1 << 16  # documents that are scored together: their numbers fit into a processor's cache


def read(documents: Iterable[AnyDocument], vocabulary: Vocabulary, fields: Fields) -> list[Part]:
    """Reads a collection and counts; what is found does not depend on the number of processes.

    Args:
        documents: the collection; never held in memory as a whole.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document.
    """
    if pieces := _worth_sharing(documents):
        try:
            return list(_together(_by_processes(pieces, partial(_counting, vocabulary, fields))))
        except _NotAloneError:
            pass
    return list(_together(count(documents, vocabulary, fields)))


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """The documents that have these ids, in the order of the collection."""
    if pieces := _worth_sharing(documents):
        try:
            return list(chain(*_by_processes(pieces, partial(_picking, ids))))
        except _NotAloneError:
            pass
    return [each for each in documents if each.id in ids]


def _counting(vocabulary: Vocabulary, fields: Fields) -> _Work[Part]:
    return Counting(vocabulary, fields).part


def _picking(ids: Collection[str]) -> _Work[list[AnyDocument]]:
    return lambda documents: [each for each in documents if each.id in ids]


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


@runtime_checkable
class _InPieces(Protocol):
    """A collection whose files can be cut, such as ``touche.tira.inputs.Files``."""

    def pieces(self) -> Iterator[Piece] | None:
        """The pieces, if its format can be cut."""


class _NotAloneError(Exception):
    """What other processes cannot do: the first has to, and says what is wrong."""


def _worth_sharing(documents: Iterable[AnyDocument]) -> Iterator[Piece] | None:
    pieces = documents.pieces() if isinstance(documents, _InPieces) and processors() > 1 else None
    if pieces is None:
        return None
    try:
        first = list(islice(pieces, _FEW))
    except InputError:  # which may not be the first; one process says that
        return None
    return chain(first, _cut(pieces)) if len(first) == _FEW else None


def _cut(pieces: Iterator[Piece]) -> Iterator[Piece]:
    try:
        yield from pieces
    except InputError:
        raise _NotAloneError from None


def _by_processes(pieces: Iterable[Piece], make: Callable[[], _Work[_T]]) -> Iterator[_T]:
    """What is found in each piece, in their order; few are under way at a time, so that none pile up.

    Args:
        pieces: of a collection.
        make: makes what is done with the documents of a piece; each process calls it once.

    Raises:
        InputError: if a piece is broken, or an id occurs twice.
        _NotAloneError: if a process dies, or a piece cannot be read by itself for another reason.
    """
    seen: set[str] = set()
    under_way: deque[tuple[Piece, Future[_Found | None]]] = deque()
    pool = executor(processors(), _begin, _sendable(make))
    try:
        check(pool, "read the collection")
        for piece in pieces:
            under_way.append((piece, pool.submit(_work, piece)))
            if len(under_way) > 2 * processors():
                yield _checked(*under_way.popleft(), seen)
        while under_way:
            yield _checked(*under_way.popleft(), seen)
    except BrokenProcessPool:
        raise _NotAloneError from None
    finally:
        pool.shutdown(cancel_futures=True)


def _sendable(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same, if another process can find all its functions; not lambdas, and those within another."""
    try:
        dumps(make)
    except (PicklingError, AttributeError, TypeError):
        raise _NotAloneError from None
    return make


_Found = tuple[list[str], Any]  # the ids of a piece, and what the work gave


def _checked(piece: Piece, future: "Future[_Found | None]", seen: set[str]) -> Any:
    found = future.result()
    if found is None or not seen.isdisjoint(found[0]):
        for _ in piece.documents(seen):
            pass  # which says what is wrong with it
        raise _NotAloneError
    seen.update(found[0])
    return found[1]


_works: list[_Work[Any]] = []  # in a process of its own, the one that it does


def _begin(make: Callable[[], _Work[Any]]) -> None:
    _works.append(make())


def _work(piece: Piece) -> _Found | None:
    """What the work finds; nothing if something is wrong, or pages are still to be parsed."""
    documents: list[AnyDocument] = []
    try:
        for each in piece.documents():
            if isinstance(each, RawPage | Skipped):
                return None
            documents.append(each)
        return [each.id for each in documents], _works[0](documents)
    except Exception:  # the first process comes across it, too, and says it
        return None
