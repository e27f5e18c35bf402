"""Files split into pieces of whole records. One process cuts them quickly; any process can parse them."""

import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.documents.pages import RawPage, Skipped
from touche.errors import InputError
from touche.io.opening import LONGEST_LINE, open_binary

SIZE = 1 << 21  # bytes, roughly; a smaller piece costs as much to send and to merge, a larger one memory
_NEWLINE = ord("\n")

DocumentIterator = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece lies in an uncompressed file.

    Attributes:
        begin: the first record's position, in bytes.
        size: the records' size in bytes.
        version: the file's version as ``_version`` returns it, when the piece was cut.
    """

    begin: int
    size: int
    version: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records of a file.

    Attributes:
        line: the number of the first line, from 1.
        raw: the records: about ``SIZE`` bytes, or a single larger record.
        read: parses the piece; other processes must be able to import it.
        place: where the records lie; None if ``_version`` is unknown.
    """

    path: Path
    line: int
    raw: bytes
    read: "Read"
    place: Place | None

    def documents(
        self, seen: set[str] | None = None, wanted: Collection[str] | None = None
    ) -> DocumentIterator:
        """Yields the piece's documents.

        Args:
            seen: ids of earlier documents; repeating one is an error, and new ids are added.
            wanted: ids of the documents to yield; None for all. Others are parsed only as far as needed, so
                you won't see all of their errors.
        """
        return self.read(self, set() if seen is None else seen, wanted)

    def without_raw(self) -> "Piece":
        """Returns the piece with an empty ``raw``; unchanged if its place is unknown."""
        return self if self.place is None else replace(self, raw=b"")

    def with_raw(self) -> "Piece":
        """Returns the piece with its records, read again from its place if that is known.

        Raises:
            RuntimeError: if the file was changed or replaced since the piece was cut.
        """
        if self.place is None:
            return self
        with self.path.open("rb") as file:
            if _version(file) != self.place.version:
                # No user sees this: only worker processes read pieces again, and after any exception in them,
                # a single process reads the whole collection from its files as they are then.
                raise RuntimeError(f"{self.path} has changed since the piece was cut")
            file.seek(self.place.begin)
            return replace(self, raw=file.read(self.place.size))


def _version(file: IO[bytes]) -> tuple[int, int, int] | None:
    """Returns an open file's inode, size in bytes and time of its last change in nanoseconds.

    None if others can't read the same bytes from its path: a compressed file, a pipe, or a file of another
    file system that Spark reads.
    """
    try:
        if not file.seekable():
            return None
        status = os.fstat(file.fileno())
    except io.UnsupportedOperation:  # no file of this machine
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


Splitter = Callable[[Path], Iterator[Piece]]
"""Yields the pieces of a file."""
Read = Callable[[Piece, set[str], Collection[str] | None], DocumentIterator]
"""Yields the documents of a piece; the other arguments are those of ``Piece.documents``."""


def parse_pieces(pieces: Iterable[Piece], seen: set[str]) -> Iterator[Any]:
    """Yields the documents of a file's pieces. Arguments and errors as in ``Piece.documents``."""
    for piece in pieces:
        yield from piece.documents(seen)


def check_length(size: int, record_noun: str, path: Path, line: int) -> None:
    """Raises an error if a record is too large for memory."""
    if size >= LONGEST_LINE:
        problem = f"{record_noun} of 64 MiB or more"
        raise InputError(path, problem, "check that this is the right file", line=line)


class Window:
    """The part of a file that has been read and not yet cut.

    Attributes:
        path: the file's path.
        raw: some bytes of the file.
        begin: the first byte of ``raw`` that is not yet cut.
        line: its line.
    """

    def __init__(self, path: Path, file: IO[bytes], read: Read, line: int = 1) -> None:
        """Starts at the beginning of an open file, or at a later ``line``."""
        self.raw = b""
        self.begin = 0
        self.line = line
        self.path = path
        self._file = file
        self._read = read
        self._version = _version(file)

    def read_more(self, record_noun: str) -> bool:
        """Reads more bytes; returns whether there are any.

        Args:
            record_noun: what messages call the record at ``begin``, such as ``a line``.
        """
        rest = self.raw[self.begin :]
        check_length(len(rest), record_noun, self.path, self.line)
        # Doubled for a long record, so that it is searched only a few times.
        block = self._file.read(min(max(SIZE, len(rest)), LONGEST_LINE - len(rest)))
        self.raw = rest + block
        self.begin = 0
        return bool(block)

    def cut(self, end: int) -> Piece:
        """Returns the bytes up to ``end`` as a piece."""
        raw = self.raw[self.begin : end]
        place = None
        if self._version is not None:  # the file has been read up to the end of self.raw
            begin = self._file.tell() - len(self.raw) + self.begin
            place = Place(begin=begin, size=len(raw), version=self._version)
        piece = Piece(path=self.path, line=self.line, raw=raw, read=self._read, place=place)
        # numpy counts newlines five times as fast as bytes.count.
        self.line += int(np.count_nonzero(np.frombuffer(raw, np.uint8) == _NEWLINE))
        self.begin = end
        return piece


def pieces_of_records(
    window: Window, record_noun: str, end_of_records: Callable[[bytes], int]
) -> Iterator[Piece]:
    """Yields the pieces of a file that contains nothing but records.

    Args:
        end_of_records: returns the byte after the last whole record in some bytes, or 0.
    """
    while window.read_more(record_noun):
        end = end_of_records(window.raw)
        if end:
            yield window.cut(end)
    if window.raw:  # the last record may be unterminated, e.g. a line without a line break
        yield window.cut(len(window.raw))


def pieces_of_lines(path: Path, read: Read) -> Iterator[Piece]:
    """Yields the pieces of a file with one record per line."""
    with open_binary(path) as file:
        window = Window(path, file, read)
        yield from pieces_of_records(window, "a line", lambda raw: raw.rfind(b"\n") + 1)
