"""Pieces of files, each of whole records: one process cuts them quickly, any process can parse them."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.documents.pages import RawPage, Skipped
from touche.errors import InputError
from touche.io.opening import LONGEST_LINE, open_binary

SIZE = 1 << 20  # bytes of a piece, about; for larger pieces the system allocates new memory each time
_NEWLINE = ord("\n")

DocumentIterator = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records of a file.

    Attributes:
        path: the file.
        line: the number of the first line, from 1.
        raw: the records; about ``SIZE`` bytes, or one larger record.
        read: parses the piece; other processes must be able to import it.
        in_file: the same piece without its bytes; None for a compressed file, for example.
    """

    path: Path
    line: int
    raw: bytes
    read: "Read"
    in_file: "PieceInFile | None" = None

    def documents(
        self, seen: set[str] | None = None, wanted: Collection[str] | None = None
    ) -> DocumentIterator:
        """Yields the documents of the piece.

        Args:
            seen: ids of earlier documents; repeating one is an error, and new ids are added.
            wanted: ids of the documents to yield, or None for all. Other documents are parsed only as far as
                necessary, so that some of their errors stay unnoticed.

        Raises:
            InputError: if a line is broken or repeats an id; the message names the line.
        """
        return self.read(self, set() if seen is None else seen, wanted)


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
        """Reads the piece.

        Raises:
            OSError: if the file has changed or cannot be read.
        """
        with self.path.open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            raw = os.pread(file.fileno(), self.size, self.begin)
        is_same_file = (status.st_dev, status.st_ino) == (self.device, self.inode)
        if not is_same_file or len(raw) != self.size:  # fewer bytes if it has become shorter
            raise OSError(f"{self.path} has changed")
        return Piece(path=self.path, line=self.line, raw=raw, read=self.read)


Splitter = Callable[[Path], Iterator[Piece]]
"""Yields the pieces of a file."""
Read = Callable[[Piece, set[str], Collection[str] | None], DocumentIterator]
"""Yields the documents of a piece; the other arguments are those of ``Piece.documents``."""
Ends = Callable[[bytes], tuple[int, int]]
"""Returns the end of a block's first record, and the byte after its last whole record.

The first record may have begun in an earlier block. If no record ends in the block, the second number is 0.
"""


def parse_pieces(pieces: Iterable[Piece], seen: set[str]) -> Iterator[Any]:
    """Yields the documents of pieces.

    Args:
        pieces: the pieces of one file.
        seen: ids of earlier documents; new ids are added.

    Raises:
        InputError: if a line is broken or repeats an id; the message names the line.
    """
    for piece in pieces:
        yield from piece.documents(seen)


class Cutter:
    """Cuts a file block by block; stores a record's beginning until a later block contains its end."""

    def __init__(self, path: Path, record_noun: str, read: Read, file: IO[bytes] | None = None) -> None:
        """Starts at the beginning of a file.

        Args:
            path: the file.
            record_noun: a record in messages, such as ``a line``.
            read: parses a piece.
            file: the open file, from which other processes may read the pieces; None if none does.
        """
        self._path = path
        self._record_noun = record_noun
        self._read = read
        self._stored = bytearray()
        # Where the stored bytes begin: the number of their first line, and that of the bytes before them.
        self.line = 1
        self.begin = 0
        self._status = _status_of_plain_file(file) if file else None

    def cut(self, raw: bytes | memoryview = b"", first_end: int = 0) -> Piece:
        """Returns a piece: the stored bytes and ``raw``, whose end is the end of a record.

        Args:
            raw: the next bytes.
            first_end: the end of the first record among these bytes. Its beginning may be stored, so that
                only this record can be too large; the others are within a block.

        Raises:
            InputError: if the first record has 64 MiB or more.
        """
        self._check_size(first_end)
        content = b"".join((self._stored, raw))
        in_file = None
        if self._status:
            in_file = PieceInFile(
                path=self._path,
                line=self.line,
                read=self._read,
                begin=self.begin,
                size=len(content),
                device=self._status.st_dev,
                inode=self._status.st_ino,
            )
        piece = Piece(path=self._path, line=self.line, raw=content, read=self._read, in_file=in_file)
        self._stored.clear()
        self.skip(content)
        return piece

    def skip(self, raw: bytes | bytearray | memoryview) -> None:
        """Passes over the next bytes, which belong to no later piece; none may be stored."""
        # numpy counts newlines five times as fast as bytes.count.
        self.line += int(np.count_nonzero(np.frombuffer(raw, np.uint8) == _NEWLINE))
        self.begin += len(raw)

    def store(self, raw: bytes | memoryview) -> None:
        """Stores the beginning of a record, or the next bytes of it.

        Raises:
            InputError: if the record has 64 MiB or more.
        """
        self._check_size(len(raw))
        self._stored += raw

    @property
    def last_line(self) -> int:
        """The number of the last line of the stored bytes."""
        return self.line + self._stored.count(b"\n")

    def _check_size(self, more: int) -> None:
        """Raises an error if the stored bytes and ``more`` further ones are too many for a record."""
        if len(self._stored) + more >= LONGEST_LINE:
            raise InputError(
                self._path,
                f"{self._record_noun} of 64 MiB or more",
                "check that this is the right file",
                line=self.line,
            )


def pieces_of_lines(path: Path, read: Read) -> Iterator[Piece]:
    """Yields the pieces of a file with a record on each line.

    Raises:
        InputError: if the file cannot be read, or a line has 64 MiB or more.
    """
    with open_binary(path) as file:
        cutter = Cutter(path, "a line", read, file=file)
        # The second number is 0 if no line ends in the block.
        yield from pieces_of_blocks(file, cutter, lambda block: (block.find(b"\n"), block.rfind(b"\n") + 1))


def _status_of_plain_file(file: IO[bytes]) -> os.stat_result | None:
    """Returns the status of a file that can be read from any byte; None if it is compressed, or a pipe."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # a file that ``open_binary`` decompresses has no descriptor
        return None
    return status if S_ISREG(status.st_mode) else None


def pieces_of_blocks(file: IO[bytes], cutter: Cutter, ends: Ends) -> Iterator[Piece]:
    """Yields the pieces of a file that contains only records.

    Args:
        file: the file.
        cutter: cuts it.
        ends: finds the records of a block.

    Raises:
        InputError: if a record has 64 MiB or more.
    """
    for block in blocks(file):
        first_end, after_last = ends(block)
        if after_last:
            yield cutter.cut(memoryview(block)[:after_last], first_end)
        cutter.store(block[after_last:])
    rest = cutter.cut()  # the last record may lack its end, such as a line break
    if rest.raw:
        yield rest


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields the content of a file in blocks of ``SIZE`` bytes."""
    return iter(partial(file.read, SIZE), b"")
