"""Opening the files of strangers: plain or gzipped, and every fault named with its file and line."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from touche.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes, unpacked if it is gzipped, whatever its name.

    Raises:
        InputError: if the file cannot be opened or its gzip stream is broken or cut off.
    """
    try:
        with path.open("rb") as file:
            if file.peek(2).startswith(_GZIP_MAGIC):
                with gzip.open(file) as unpacked:
                    yield unpacked  # type: ignore[misc]
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(path, f"the gzip stream is broken ({error})", "fetch the file again") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


class LineCounter:
    """A binary file that is handed on line by line, so that a parser's fault can be given a line.

    Lines longer than ``limit`` bytes are handed on in pieces: a file of several GB on one line is no problem.
    """

    def __init__(self, file: IO[bytes], limit: int = 1 << 16) -> None:
        self._file, self._limit = file, limit
        self._line_ended = True
        self.line = 0

    def read(self, size: int = -1) -> bytes:
        if size == 0:  # ijson asks for nothing to learn whether it gets bytes
            return b""
        piece = self._file.readline(self._limit)
        self.line += self._line_ended and bool(piece)
        self._line_ended = piece.endswith(b"\n")
        return piece


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the number (from 1) and the text, without its end, of every line that is not blank.

    Raises:
        InputError: if the file cannot be read or a line is not UTF-8.
    """
    with open_binary(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise not_utf8(path, number, error) from error
            if text and not text.isspace():
                yield number, text


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the number (from 1) and the object of every line of a JSON lines file.

    Raises:
        InputError: if the file cannot be read or a line is not a JSON object.
    """
    for number, line in read_lines(path):
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError(path, f"broken JSON ({error})", "repair or remove the line", number) from error
        if not isinstance(fields, dict):
            raise InputError(path, "not a JSON object", "put one {...} on each line", number)
        yield number, fields


def not_utf8(path: Path, line: int | None, error: UnicodeDecodeError) -> InputError:
    """The error for bytes that are not UTF-8."""
    byte = error.object[error.start]
    return InputError(path, f"not UTF-8 (byte 0x{byte:02x})", "save the file in UTF-8", line)


def text_field(fields: dict[str, Any], name: str, path: Path, line: int) -> str:
    """The string that a record holds under a name; numbers, as ids sometimes are, become strings.

    Raises:
        InputError: if the name is absent or holds something else.
    """
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        problem = f'no "{name}"' if name not in fields else f'"{name}" is not a text'
        raise InputError(path, problem, f'give every record a text "{name}"', line)
    return value


def new_id(value: str, what: str, seen: set[str], path: Path, line: int) -> str:
    """An id that can stand in a run file: not empty, without white space, not among those seen.

    Raises:
        InputError: otherwise.
    """
    if not value or len(value.split()) != 1 or value != value.strip():
        raise InputError(path, f"{what} {value!r} is empty or has white space", "give it another id", line)
    if value in seen:
        raise InputError(path, f"{what} {value!r} occurs a second time", "remove one of the two", line)
    seen.add(value)
    return value


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that it appears complete or not at all, and leaves nothing behind if it cannot.

    Raises:
        InputError: if the directory cannot be written or the disk is full.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another directory") from error
    finally:
        part.unlink(missing_ok=True)
