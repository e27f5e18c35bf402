"""Pieces of files, each of whole records: one process cuts them quickly, any process can parse them."""

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

import numpy as np

from touche.documents.pages import RawPage, Skipped
from touche.documents.records import AnyDocument
from touche.errors import InputError
from touche.io.opening import LONGEST_LINE, open_binary

SIZE = 1 << 20  # bytes of a piece, about; for larger pieces the system allocates new memory each time
_NEWLINE = ord("\n")

Documents = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records of a file.

    Attributes:
        path: the file.
        line: the number of the first line, from 1.
        raw: the records; about ``SIZE`` bytes, or one larger record.
        read: parses the piece; other processes must be able to import it.
        in_file: the same piece without its bytes; None if they are not in a file, but for example compressed.
    """

    path: Path
    line: int
    raw: bytes
    read: "Read"
    in_file: "PieceInFile | None" = None

    def documents(self, seen: set[str] | None = None, among: Collection[str] | None = None) -> Documents:
        """Yields the documents of the piece.

        Args:
            seen: ids of earlier documents; repeating one is an error, and new ids are added.
            among: ids of the documents to yield, or None for all. Other documents are parsed only as far as
                necessary, so that some of their errors stay unnoticed.

        Raises:
            InputError: if a line is broken or repeats an id; the message names the line.
        """
        return self.read(self, set() if seen is None else seen, among)


@dataclass(frozen=True, slots=True)
class PieceInFile:
    """A piece without its bytes, for another process, which reads them from the file itself.

    Attributes:
        path, line, read: as in ``Piece``.
        begin, size: the first byte and the number of bytes.
        device, inode: identify the file, because another one may get its name meanwhile.
    """

    path: Path
    line: int
    read: "Read"
    begin: int
    size: int
    device: int
    inode: int

    def piece(self) -> Piece:
        """Reads the piece; the file stays open for the next one.

        Raises:
            OSError: if the file has changed or cannot be read.
        """
        raw = os.pread(_opened(self.path, self.device, self.inode), self.size, self.begin)
        if len(raw) != self.size:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return Piece(path=self.path, line=self.line, raw=raw, read=self.read)


_files: dict[Path, int] = {}  # the file that this process has open for places


def _opened(path: Path, device: int, inode: int) -> int:
    """Returns the descriptor of a file, which stays open until another file is needed."""
    if path not in _files:
        for number in _files.values():
            os.close(number)
        _files.clear()
        _files[path] = os.open(path, os.O_RDONLY)
    number = _files[path]
    status = os.fstat(number)
    if (status.st_dev, status.st_ino) != (device, inode):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return number


Splitter = Callable[[Path], Iterator[Piece]]
Read = Callable[[Piece, set[str], Collection[str] | None], Documents]
Ends = Callable[[bytes], tuple[int, int]]
"""Returns where the first record of a block ends, and the byte after its last record; 0 if none ends."""


def documents_in(pieces: Iterable[Piece], seen: set[str] | None = None) -> Iterator[Any]:
    """Yields the documents of pieces.

    Args:
        pieces: the pieces of one file.
        seen: ids of earlier documents; new ids are added.

    Raises:
        InputError: if a line is broken or repeats an id; the message names the line.
    """
    seen = set() if seen is None else seen
    for piece in pieces:
        yield from piece.documents(seen)


class Cutter:
    """Cuts a file block by block, and stores the beginning of an incomplete record."""

    def __init__(self, path: Path, record: str, read: Read, file: IO[bytes] | None = None) -> None:
        """Starts at the beginning of a file.

        Args:
            path: the file.
            record: the noun for a record in messages, such as ``a line``.
            read: parses a piece.
            file: the open file, for the places of pieces; None if no other process reads them.
        """
        self._path = path
        self._record = record
        self.read = read
        self._held = bytearray()
        self.line = 1  # the first line of what is stored
        self._status = _status_of_plain(file) if file else None

    def cut(self, raw: bytes | memoryview, first: int, end: int = 0) -> Piece:
        """Returns a piece: the stored bytes and ``raw``, whose end is the end of a record.

        Args:
            raw: the next bytes.
            first: the end of the first record among these bytes.
            end: the number of bytes in the file up to this end.

        Raises:
            InputError: if that record has 64 MiB or more.
        """
        self._check(first)
        content = b"".join((self._held, raw))
        in_file = None
        if self._status:
            in_file = PieceInFile(
                path=self._path,
                line=self.line,
                read=self.read,
                begin=end - len(content),
                size=len(content),
                device=self._status.st_dev,
                inode=self._status.st_ino,
            )
        piece = Piece(path=self._path, line=self.line, raw=content, read=self.read, in_file=in_file)
        self.line += int(np.count_nonzero(np.frombuffer(piece.raw, np.uint8) == _NEWLINE))
        self._held.clear()
        return piece

    def hold(self, raw: bytes) -> None:
        """Stores the beginning of a record, or the next bytes of it.

        Raises:
            InputError: if the record has 64 MiB or more.
        """
        self._check(len(raw))
        self._held += raw

    @property
    def last_line(self) -> int:
        """The last line of what is stored."""
        return self.line + self._held.count(b"\n")

    def _check(self, more: int) -> None:
        if len(self._held) + more >= LONGEST_LINE:
            problem = f"{self._record} of 64 MiB or more"
            raise InputError(self._path, problem, "check that this is the right file", line=self.line)


def pieces_of_lines(path: Path, read: Read) -> Iterator[Piece]:
    """Yields the pieces of a file with a record on each line.

    Raises:
        InputError: if the file cannot be read, or a line has 64 MiB or more.
    """
    with open_binary(path) as file:
        cutter = Cutter(path, "a line", read, file=file)
        yield from pieces_of_blocks(file, cutter, lambda block: (block.find(b"\n"), block.rfind(b"\n") + 1))


def _status_of_plain(file: IO[bytes]) -> os.stat_result | None:
    """Returns the status of a file that others can open at any byte; None if it is compressed, or a pipe."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # it has no descriptor
        return None
    return status if S_ISREG(status.st_mode) else None


def pieces_of_blocks(file: IO[bytes], cutter: Cutter, ends: Ends, begin: int = 0) -> Iterator[Piece]:
    """Yields the pieces of a file that contains only records.

    Args:
        file: the file.
        cutter: cuts it.
        ends: finds the records of a block.
        begin: the number of bytes that were read before.

    Raises:
        InputError: if a record has 64 MiB or more.
    """
    for block in blocks(file):
        first, last = ends(block)
        if last:
            yield cutter.cut(memoryview(block)[:last], first, begin + last)
        cutter.hold(block[last:])
        begin += len(block)
    rest = cutter.cut(b"", 0, begin)
    if rest.raw:
        yield rest


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields the content of a file in blocks of ``SIZE`` bytes."""
    return iter(partial(file.read, SIZE), b"")
