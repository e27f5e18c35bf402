"""Files in pieces of whole records: cut quickly by one process, and parsed by any."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from touche.errors import InputError
from touche.files import LONGEST_LINE, open_binary
from touche.formats.documents import AnyDocument
from touche.web.page import RawPage, Skipped

SIZE = 1 << 22  # bytes of a piece, about

Documents = Iterator[AnyDocument | RawPage | Skipped]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records of a file, one after the other.

    Attributes:
        path: the file.
        line: the number of the line in which the piece begins, from 1.
        raw: the records; about ``SIZE`` bytes, more if one of them is larger.
        read: what parses them, with the ids seen before; a function that another process can import.
    """

    path: Path
    line: int
    raw: bytes
    read: Callable[["Piece", set[str]], Documents]

    def documents(self, seen: set[str] | None = None) -> Documents:
        """Yields the documents of the piece, whose ids are checked against those seen and added to them.

        Raises:
            InputError: naming the line that is broken or repeats an id.
        """
        return self.read(self, set() if seen is None else seen)


Splitter = Callable[[Path], Iterator[Piece]]


def pieces_of_lines(path: Path, read: Callable[[Piece, set[str]], Documents]) -> Iterator[Piece]:
    """Yields the pieces of a file that has a record on each line.

    Raises:
        InputError: if the file cannot be read, or a line has 64 MiB or more.
    """
    line, held, size = 1, list[bytes](), 0  # what is held is the beginning of a line
    with open_binary(path, lambda: line) as file:
        for block in blocks(file):
            first, end = block.find(b"\n"), block.rfind(b"\n") + 1
            if size + (first if end else len(block)) >= LONGEST_LINE:
                problem, remedy = "a line of 64 MiB or more", "check that this is the right file"
                raise InputError(path, problem, remedy, line)
            if end:
                raw = b"".join((*held, block[:end]))
                yield Piece(path, line, raw, read)
                line += raw.count(b"\n")
                held, size = [], 0
            held.append(block[end:])
            size += len(block) - end
    if size:
        yield Piece(path, line, b"".join(held), read)


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields what a file holds, ``SIZE`` bytes at a time; what precedes a fault comes before the fault."""
    parts, size = list[bytes](), 0
    try:
        while part := file.read1(SIZE - size):  # type: ignore[attr-defined]
            parts.append(part)
            size += len(part)
            if size == SIZE:
                yield b"".join(parts)
                parts, size = [], 0
    except (OSError, EOFError, zlib.error):
        yield b"".join(parts)
        raise
    yield b"".join(parts)
