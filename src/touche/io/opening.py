"""Untrusted files, plain or gzipped; an error names the file and the line."""

import gzip
import hashlib
import io
import logging
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path, PosixPath
from typing import IO, Any

from touche.errors import InputError
from touche.progress import bar

_GZIP_MAGIC = b"\x1f\x8b"
_ROOM, _MOST = 10_000_000, 500  # bytes, and times its size, to which gzip is unpacked; bombs come to 1000
_LARGE = 1_000_000  # bytes; what is smaller is read before a bar would come
_BUFFER = 1 << 16  # bytes that are read from a large file at a time
LONGEST_LINE = 1 << 26  # bytes; no document is as long, and it is held in memory
_log = logging.getLogger(__name__)


class _Watched(io.FileIO):
    """A file that moves a bar on as it is read, and knows how many bytes were, even of a pipe."""

    def __init__(self, path: Path, bar: Any) -> None:
        self._bar, self.count = bar, 0
        super().__init__(path)

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        if self._bar is not None:
            self._bar.update(count)
        self.count += count
        return count


def is_file(name: str | Path) -> bool:
    """Whether a text names a file; one that is too long for a name, for which pathlib raises, does not."""
    try:
        return Path(name).is_file()
    except OSError:
        return False


def unpacks_too_far(packed: int, unpacked: int) -> bool:
    """Whether so many bytes unpack to so many more that they can be no texts."""
    return unpacked > _ROOM + _MOST * packed


class _Unpacked(io.RawIOBase):
    """The content of a gzipped file of one stream or several; refuses the same bytes over and over."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self._count, self._stream = file, 0, gzip.GzipFile(fileobj=file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._count += count
        raw = self._file.raw
        read = raw.count if isinstance(raw, _Watched) else raw.tell()
        if unpacks_too_far(read - len(self._file.peek()), self._count):  # because it reads ahead
            raise zlib.error(f"it unpacks to more than {_MOST} times its size")
        return count


class Held(PosixPath):
    """A file of a file system that cannot be opened by a path: its name, and what it holds.

    Where it is sent to another process, only its name is.
    """

    content: bytes

    @classmethod
    def of(cls, name: str, content: bytes) -> "Held":
        """A file of this name that holds this."""
        held = cls(name)
        held.content = content
        return held

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Opens it for reading bytes, whatever is asked for."""
        return io.BytesIO(self.content)


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Opens a file for reading bytes as they are, with a progress bar if it is large.

    Raises:
        OSError: if it cannot be opened.
    """
    if isinstance(path, Held):
        yield io.BufferedReader(path.open())
        return
    size = path.stat().st_size
    _log.debug("reading %s, %d bytes", path, size)
    shown = bar(f"reading {path.name}", "B", size) if size >= _LARGE else nullcontext()
    with shown as update:
        raw: Any = _Watched(path, update)
        with io.BufferedReader(raw, _BUFFER) as file:
            yield file


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes, unpacked if it is gzipped, whatever its name.

    Raises:
        InputError: if the file cannot be opened or its gzip stream is broken or cut off.
    """
    try:
        with opened(path) as file:
            if file.peek(2).startswith(_GZIP_MAGIC):
                yield io.BufferedReader(_Unpacked(file), _BUFFER)
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"the gzip stream is broken ({error})"
        raise InputError(path, problem, "fetch the file again") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


def decoded_lines(path: Path) -> Iterator[str]:
    """Yields the text of every line with its end; a byte order mark is no part of the first.

    Raises:
        InputError: if the file cannot be read, or a line is not UTF-8 or longer than 64 MiB.
    """
    return decoded(bytes_of_lines(path), path)


def decoded(lines: Iterable[bytes], path: Path, first: int = 1) -> Iterator[str]:
    """Yields the text of lines of a file, of which the first has this number.

    Raises:
        InputError: if a line is not UTF-8.
    """
    for number, line in enumerate(lines, first):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(path, problem, "save the file in UTF-8", number) from error


def bytes_of_lines(path: Path) -> Iterator[bytes]:
    """Yields the bytes of every line with its end.

    Raises:
        InputError: if the file cannot be read or a line is of 64 MiB or more.
    """
    with open_binary(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1):
            if len(line) == LONGEST_LINE:
                problem, remedy = "a line of 64 MiB or more", "check that this is the right file"
                raise InputError(path, problem, remedy, number)
            yield line


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the number (from 1) and the text, without its end, of every line that is not blank.

    Raises:
        InputError: if the file cannot be read or a line is not UTF-8.
    """
    for number, line in enumerate(decoded_lines(path), 1):
        if not line.isspace():
            yield number, line.rstrip("\r\n")


def md5(path: Path) -> str:
    """The md5 of a file, as hexadecimal digits."""
    with opened(path) as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def sha256(path: Path) -> str:
    """The sha256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
