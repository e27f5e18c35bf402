"""Opens untrusted files, compressed or not. Errors name the file and the line."""

import bz2
import gzip
import hashlib
import io
import logging
import lzma
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from os import PathLike
from os.path import isdir, isfile, realpath
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from touche.errors import InputError
from touche.io.identifiers import check_path
from touche.io.progress import bar

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")  # decompressed while reading
# Formats we don't read, by their first bytes: the problem and the remedy.
_UNPACK_IT = "unpack it and pass the file in it"
_AS_FRAME = "convert it, or pass its frame of pandas to touche in Python"
_OTHER_FORMATS = {
    b"PK\x03\x04": ("a zip archive", _UNPACK_IT),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", _UNPACK_IT),
    b"Rar!\x1a\x07": ("a rar archive", _UNPACK_IT),
    b"\x04\x22\x4d\x18": ("packed with lz4", "unpack it, or use gzip"),
    b"\x1f\x9d": ("packed with compress", "unpack it, or use gzip"),
    b"PAR1": ("a Parquet file", _AS_FRAME),
    b"ARROW1": ("an Arrow file", _AS_FRAME),
}
_TAR_MAGIC = slice(257, 262)  # "ustar" in a tar archive
_LARGE_FILE = 1_000_000  # bytes; smaller files are read before a bar would appear
_BUFFER_SIZE = 1 << 16  # bytes per read of a large file
LONGEST_LINE = 1 << 26  # bytes; longer than any document, and a line must fit into memory
_MEBIBYTE = 1 << 20
# The problem and its remedy; such a file is a single line.
CARRIAGE_RETURN = "a carriage return within the line", "end lines with line feeds, such as by tr '\\r' '\\n'"
STANDARD_INPUT = "-"  # as a file name
_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class _Watched(io.FileIO):
    """A file that advances a progress bar when it is read."""

    def __init__(self, path: Path, bar: Any) -> None:
        super().__init__(path)
        self._bar = bar

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0  # None only for non-blocking files
        self._bar.update(count)
        return count


def is_file(name: str | Path) -> bool:
    """Returns whether the text names a file. Unlike pathlib, it raises no error for impossible names."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long, or contains a NUL
        return False


def is_file_or_folder(path: str | PathLike[str]) -> bool:
    """Returns whether there is a file or a folder. Anything else, such as a pipe that lies in a folder, would
    be waited for.
    """
    return isfile(path) or isdir(path)  # noqa: PTH112, PTH113 (Path's raise errors without access)


def resolved(path: str | PathLike[str]) -> str:
    """Resolves symbolic links. If the working directory is gone, relative paths stay unchanged."""
    check_path(path)
    try:
        return realpath(path)  # Path.resolve raises for circular links
    except FileNotFoundError:
        return str(path)


def texts_in(value: object) -> list[str]:
    """Returns the strings in an option's value (a single value or a tuple), which may be file names."""
    values = value if isinstance(value, tuple) else (value,)
    return [text for text in values if isinstance(text, str)]


class Limits(NamedTuple):
    """Limits that keep a file from taking too much memory or time.

    Attributes:
        longest_line: bytes per line.
        most_times: how many times its compressed size a file may unpack to.
        always_unpacked: bytes that are allowed on top.
        most_lines: lines that any file may contain; None for no limit.
        least_bytes: a larger file may contain one line for every so many bytes on disk.
    """

    longest_line: int
    most_times: int
    always_unpacked: int
    most_lines: int | None = None
    least_bytes: int = 10


# Decompression bombs reach 1000 times their size.
OF_DOCUMENTS = Limits(LONGEST_LINE, most_times=500, always_unpacked=10_000_000)
# For topics, qrels and runs, whose lines become many objects: 20 MB compressed take 1 GiB and 10 s.
# Official runs have 50,000 lines (5 MB).
OF_TABLES = Limits(1 << 16, most_times=5, always_unpacked=100_000_000, most_lines=1_500_000)


class _Counted:
    """Counts the bytes read from a file. Its size isn't enough: a pipe has none, and a sparse file any."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self.count += len(block)
        return block


class _Unpacked(io.RawIOBase):
    """The decompressed content of a file.

    Args:
        path: the file, for errors.
        file: its bytes.
        packing: its format, a name in ``_PACKINGS``.
        limits: limits of what it may unpack to.

    Raises:
        InputError: while reading, if the file is broken or unpacks to more.
    """

    def __init__(self, path: Path, file: IO[bytes], packing: str, limits: Limits) -> None:
        self._path = path
        self._packed = _Counted(file)
        unpack = partial(_zstd_content, path) if packing == "zstd" else _PACKINGS[packing]
        self._content = unpack(self._packed)
        self._packing = packing
        self._limits = limits
        self._size = 0  # bytes of the content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._content.read1(len(buffer))  # bytes before a broken place are returned first
        except Exception as error:  # each format raises its own errors
            if isinstance(error, OSError) and error.errno:  # from the disk
                raise
            problem = f"the {self._packing} stream is broken ({error})"
            # No cause, because gzip's and bz2's errors are OSErrors, too, but the disk is not to blame.
            raise InputError(self._path, problem, "fetch the file again") from None
        self._size += len(content)
        times = self._limits.most_times
        if self._size > self._limits.always_unpacked + times * self._packed.count:
            problem = f"the {self._packing} stream unpacks to more than {times} times its size"
            raise InputError(self._path, problem, "check that this is the right file, or unpack it")
        buffer[: len(content)] = content
        return len(content)


def _zstd_content(path: Path, file: Any) -> Any:
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdFile
        else:
            from backports.zstd import ZstdFile  # optional: container images don't include it
    except ImportError as error:
        problem = "zstd streams need the package backports.zstd"
        raise InputError(path, problem, "install it, or use gzip") from error
    return ZstdFile(file)


class _Streams:
    """The content of a file of bzip2 or xz streams, one after the other.

    Python's own classes silently drop what follows the first stream if they can't read it, and they know no
    padding.

    Args:
        new_decompressor: creates a stream's decompressor.
        padding_unit: null bytes between and after streams come in multiples of this number.
        file: the compressed bytes.
    """

    def __init__(self, new_decompressor: Callable[[], Any], padding_unit: int, file: _Counted) -> None:
        self._new_decompressor = new_decompressor
        self._padding_unit = padding_unit
        self._file = file
        self._decompressor = new_decompressor()

    def read1(self, size: int) -> bytes:
        """Returns at most ``size`` bytes, and no bytes only at the end."""
        while True:
            compressed = b""
            if self._decompressor.eof:
                compressed = self._beginning_of_next_stream()
                if not compressed:
                    return b""
                self._decompressor = self._new_decompressor()
            elif self._decompressor.needs_input:
                compressed = self._file.read(_BUFFER_SIZE)
                if not compressed:
                    raise EOFError("it ends in the middle of a stream")
            content: bytes = self._decompressor.decompress(compressed, size)
            if content:
                return content

    def _beginning_of_next_stream(self) -> bytes:
        """Skips padding; returns no bytes at the end of the file."""
        rest: bytes = self._decompressor.unused_data or self._file.read(_BUFFER_SIZE)
        padding = 0
        while rest and not rest.strip(b"\0"):
            padding += len(rest)
            rest = self._file.read(_BUFFER_SIZE)
        stream = rest.lstrip(b"\0")
        if (padding + len(rest) - len(stream)) % self._padding_unit:
            raise ValueError(f"the padding is not a multiple of {self._padding_unit} bytes")
        return stream


_PACKINGS: dict[str, Callable[[Any], Any]] = {
    "gzip": gzip.open,
    "bzip2": partial(_Streams, bz2.BZ2Decompressor, 1),
    "xz": partial(_Streams, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ), 4),
}
_PACKING_BY_MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
    **{b"BZh%d\x17rE8P\x90" % level: "bzip2" for level in range(1, 10)},  # an empty stream
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}


def plain_name(name: str) -> str:
    """Returns a file name without .gz, .bz2, .xz or .zst."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 (fast, for many names)
    return stem if suffix in PACKED_SUFFIXES else name


def content_of_pipe(path: Path) -> bytes | None:
    """Reads standard input (``-``) or a pipe, which is possible only once; returns None for a file."""
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError(STANDARD_INPUT, "standard input is closed", "pass a file")
        return sys.stdin.buffer.read()
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (Path.stat raises for impossible names)
        is_in_file = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        return None if is_in_file else path.read_bytes()
    except (OSError, ValueError):  # missing, unreadable or an impossible name: reported later
        return None


@contextmanager
def opened(path: Path, content: bytes | None = None) -> Iterator[io.BufferedReader]:
    """Opens a file as bytes, with a progress bar if it is large, or its content if that's passed. Raises
    OSError.
    """
    if content is not None:
        yield io.BufferedReader(io.BytesIO(content))
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
def open_binary(
    path: Path, limits: Limits = OF_DOCUMENTS, content: bytes | None = None
) -> Iterator[IO[bytes]]:
    """Opens a file as bytes. Compressed files are recognized by their content and decompressed.

    Args:
        path: the file, or the name that errors use for ``content``.
        content: the bytes, if they are not in a file.

    Raises:
        InputError: if the file can't be read, is broken, exceeds the limits, or is an archive or in another
            format that we don't read.
    """
    check_path(path)
    try:
        with opened(path, content) as plain:
            file: io.BufferedReader[Any] = plain
            beginning = file.peek(_TAR_MAGIC.stop)
            packing = _value_at_magic(_PACKING_BY_MAGIC, beginning)
            if packing is not None:
                file = io.BufferedReader(_Unpacked(path, file, packing, limits), _BUFFER_SIZE)
                beginning = file.peek(_TAR_MAGIC.stop)
            other_format = _value_at_magic(_OTHER_FORMATS, beginning)
            if beginning[_TAR_MAGIC] == b"ustar":
                other_format = ("a tar archive", _UNPACK_IT)
            if other_format is not None:
                raise InputError(path, f"the file is {other_format[0]}", other_format[1])
            yield file
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


def _value_at_magic(values: dict[bytes, _T], beginning: bytes) -> _T | None:
    """Returns the value whose key is a prefix of the file, or None."""
    return next((value for magic, value in values.items() if beginning.startswith(magic)), None)


def decoded_lines(path: Path) -> Iterator[str]:
    """Yields each line with its line end, without a byte order mark; errors as in ``open_binary``."""
    return decoded(bytes_of_lines(path), path)


def decoded(lines: Iterable[bytes], path: Path, first_line: int = 1) -> Iterator[str]:
    """Decodes lines, dropping a byte order mark in line 1. Raises InputError if a line is not UTF-8."""
    for number, line in enumerate(lines, first_line):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(path, problem, "save the file in UTF-8", line=number) from error
        if number == 1 and "\0" in text:
            raise InputError(path, "a null character, as in UTF-16", "save the file in UTF-8", line=number)
        yield text


def check_utf8(lines: Iterable[bytes], path: Path, first_line: int = 1) -> None:
    """Raises InputError if a line is not UTF-8."""
    for _ in decoded(lines, path, first_line):
        pass


def bytes_of_lines(
    path: Path, limits: Limits = OF_DOCUMENTS, content: bytes | None = None
) -> Iterator[bytes]:
    """Yields each line as bytes, with its line end. Arguments and errors as in ``open_binary``."""
    remedy = "check that this is the right file"
    longest = limits.longest_line
    with open_binary(path, limits, content) as file:
        lines = iter(partial(file.readline, longest), b"")  # until the end
        most_lines = limits.most_lines
        if most_lines is not None:
            size = path.stat().st_size if content is None else len(content)
            most_lines = max(most_lines, size // limits.least_bytes)
        for number, line in enumerate(islice(lines, most_lines), 1):
            if len(line) == longest and b"\r" in line.rstrip(b"\r\n"):
                raise InputError(path, *CARRIAGE_RETURN, line=number)
            if len(line) == longest:
                length = f"{longest // _MEBIBYTE} MiB" if longest >= _MEBIBYTE else f"{longest >> 10} KiB"
                raise InputError(path, f"a line of {length} or more", remedy, line=number)
            yield line
        if next(lines, None) is not None:
            raise InputError(path, f"more than {most_lines:,} lines", remedy)


def read_lines(
    path: Path, limits: Limits = OF_DOCUMENTS, content: bytes | None = None
) -> Iterator[tuple[int, str]]:
    """Yields number (from 1) and text of each line that is not blank; errors as in ``open_binary``."""
    for number, line in enumerate(decoded(bytes_of_lines(path, limits, content), path), 1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def md5(path: Path) -> str:
    """Returns a file's MD5 as hexadecimal digits. Compressed files are not unpacked."""
    with opened(path) as file:
        return hashlib.file_digest(file, "md5").hexdigest()
