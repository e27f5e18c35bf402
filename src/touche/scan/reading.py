"""Reads a collection once: one or several processes count batches of documents, which are then joined."""

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

_BATCH_DOCUMENTS = 1000  # one process reads them at a time
_MIN_PIECES = 8  # with fewer, one process is done before others have started
_PACKED_RATIO = 3  # usual size of a text relative to the compressed file
_MAX_PROCESSES = 16  # one process can't cut pieces for more
_MERGED_DOCUMENTS = 1 << 16  # scored together, so that their counts fit into the processor's cache


@dataclass(frozen=True)
class Reading(Generic[_T]):
    """How to read a collection.

    Attributes:
        begin: called once per process; returns a function that turns documents into a part.
        merge: joins several parts.
        summary: describes all parts for ``--verbose``.
        among: the only ids to read, whose pieces aren't checked for repeated ids; None for all.
    """

    begin: Callable[[], Callable[[Sequence[AnyDocument]], _T]]
    merge: Callable[[Sequence[_T]], _T]
    summary: Callable[[Sequence[_T]], str]
    among: Collection[str] | None = None


class ReadingDocuments(Documents):
    """A collection that an engine can't read in this process alone, so it makes the engine's parts itself."""

    @abstractmethod
    def parts(self, reading: Reading[_T]) -> Parts[_T]:
        """Returns the parts of a reading."""


class _OneProcessError(Exception):
    """One process must read the collection."""


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """Returns the documents with some ids, in collection order.

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
    """Picks the documents with some ids."""

    ids: Collection[str]

    def __call__(self, documents: Sequence[AnyDocument]) -> list[AnyDocument]:
        return [document for document in documents if document.id in self.ids]


def _chain_lists(parts: Iterable[list[AnyDocument]]) -> list[AnyDocument]:
    return list(chain.from_iterable(parts))


def read_parts(documents: Iterable[AnyDocument], reading: Reading[_T]) -> Parts[_T]:
    """Reads a collection once, and stores the parts made from its documents.

    Args:
        documents: the collection, which is never completely in memory.
        reading: how to read it.
    """
    collection = Documents.of(documents)
    if isinstance(collection, ReadingDocuments):
        return collection.parts(reading)
    return Parts(_local_parts(collection, reading) or [reading.begin()([])])


def _local_parts(collection: Documents, reading: Reading[_T]) -> list[_T]:
    """Returns the parts that this machine's processes make."""
    began = time.monotonic()
    processes = min(processors(), _MAX_PROCESSES)
    parts = None
    if processes > 1 and not _is_small(collection.paths):
        parts = parts_in_parallel(reading, collection, processes)
    if parts is None:
        processes = 1
        parts = list(parts_in_process(reading, collection))
    if _log.isEnabledFor(logging.DEBUG):  # otherwise nobody needs the summary
        seconds = time.monotonic() - began
        summary = reading.summary(parts)
        _log.debug("read in %.1f s by %d of %d processors: %s", seconds, processes, processors(), summary)
    return parts


def _is_small(paths: Sequence[Path]) -> bool:
    """Returns whether file sizes tell, or suggest for compressed files, that there are few pieces."""
    try:
        sizes = [
            path.stat().st_size * (_PACKED_RATIO if path.suffix in PACKED_SUFFIXES else 1) for path in paths
        ]
    except OSError:
        return False
    # Full-size pieces, plus at most one smaller piece per file.
    most_pieces = sum(sizes) / cutting.SIZE + len(paths)
    return most_pieces < _MIN_PIECES


def parts_in_process(reading: Reading[_T], documents: Iterable[AnyDocument]) -> Iterator[_T]:
    """Yields the parts made by this process."""
    make_part = reading.begin()
    remaining = iter(documents)
    # Read batches until one is empty.
    batches = iter(lambda: list(islice(remaining, _BATCH_DOCUMENTS)), [])
    return _merge_small(reading.merge, ((len(batch), make_part(batch)) for batch in batches))


def _merge_small(merge: Callable[[Sequence[_T]], _T], parts: Iterable[tuple[int, _T]]) -> Iterator[_T]:
    """Joins small parts into larger ones.

    Args:
        merge: joins several parts.
        parts: each part with its number of documents.
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
    if waiting_documents:  # otherwise the last parts contain no documents and are left out
        yield merge(waiting)


def parts_in_parallel(reading: Reading[_T], collection: Documents, processes: int) -> list[_T] | None:
    """Returns a collection's parts, read by several processes.

    Returns:
        All parts, or None if a single process must read the collection: its format has no pieces,
        processes can't import its functions, or something fails. The single process then finds and
        reports errors in the files. A warning reports processes that died or can't start.
    """
    pieces = collection.pieces()
    try:
        dumps(reading.begin)  # other processes can't import lambdas or inner functions
    except (PicklingError, AttributeError, TypeError):
        return None
    if pieces is None:  # a format without pieces
        return None
    # Only large collections need these 10 ms.
    from concurrent.futures.process import BrokenProcessPool

    from touche.io.processes import CannotStartError

    try:
        counted_parts = _parts_of_pieces(reading, pieces, processes)
        parts = list(_merge_small(reading.merge, counted_parts))
        if not parts and reading.among is None:  # the one process reports that there are no documents
            return None
        return parts  # can be empty if only some documents are read
    except (_OneProcessError, InputError):
        return None
    except (CannotStartError, BrokenProcessPool, OSError) as error:
        reason = "a process died" if isinstance(error, BrokenProcessPool) else one_line(str(error))
        _log.warning("only one process reads the collection, which takes longer: %s", reason)
        return None


def _parts_of_pieces(
    reading: Reading[_T], pieces: Iterable[Piece], processes: int
) -> Iterator[tuple[int, _T]]:
    """Yields each piece's part with its number of documents, in order.

    Raises:
        _OneProcessError: if a piece is broken, or an id occurs twice.
    """
    from touche.io.processes import Pool, in_order  # only large collections need these 10 ms

    seen: set[str] = set()
    with Pool(processes, _begin_worker, reading.begin, reading.among) as pool:
        pool.check("read the collection", reading.begin)
        # Reading a piece from its file again takes less time than sending it.
        sent = (piece.without_raw() for piece in pieces)
        for _, future in in_order(sent, partial(pool.submit, _part_of_piece), processes):
            ids, document_count, part = future.result()
            repeated_ids = seen.intersection(ids)
            if part is None or repeated_ids:
                raise _OneProcessError
            seen.update(ids)
            yield document_count, part


# In a worker: one item with the function that makes parts, and the only ids to read.
_worker_state: list[tuple[Callable[[Sequence[AnyDocument]], Any], Collection[str] | None]] = []


def _begin_worker(begin: Callable[[], Callable[..., Any]], among: Collection[str] | None) -> None:
    """Prepares a process for all pieces that it will read. Arguments as in ``Reading``."""
    _worker_state.append((begin(), among))


def _part_of_piece(piece: Piece) -> tuple[Sequence[str], int, Any]:
    """Returns a piece's ids, number of documents and part; the part is None after a failure.

    We use the ids to find those in several pieces. If only some documents are read, no ids are returned.
    """
    try:
        make_part, among = _worker_state[0]
        documents: list[AnyDocument] = []
        for document in piece.with_raw().documents(wanted=among):
            if isinstance(document, RawPage | Skipped):  # only the main process parses or skips pages
                return (), 0, None
            documents.append(document)
        ids = [document.id for document in documents] if among is None else []
        return ids, len(documents), make_part(documents)
    except Exception:  # the main process repeats the work and reports the error
        return (), 0, None
