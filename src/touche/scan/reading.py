"""Reads a collection once. One or several processes count batches of documents; their counts are then
joined.
"""

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from pickle import PicklingError, dumps
from typing import Any, Generic, TypeVar

from touche.documents import pieces as cutting
from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.documents.pages import RawPage, Skipped
from touche.documents.pieces import Piece
from touche.errors import InputError, one_line
from touche.io.opening import PACKED_SUFFIXES
from touche.io.progress import processors
from touche.scan.parts import Parts

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_BATCH_DOCUMENTS = 1000  # how many documents are counted at a time if there is only one process
_MIN_PIECES = 8  # with fewer pieces than this, one process is done before others have started
_PACKED_RATIO = 3  # a text is usually this many times as large as the compressed file
_MAX_PROCESSES = 16  # the main process can't cut pieces fast enough for more processes
# How many documents are scored together; their counts should fit into the processor's cache.
_MERGED_DOCUMENTS = 1 << 16


@dataclass(frozen=True)
class Reading(Generic[_T]):
    """How to read a collection.

    Attributes:
        begin: a function that is called once in each process. It returns a function that turns documents into
            a part.
        merge: joins several parts.
        summary: a function that describes all parts in words, for ``--verbose``.
        among: the ids of the documents to read; None for all documents. If only some are read, it isn't
            checked whether ids repeat.
    """

    begin: Callable[[], Callable[[Sequence[AnyDocument]], _T]]
    merge: Callable[[Sequence[_T]], _T]
    summary: Callable[[Sequence[_T]], str]
    among: Collection[str] | None = None


class ReadingDocuments(Documents):
    """A collection that can't simply be read in this process, e.g. because it's on a cluster. It therefore
    has its own method that reads it and returns the parts.
    """

    @abstractmethod
    def parts(self, reading: Reading[_T]) -> Parts[_T]:
        """Reads the collection and returns its parts."""


class _OneProcessError(Exception):
    """Several processes can't read the collection, so that one process has to do it."""


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """Returns the documents with these ids, in the order of the collection.

    Args:
        documents: the collection, not on a cluster. It's read once, by all processors if its files are large.
        ids: the ids; other documents aren't stored.
    """
    reading = Reading(
        begin=partial(_Picking, ids),
        merge=_chain_lists,
        summary=lambda parts: f"{sum(map(len, parts))} picked",
        among=ids,
    )
    return _chain_lists(_local_parts(Documents.of(documents), reading))


@dataclass(frozen=True)
class _Picking:
    """Turns documents into a part that consists of the documents with certain ids."""

    ids: Collection[str]

    def __call__(self, documents: Sequence[AnyDocument]) -> list[AnyDocument]:
        return [document for document in documents if document.id in self.ids]


def _chain_lists(parts: Iterable[list[AnyDocument]]) -> list[AnyDocument]:
    return list(chain.from_iterable(parts))


def read_parts(documents: Iterable[AnyDocument], reading: Reading[_T]) -> Parts[_T]:
    """Reads a collection once, and returns the parts that are made from its documents.

    Args:
        documents: the collection, which is never completely in memory.
        reading: how to read it.
    """
    collection = Documents.of(documents)
    if isinstance(collection, ReadingDocuments):
        return collection.parts(reading)
    return Parts(_local_parts(collection, reading) or [reading.begin()([])])


def _local_parts(collection: Documents, reading: Reading[_T]) -> list[_T]:
    """Reads a collection with one or several processes on this machine, and returns the parts."""
    began = time.monotonic()
    processes = min(processors(), _MAX_PROCESSES)
    parts = None
    if processes > 1 and not _is_small(collection.paths):
        parts = parts_in_parallel(reading, collection, processes)
    if parts is None:
        processes = 1
        parts = list(parts_in_process(reading, collection))
    if _log.isEnabledFor(logging.DEBUG):  # compute the summary only if it will be shown
        seconds = time.monotonic() - began
        summary = reading.summary(parts)
        _log.debug("read in %.1f s by %d of %d processors: %s", seconds, processes, processors(), summary)
    return parts


def _is_small(paths: Sequence[Path]) -> bool:
    """Returns whether a collection is so small that there are only few pieces, judging by file sizes. For
    compressed files, this is an estimate.
    """
    try:
        sizes = [
            path.stat().st_size * (_PACKED_RATIO if path.suffix in PACKED_SUFFIXES else 1) for path in paths
        ]
    except OSError:
        return False
    # All pieces have the full size, except at most one smaller piece per file.
    most_pieces = sum(sizes) / cutting.SIZE + len(paths)
    return most_pieces < _MIN_PIECES


def parts_in_process(reading: Reading[_T], documents: Iterable[AnyDocument]) -> Iterator[_T]:
    """Reads documents in this process, and yields the parts that are made from them."""
    make_part = reading.begin()
    remaining = iter(documents)
    # Each call reads the next batch. An empty batch means that there are no more documents.
    batches = iter(lambda: list(islice(remaining, _BATCH_DOCUMENTS)), [])
    return _merge_small(reading.merge, ((len(batch), make_part(batch)) for batch in batches))


def _merge_small(merge: Callable[[Sequence[_T]], _T], parts: Iterable[tuple[int, _T]]) -> Iterator[_T]:
    """Joins small parts into larger ones.

    Args:
        merge: joins several parts.
        parts: each part, preceded by its number of documents.
    """
    waiting: list[_T] = []
    waiting_documents = 0
    for document_count, part in parts:
        waiting.append(part)
        waiting_documents += document_count
        if waiting_documents >= _MERGED_DOCUMENTS:
            yield merge(waiting)
            waiting = []
            waiting_documents = 0
    if waiting_documents:  # if 0, the remaining parts contain no documents and are left out
        yield merge(waiting)


def parts_in_parallel(reading: Reading[_T], collection: Documents, processes: int) -> list[_T] | None:
    """Returns a collection's parts, read by several processes.

    Returns:
        All parts; None if one process must read the collection instead. This is the case if files in this
        format can't be divided into pieces, if other processes can't import the functions in ``reading``, or
        if anything fails. When one process then reads the collection, it finds errors in the files and
        reports them. If processes died or couldn't be started, there is a warning.
    """
    pieces = collection.pieces()
    try:
        # Raises an error for lambdas and inner functions, because other processes can't import them.
        dumps(reading.begin)
    except (PicklingError, AttributeError, TypeError):
        return None
    if pieces is None:  # files in this format can't be divided into pieces
        return None
    # Imported here, because it takes 10 ms and is only needed for large collections.
    from concurrent.futures.process import BrokenProcessPool

    from touche.io.processes import CannotStartError

    try:
        counted_parts = _parts_of_pieces(reading, pieces, processes)
        parts = list(_merge_small(reading.merge, counted_parts))
        # The collection is empty; let one process read it, which reports that.
        if not parts and reading.among is None:
            return None
        return parts  # empty if none of the documents in ``among`` exists
    except (_OneProcessError, InputError):
        return None
    except (CannotStartError, BrokenProcessPool, OSError) as error:
        reason = "a process died" if isinstance(error, BrokenProcessPool) else one_line(str(error))
        _log.warning("only one process reads the collection, which takes longer: %s", reason)
        return None


def _parts_of_pieces(
    reading: Reading[_T], pieces: Iterable[Piece], processes: int
) -> Iterator[tuple[int, _T]]:
    """Yields each piece's part, preceded by its number of documents, in the order of the pieces.

    Raises:
        _OneProcessError: if a piece is broken, or an id occurs twice.
    """
    from touche.io.processes import Pool, in_order  # takes 10 ms, only needed for large collections

    seen: set[str] = set()
    with Pool(processes, _begin_worker, reading.begin, reading.among) as pool:
        pool.check("read the collection", reading.begin)
        # Send pieces without their content: a worker that reads it from the file again is faster.
        sent = (piece.without_raw() for piece in pieces)
        for _, future in in_order(sent, partial(pool.submit, _part_of_piece), processes):
            ids, document_count, part = future.result()
            repeated_ids = seen.intersection(ids)
            if part is None or repeated_ids:
                raise _OneProcessError
            seen.update(ids)
            yield document_count, part


# Global state of a worker process: a list with one item, which is the function that makes parts and the ids
# of the documents to read.
_worker_state: list[tuple[Callable[[Sequence[AnyDocument]], Any], Collection[str] | None]] = []


def _begin_worker(begin: Callable[[], Callable[..., Any]], among: Collection[str] | None) -> None:
    """Prepares a worker process before it reads its first piece. Arguments as in ``Reading``."""
    _worker_state.append((begin(), among))


def _part_of_piece(piece: Piece) -> tuple[Sequence[str], int, Any]:
    """Returns a piece's ids, number of documents and part; the part is None after a failure.

    The ids are used to find documents that are in several pieces. If only some documents are read, no ids are
    returned, because this isn't checked.
    """
    try:
        make_part, among = _worker_state[0]
        documents: list[AnyDocument] = []
        for document in piece.with_raw().documents(wanted=among):
            # Pages that have to be parsed or skipped are only handled by the main process.
            if isinstance(document, RawPage | Skipped):
                return (), 0, None
            documents.append(document)
        ids = [document.id for document in documents] if among is None else []
        return ids, len(documents), make_part(documents)
    except Exception:  # any error: the main process reads the collection again and reports it
        return (), 0, None
