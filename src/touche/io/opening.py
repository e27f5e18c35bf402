"""Reading of untrusted files, plain or gzipped; errors name the file and the line."""

import gzip
import hashlib
import io
import logging
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from os.path import realpath
from pathlib import Path, PosixPath
from typing import IO, Any

from touche.errors import InputError
from touche.io.identifiers import check_path
from touche.io.progress import bar

_GZIP_MAGIC = b"\x1f\x8b"
# A compressed file may decompress to _MOST_TIMES its size, and _ALWAYS_ALLOWED more.
_ALWAYS_ALLOWED = 10_000_000  # bytes
_MOST_TIMES = 500  # files made to fill a memory reach 1000 times their size
_LARGE_FILE = 1_000_000  # bytes; smaller files are read before a bar would appear
_BUFFER_SIZE = 1 << 16  # bytes read from a large file at a time
LONGEST_LINE = 1 << 26  # bytes; no document is longer, and a line has to fit into memory
STANDARD_INPUT = "-"  # as the name of a file
_log = logging.getLogger(__name__)


class _Watched(io.FileIO):
    """A file whose reading advances a progress bar."""

    def __init__(self, path: Path, bar: Any) -> None:
        super().__init__(path)
        self._bar = bar

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0  # None only for a file that does not wait for data
        self._bar.update(count)
        return count


def is_file(name: str | Path) -> bool:
    """Returns whether a text names a file; an impossible name, for which pathlib raises, does not."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def resolved(path: str | PathLike[str]) -> str:
    """Returns a path without links; in a removed working directory, a relative path is unchanged.

    Raises:
        InputError: if no file can have this path.
    """
    check_path(path)
    try:
        return realpath(path)  # Path.resolve raises for circular links
    except FileNotFoundError:
        return str(path)


def texts_in(value: object) -> list[str]:
    """Returns the texts in the value of an option, a single value or a tuple; they may name files."""
    values = value if isinstance(value, tuple) else (value,)
    return [text for text in values if isinstance(text, str)]


def check_distinct(files: Sequence[Path]) -> None:
    """Checks that no file is passed twice.

    Args:
        files: files, or names of runs in memory.

    Raises:
        InputError: naming the first file that is.
    """
    counts = Counter(map(resolved, files))
    for path in files:
        if counts[resolved(path)] > 1:
            raise InputError(path, "passed twice", "pass it once")


def unpacks_too_far(packed: int, unpacked: int) -> bool:
    """Returns whether the decompressed size is implausible for texts."""
    return unpacked > _ALWAYS_ALLOWED + _MOST_TIMES * packed


class _Counted:
    """A file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self.count += len(block)
        return block


class _Unpacked(io.RawIOBase):
    """Content of a gzipped file; refuses implausible compression."""

    def __init__(self, file: IO[bytes]) -> None:
        self._packed = _Counted(file)
        self._content = gzip.GzipFile(fileobj=self._packed, mode="rb")  # type: ignore[call-overload]
        self._size = 0  # bytes of the content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpacks into a buffer; returns the number of bytes, which is 0 at the end."""
        count: int = self._content.readinto(buffer)
        self._size += count
        if unpacks_too_far(self._packed.count, self._size):
            raise gzip.BadGzipFile(f"it decompresses to more than {_MOST_TIMES} times its size")
        return count


class FileInMemory(PosixPath):
    """A file that cannot be opened by a path: its name and content.

    Only the name is sent to other processes.
    """

    content: bytes

    @classmethod
    def from_bytes(cls, name: str, content: bytes) -> "FileInMemory":
        """Returns a file with this name and content."""
        file = cls(name)
        file.content = content
        return file

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Opens the content for reading bytes; arguments are ignored."""
        return io.BytesIO(self.content)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Returns only the size of the content. A derived path, such as the parent, is a path on the disk."""
        if not hasattr(self, "content"):
            return super().stat(follow_symlinks=follow_symlinks)
        return os.stat_result((0, 0, 0, 0, 0, 0, len(self.content), 0, 0, 0))


def read_standard_input() -> FileInMemory:
    """Returns standard input as a file.

    Raises:
        InputError: if it is closed.
    """
    if sys.stdin is None:
        raise InputError(STANDARD_INPUT, "standard input is closed", "pass a file")
    return FileInMemory.from_bytes(STANDARD_INPUT, sys.stdin.buffer.read())


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Opens a file for reading bytes, with a progress bar if it is large.

    Raises:
        OSError: if it cannot be opened.
    """
    if isinstance(path, FileInMemory):
        yield io.BufferedReader(path.open())
        return
    size = path.stat().st_size
    _log.debug("reading %s, %d bytes", path, size)
    if size < _LARGE_FILE:
        with path.open("rb") as file:
            yield file
    else:
        with bar(f"reading {path.name}", "B", size) as shown, _Watched(path, shown) as raw:
            yield io.BufferedReader(raw, _BUFFER_SIZE)


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes, decompressed if it is gzipped, whatever its name.

    Raises:
        InputError: if the file cannot be opened or its gzip stream is broken or truncated.
    """
    check_path(path)
    try:
        with opened(path) as file:
            if file.peek(2).startswith(_GZIP_MAGIC):
                yield io.BufferedReader(_Unpacked(file), _BUFFER_SIZE)
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"the gzip stream is broken ({error})"
        raise InputError(path, problem, "fetch the file again") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


def decoded_lines(path: Path) -> Iterator[str]:
    """Yields the text of each line with its end, without a byte order mark.

    Raises:
        InputError: if the file cannot be read, or a line is not UTF-8, or of 64 MiB or more.
    """
    return decoded(bytes_of_lines(path), path)


def decoded(lines: Iterable[bytes], path: Path, first_line: int = 1) -> Iterator[str]:
    """Yields the text of lines of a file; the number of the first one is ``first_line``.

    A byte order mark at the beginning of line 1 is dropped.

    Raises:
        InputError: if a line is not UTF-8.
    """
    for number, line in enumerate(lines, first_line):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(path, problem, "save the file in UTF-8", line=number) from error


def check_utf8(lines: Iterable[bytes], path: Path, first_line: int = 1) -> None:
    """Checks that lines of a file are UTF-8; the number of the first one is ``first_line``.

    Raises:
        InputError: if a line is not UTF-8.
    """
    for _ in decoded(lines, path, first_line):
        pass


def bytes_of_lines(path: Path) -> Iterator[bytes]:
    """Yields the bytes of each line with its end.

    Raises:
        InputError: if the file cannot be read or a line is of 64 MiB or more.
    """
    with open_binary(path) as file:
        lines = iter(partial(file.readline, LONGEST_LINE), b"")  # until the end of the file
        for number, line in enumerate(lines, 1):
            if len(line) == LONGEST_LINE:
                problem = "a line of 64 MiB or more"
                raise InputError(path, problem, "check that this is the right file", line=number)
            yield line


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the number (from 1) and the text, without its end, of each line that is not blank.

    Raises:
        InputError: if the file cannot be read or a line is not UTF-8.
    """
    for number, line in enumerate(decoded_lines(path), 1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def md5(path: Path) -> str:
    """Returns the md5 of a file, as hexadecimal digits; a gzipped file is not decompressed."""
    with opened(path) as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def sha256(path: Path) -> str:
    """Returns the sha256 of a file, as ``md5`` does."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
