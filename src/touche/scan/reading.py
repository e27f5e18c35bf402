"""A whole collection, read once: by all processors where it is large."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Generic, Protocol, TypeVar

from touche.collection.documents import Documents
from touche.collection.parts import LocalParts, Parts
from touche.errors import InputError
from touche.formats.documents import AnyDocument
from touche.formats.pieces import Piece
from touche.progress import processors
from touche.scan.counting import Counting, Fields, Part, Vocabulary, joined
from touche.web.page import RawPage, Skipped

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R")
Work = Callable[[Piece], tuple[Sequence[str], _T]]  # gives the ids that it read, and what it is for

_log = logging.getLogger(__name__)

_BATCH = 1000  # documents that one process reads at a time
_FEW = 16  # pieces, which one process has read before others have started
_MOST = 16  # processes, which are as many as one can cut pieces for
_TOGETHER = 1 << 16  # documents that are scored together: their numbers fit into a processor's cache


class Maker(Protocol[_T_co]):
    """Makes a part of documents, again and again."""

    def part(self, documents: Sequence[AnyDocument]) -> _T_co:
        """What is kept of these documents."""


@dataclass(frozen=True)
class Reading(Generic[_T]):
    """How a collection is read.

    Attributes:
        begin: gives what makes parts, to be closed by a ``with`` block; each process calls it once.
        joined: makes one part of several.
        told: what ``--verbose`` says of all parts.
    """

    begin: Callable[[], AbstractContextManager[Maker[_T]]]
    joined: Callable[[Sequence[_T]], _T]
    told: Callable[[Sequence[_T]], str]


def read(documents: Iterable[AnyDocument], vocabulary: Vocabulary, fields: Fields) -> Parts[Part]:
    """Reads a collection and counts; what is found does not depend on the number of processes.

    Args:
        documents: the collection; never held in memory as a whole.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document.
    """
    return kept(documents, Reading(partial(Counting, vocabulary, fields), joined, partial(_told, fields)))


def kept(documents: Iterable[AnyDocument], reading: Reading[_T]) -> Parts[_T]:
    """Reads a collection, once, and keeps what is made of its documents.

    Args:
        documents: the collection; never held in memory as a whole.
        reading: how it is read.
    """
    collection = Documents.of(documents)
    if parts_of_workers := collection.read_by_workers(partial(_made, reading)):
        return parts_of_workers
    began = time.monotonic()
    gather = partial(_together, reading.joined)
    found = _shared(collection, partial(_making, reading.begin), lambda parts: list(gather(parts)))
    parts = found or list(_made(reading, collection.records()))  # which says if there are none
    seconds, processes = time.monotonic() - began, _processes() if found else 1
    told = (seconds, processes, processors(), reading.told(parts))
    _log.debug("read in %.1f s by %d of %d processors: %s", *told)
    return LocalParts(parts)


def in_batches(
    documents: Iterable[AnyDocument], begin: Callable[[], AbstractContextManager[Maker[_T]]]
) -> Iterator[tuple[int, _T]]:
    """Reads documents, some at a time, and yields how many these were, and what was made of them."""
    ahead = iter(documents)
    with begin() as maker:
        while batch := list(islice(ahead, _BATCH)):
            yield len(batch), maker.part(batch)


def _told(fields: Fields, parts: Sequence[Part]) -> str:
    terms = [sum(part.statistics[n].tokens for part in parts) for n in range(len(fields))]
    terms_of = [f"{count} terms in {name}" for count, name in zip(terms, fields, strict=True)]
    return ", ".join([f"{sum(part.documents for part in parts)} documents", *terms_of])


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """The documents that have these ids, in the order of the collection.

    Args:
        documents: the collection; read once, by all processors if it lies in large files.
        ids: of the documents that are wanted; the others are not held in memory.
    """
    collection = Documents.of(documents)
    found = _shared(collection, partial(_picking, ids), _chained)
    return [each for each in collection.records() if each.id in ids] if found is None else found


def _made(reading: Reading[_T], documents: Iterable[AnyDocument]) -> Iterator[_T]:
    return _together(reading.joined, in_batches(documents, reading.begin))


def _making(begin: Callable[[], AbstractContextManager[Maker[_T]]]) -> Work[tuple[int, _T]]:
    maker = begin().__enter__()  # in a process of its own, with which it ends

    def make_part(piece: Piece) -> tuple[Sequence[str], tuple[int, _T]]:
        documents = _ready(piece.documents())
        return [each.id for each in documents], (len(documents), maker.part(documents))

    return make_part


def _picking(ids: Collection[str]) -> Work[list[AnyDocument]]:
    return lambda piece: ((), _ready(piece.documents(among=ids)))


def _ready(documents: Iterable[AnyDocument | RawPage | Skipped]) -> list[AnyDocument]:
    """The documents of a piece.

    Raises:
        ValueError: if a page is still to be parsed.
    """
    found = list[AnyDocument]()
    for each in documents:
        if isinstance(each, RawPage | Skipped):
            raise ValueError("a page that is still to be parsed")
        found.append(each)
    return found


def _chained(parts: Iterable[list[AnyDocument]]) -> list[AnyDocument]:
    return list(chain(*parts))


def _together(joined: Callable[[Sequence[_T]], _T], parts: Iterable[tuple[int, _T]]) -> Iterator[_T]:
    """The same documents in larger parts; of each part is told how many documents were read for it."""
    waiting: list[_T] = []
    size = 0
    for documents, part in parts:
        waiting.append(part)
        size += documents
        if size >= _TOGETHER:
            yield joined(waiting)
            waiting, size = [], 0
    if size:
        yield joined(waiting)


def _shared(
    documents: Documents,
    make: Callable[[], Work[_T]],
    gather: Callable[[Iterator[_T]], _R],
) -> _R | None:
    """What processes find in the pieces of a collection; None where this process is to read it itself."""
    pieces = documents.pieces() if processors() > 1 else None
    if pieces is None:
        return None
    try:
        first = list(islice(pieces, _FEW))
    except InputError:  # others may come before it
        return None
    if len(first) < _FEW:
        return None
    from touche.scan.sharing import shared  # here, for it takes as long to import as a small run

    return shared(chain(first, pieces), _processes(), make, gather)


def _processes() -> int:
    return min(processors(), _MOST)
