"""Files split into pieces of whole records. One process cuts them quickly; any process can parse them."""

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

SIZE = 1 << 20  # bytes, roughly; for larger pieces the system would allocate new memory each time
_NEWLINE = ord("\n")

DocumentIterator = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records of a file.

    Attributes:
        line: the number of the first line, from 1.
        raw: the records: about ``SIZE`` bytes, or a single larger record.
        read: parses the piece; other processes must be able to import it.
        in_file: the same piece without its bytes; None if the file is compressed, for example.
    """

    path: Path
    line: int
    raw: bytes
    read: "Read"
    in_file: "PieceInFile | None" = None

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


@dataclass(frozen=True, slots=True)
class PieceInFile:
    """A piece without its bytes, for another process that reads them from the file.

    Attributes:
        begin, size: the first byte and the number of bytes.
        device, inode: identify the file, in case another one takes its name.
    """

    path: Path
    line: int
    read: "Read"
    begin: int
    size: int
    device: int
    inode: int

    def piece(self) -> Piece:
        """Reads the piece. Raises OSError if the file has changed or can't be read."""
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
    """Yields the documents of a file's pieces. Arguments and errors as in ``Piece.documents``."""
    for piece in pieces:
        yield from piece.documents(seen)


class Cutter:
    """Cuts a file block by block. It stores the start of a record until a later block brings its end."""

    def __init__(self, path: Path, record_noun: str, read: Read, file: IO[bytes] | None = None) -> None:
        """Starts at the beginning of a file.

        Args:
            record_noun: what messages call a record, such as ``a line``.
            file: the open file, if other processes may read the pieces from it.
        """
        self._path = path
        self._record_noun = record_noun
        self._read = read
        self._stored = bytearray()
        # Where the stored bytes begin: line and byte.
        self.line = 1
        self.begin = 0
        self._status = _status_of_plain_file(file) if file else None

    def cut(self, raw: bytes | memoryview = b"", first_end: int = 0) -> Piece:
        """Returns a piece: the stored bytes and ``raw``, which must end where a record ends.

        Args:
            first_end: the end of the first record in ``raw``, which can be too large because its start may be
                stored.
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
        self.advance(content)
        return piece

    def advance(self, raw: bytes | bytearray | memoryview) -> None:
        """Advances line and byte past bytes that have been cut, or that belong to no piece."""
        # numpy counts newlines five times as fast as bytes.count.
        self.line += int(np.count_nonzero(np.frombuffer(raw, np.uint8) == _NEWLINE))
        self.begin += len(raw)

    def store(self, raw: bytes | memoryview) -> None:
        """Stores the next bytes of an incomplete record."""
        self._check_size(len(raw))
        self._stored += raw

    @property
    def last_line(self) -> int:
        """The number of the stored bytes' last line."""
        return self.line + self._stored.count(b"\n")

    def _check_size(self, more: int) -> None:
        """Raises an error if ``more`` bytes make the stored record too large."""
        if len(self._stored) + more >= LONGEST_LINE:
            raise InputError(
                self._path,
                f"{self._record_noun} of 64 MiB or more",
                "check that this is the right file",
                line=self.line,
            )


def pieces_of_lines(path: Path, read: Read) -> Iterator[Piece]:
    """Yields the pieces of a file with one record per line."""
    with open_binary(path) as file:
        cutter = Cutter(path, "a line", read, file=file)
        # rfind + 1 is 0 if no line ends in the block.
        yield from pieces_of_blocks(file, cutter, lambda block: (block.find(b"\n"), block.rfind(b"\n") + 1))


def _status_of_plain_file(file: IO[bytes]) -> os.stat_result | None:
    """Returns the status of a file that can be read from any byte; None for compressed files and pipes."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # a file that ``open_binary`` decompresses has no descriptor
        return None
    return status if S_ISREG(status.st_mode) else None


def pieces_of_blocks(file: IO[bytes], cutter: Cutter, ends: Ends) -> Iterator[Piece]:
    """Yields the pieces of a file that contains nothing but records. ``ends`` finds them in a block."""
    for block in blocks(file):
        first_end, after_last = ends(block)
        if after_last:
            yield cutter.cut(memoryview(block)[:after_last], first_end)
        cutter.store(block[after_last:])
    rest = cutter.cut()  # the last record may be unterminated, e.g. a line without a line break
    if rest.raw:
        yield rest


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields a file in blocks of ``SIZE`` bytes."""
    return iter(partial(file.read, SIZE), b"")
