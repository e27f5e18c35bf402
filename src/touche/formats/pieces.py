"""Files in pieces of whole records: cut quickly by one process, and parsed by any."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from touche.errors import InputError
from touche.formats.documents import AnyDocument
from touche.formats.pages import RawPage, Skipped
from touche.io.opening import LONGEST_LINE, open_binary

SIZE = 1 << 20  # bytes of a piece, about; larger ones make the system hand out new memory each time
_NEWLINE = ord("\n")

Documents = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records of a file, one after the other.

    Attributes:
        path: the file.
        line: the number of the line in which the piece begins, from 1.
        raw: the records; about ``SIZE`` bytes, more if one of them is larger.
        read: what parses them, with the ids seen before, and those of the only documents that are wanted; a
            function that another process can import.
    """

    path: Path
    line: int
    raw: bytes
    read: "Read"

    def documents(self, seen: set[str] | None = None, among: Collection[str] | None = None) -> Documents:
        """Yields the documents of the piece, whose ids are checked against those seen and added to them.

        Args:
            seen: ids of documents before; they grow.
            among: ids of the only documents to yield, if not all are; the others are read no further than
                need be, and not all that is wrong with them is found.

        Raises:
            InputError: naming the line that is broken or repeats an id.
        """
        return self.read(self, set() if seen is None else seen, among)


Splitter = Callable[[Path], Iterator[Piece]]
Read = Callable[[Piece, set[str], Collection[str] | None], Documents]
Ends = Callable[[bytes], tuple[int, int]]
"""Where the first record ends that ends in a block, and behind the end of the last; 0 if none does."""


def documents_in(pieces: Iterable[Piece], seen: set[str] | None) -> Iterator[Any]:
    """Yields the documents of pieces, one after the other.

    Args:
        pieces: of one file.
        seen: ids of documents before; they grow.

    Raises:
        InputError: naming the line that is broken or repeats an id.
    """
    seen = set() if seen is None else seen
    for piece in pieces:
        yield from piece.documents(seen)


class Cutter:
    """Cuts a file, block by block, and holds what is not a whole record yet."""

    def __init__(self, path: Path, record: str, read: Read) -> None:
        """At the beginning of a file.

        Args:
            path: the file.
            record: what a record is called, such as ``a line``.
            read: what parses pieces.
        """
        self._path, self._record, self.read, self._held = path, record, read, bytearray()
        self.line = 1  # in which what is held begins

    def cut(self, raw: bytes | memoryview, first: int) -> Piece:
        """What is held and some bytes more, which end with a record, as a piece.

        Args:
            raw: the bytes.
            first: where among them the first record ends.

        Raises:
            InputError: if that record has 64 MiB or more.
        """
        self._check(first)
        piece = Piece(self._path, self.line, b"".join((self._held, raw)), self.read)
        self.line += int(np.count_nonzero(np.frombuffer(piece.raw, np.uint8) == _NEWLINE))
        self._held.clear()
        return piece

    def hold(self, raw: bytes) -> None:
        """Holds the beginning of a record, or more of it.

        Raises:
            InputError: if the record has 64 MiB or more.
        """
        self._check(len(raw))
        self._held += raw

    @property
    def last_line(self) -> int:
        """The line in which what is held ends."""
        return self.line + self._held.count(b"\n")

    def _check(self, more: int) -> None:
        if len(self._held) + more >= LONGEST_LINE:
            problem = f"{self._record} of 64 MiB or more"
            raise InputError(self._path, problem, "check that this is the right file", self.line)


def pieces_of_lines(path: Path, read: Read) -> Iterator[Piece]:
    """Yields the pieces of a file that has a record on each line.

    Raises:
        InputError: if the file cannot be read, or a line has 64 MiB or more.
    """
    cutter = Cutter(path, "a line", read)
    with open_binary(path) as file:
        yield from pieces_of_blocks(file, cutter, lambda block: (block.find(b"\n"), block.rfind(b"\n") + 1))


def pieces_of_blocks(file: IO[bytes], cutter: Cutter, ends: Ends) -> Iterator[Piece]:
    """Yields the pieces of a file that consists of records alone.

    Raises:
        InputError: if a record has 64 MiB or more.
    """
    for block in blocks(file):
        first, last = ends(block)
        if last:
            yield cutter.cut(memoryview(block)[:last], first)
        cutter.hold(block[last:])
    rest = cutter.cut(b"", 0)
    if rest.raw:
        yield rest


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields what a file contains, ``SIZE`` bytes at a time."""
    return iter(partial(file.read, SIZE), b"")
