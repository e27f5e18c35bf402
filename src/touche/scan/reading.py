"""Reads a collection once: one or several processes count batches of documents, which are then joined."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
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
from touche.documents.parts import LocalParts, Parts
from touche.documents.pieces import Piece, PieceInFile
from touche.errors import InputError, counted, one_line
from touche.io.background import processors_in_use
from touche.io.opening import PACKED_SUFFIXES
from touche.io.progress import processors
from touche.scan.counting import Counting, Fields, Part, Vocabulary, join_parts

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_BATCH_DOCUMENTS = 1000  # that one process reads at a time
_MIN_PIECES = 16  # with fewer, one process is done before others have started
_MAX_PROCESSES = 16  # one process cannot cut pieces for more
_ENOUGH_PROCESSES = 4  # with as many, one processor more or less makes no difference
_MERGED_DOCUMENTS = 1 << 16  # that are scored together; their counts fit into the processor's cache


@dataclass(frozen=True)
class Reading(Generic[_T]):
    """How to read a collection.

    Attributes:
        begin: called once per process; returns a function that makes a part from documents.
        merge: joins several parts.
        summary: describes all parts for ``--verbose``.
        among: ids of the only documents to read, whose pieces are not checked for the same id; None for all.
    """

    begin: Callable[[], Callable[[Sequence[AnyDocument]], _T]]
    merge: Callable[[Sequence[_T]], _T]
    summary: Callable[[Sequence[_T]], str]
    among: Collection[str] | None = None


class _OneProcessError(Exception):
    """One process has to read the collection."""


def read(
    documents: Iterable[AnyDocument],
    vocabulary: Vocabulary,
    fields: Fields,
    candidates: frozenset[str] = frozenset(),
) -> Parts[Part]:
    """Reads a collection and counts terms; the number of processes does not change the result.

    Args:
        documents: the collection; never completely in memory.
        vocabulary: the terms to count.
        fields: the fields by name, each a function of the document.
        candidates: the ids of the documents to re-rank.
    """
    return read_parts(
        documents,
        Reading(
            begin=partial(Counting, vocabulary, fields, candidates),
            merge=join_parts,
            summary=partial(_summary, fields),
        ),
    )


def _summary(fields: Fields, parts: Sequence[Part]) -> str:
    """Returns the numbers of documents and terms, for ``--verbose``."""
    summary = counted(sum(part.documents for part in parts), "document")
    for index, name in enumerate(fields):
        summary += f", {sum(part.statistics[index].tokens for part in parts)} terms in {name}"
    return summary


def picked(documents: Iterable[AnyDocument], ids: Collection[str]) -> list[AnyDocument]:
    """Returns the documents with some ids, in the order of the collection.

    Args:
        documents: the collection, not on a cluster. It is read once, by all processors if its files are
            large.
        ids: the ids; other documents are not stored.
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
        documents: the collection; never completely in memory.
        reading: how to read it.
    """
    collection = Documents.of(documents)

    def read() -> Parts[_T]:
        """Reads the collection on its cluster if it has one, else on this machine."""
        parts_on_cluster = collection.read_by_workers(partial(parts_in_process, reading))
        return parts_on_cluster or LocalParts(_local_parts(collection, reading))

    if collection.readings:  # several rankings share the parts of equal readings
        return collection.readings.parts(_identity(reading, collection), read)
    return read()


def _identity(reading: Reading[Any], collection: Documents) -> bytes | None:
    """Returns the same bytes for equal readings; None if a reading has a lambda or inner function."""
    try:
        return dumps((reading.begin, reading.merge, reading.among, collection.parser, collection.paths))
    except (PicklingError, AttributeError, TypeError):
        return None


def _local_parts(collection: Documents, reading: Reading[_T]) -> list[_T]:
    """Returns the parts that the processes of this machine make."""
    began = time.monotonic()
    processes = min(processors(), _MAX_PROCESSES)
    parts = None
    if processes > 1 and not _is_small(collection.paths):
        parts = parts_in_parallel(reading, collection, processes)
    if parts is None:
        processes = 1
        parts = list(parts_in_process(reading, collection))
    if _log.isEnabledFor(logging.DEBUG):  # else the summary is not needed
        seconds = time.monotonic() - began
        summary = reading.summary(parts)
        _log.debug("read in %.1f s by %d of %d processors: %s", seconds, processes, processors(), summary)
    return parts


def _is_small(paths: Sequence[Path]) -> bool:
    """Returns whether the sizes of files show that they have fewer than ``_MIN_PIECES`` pieces.

    The size of a compressed file does not show the size of its text.
    """
    if not paths or any(path.suffix in PACKED_SUFFIXES for path in paths):
        return False
    try:
        total_bytes = sum(path.stat().st_size for path in paths)
    except OSError:
        return False
    # Pieces of full size, and at most one smaller piece at the end of each file.
    most_pieces = total_bytes / cutting.SIZE + len(paths)
    return most_pieces < _MIN_PIECES


def parts_in_process(reading: Reading[_T], documents: Iterable[AnyDocument]) -> Iterator[_T]:
    """Yields the parts made by this process."""
    make_part = reading.begin()
    remaining = iter(documents)
    # Reads batches until an empty one.
    batches = iter(lambda: list(islice(remaining, _BATCH_DOCUMENTS)), [])
    return _merge_small(reading.merge, ((len(batch), make_part(batch)) for batch in batches))


def _merge_small(merge: Callable[[Sequence[_T]], _T], parts: Iterable[tuple[int, _T]]) -> Iterator[_T]:
    """Joins small parts into larger ones.

    Args:
        merge: joins several parts.
        parts: for each part its number of documents, and the part.
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
    if waiting_documents:  # else the last parts have no documents, and are left out
        yield merge(waiting) if len(waiting) > 1 else waiting[0]


def parts_in_parallel(reading: Reading[_T], collection: Documents, processes: int) -> list[_T] | None:
    """Returns the parts of a collection whose pieces are read by several processes.

    Returns:
        All parts, or None if one process has to read the collection. The reasons are a small collection, a
        format without pieces, functions that processes cannot import, or any failure. The one process then
        finds and reports errors in the files. A warning reports processes that died or cannot start.
    """
    try:
        dumps(reading.begin)  # other processes cannot import lambdas or inner functions
        pieces = collection.pieces() or iter(())  # None for a format without pieces
        first_pieces = list(islice(pieces, _MIN_PIECES))
    except (InputError, PicklingError, AttributeError, TypeError):
        return None
    if len(first_pieces) < _MIN_PIECES:
        return None
    # Here, because only large collections need these 10 ms.
    from concurrent.futures.process import BrokenProcessPool

    from touche.io.processes import CannotStartError

    try:
        counted_parts = _parts_of_pieces(reading, chain(first_pieces, pieces), processes)
        parts = list(_merge_small(reading.merge, counted_parts))
        if not parts and reading.among is None:  # one process reports that there is no document
            return None
        return parts  # perhaps an empty list, if only some documents are read
    except (_OneProcessError, InputError):
        return None
    except (CannotStartError, BrokenProcessPool, OSError) as error:
        reason = "a process died" if isinstance(error, BrokenProcessPool) else one_line(str(error))
        _log.warning("only one process reads the collection, which takes longer: %s", reason)
        return None


def _parts_of_pieces(
    reading: Reading[_T], pieces: Iterable[Piece], processes: int
) -> Iterator[tuple[int, _T]]:
    """Yields the number of documents and the part of each piece, in order.

    Raises:
        _OneProcessError: if a piece is broken, or an id occurs twice.
    """
    from touche.io.processes import Pool, in_order  # here, because only large collections need its 10 ms

    seen: set[str] = set()
    # On few processors, the md5 of the files, which is computed in the background, pauses during the reading.
    in_use = processors_in_use() if processes < _ENOUGH_PROCESSES else nullcontext()
    with in_use, Pool(processes, _begin_worker, reading.begin, reading.among) as pool:
        pool.check("read the collection", reading.begin)
        # A piece in a file is sent without its bytes, because the worker can read them itself.
        sent_pieces = (piece.in_file or piece for piece in pieces)
        for _, future in in_order(sent_pieces, partial(pool.submit, _part_of_piece), processes):
            ids, document_count, part = future.result()
            repeated_ids = seen.intersection(ids)
            if part is None or repeated_ids:
                raise _OneProcessError
            seen.update(ids)
            yield document_count, part


# In a worker: one item, the function that makes parts, and the ids of the only documents to read.
_worker_state: list[tuple[Callable[[Sequence[AnyDocument]], Any], Collection[str] | None]] = []


def _begin_worker(begin: Callable[[], Callable[..., Any]], among: Collection[str] | None) -> None:
    """Prepares a process for all pieces that it will read; the arguments are attributes of ``Reading``."""
    _worker_state.append((begin(), among))


def _part_of_piece(piece: Piece | PieceInFile) -> tuple[Sequence[str], int, Any]:
    """Returns the ids of a piece's documents, their number and their part; the part is None after a failure.

    The ids serve to find those that several pieces have. If only some documents are read, no ids are
    returned, so that pieces are not compared.
    """
    try:
        if isinstance(piece, PieceInFile):
            piece = piece.piece()
        make_part, among = _worker_state[0]
        documents: list[AnyDocument] = []
        for document in piece.documents(wanted=among):
            if isinstance(document, RawPage | Skipped):  # only the main process parses pages, or skips them
                return (), 0, None
            documents.append(document)
        ids = [document.id for document in documents] if among is None else []
        return ids, len(documents), make_part(documents)
    except Exception:  # the main process repeats the work, and reports the error
        return (), 0, None
