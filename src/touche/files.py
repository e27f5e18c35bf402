"""Opening the files of strangers: plain or gzipped, and every fault named with its file and line."""

import fcntl
import gzip
import hashlib
import io
import logging
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path, PosixPath
from secrets import token_hex
from typing import IO, Any

import orjson

from touche.errors import InputError, ToucheError, one_line
from touche.progress import bar

_GZIP_MAGIC = b"\x1f\x8b"
_ROOM, _MOST = 10_000_000, 500  # bytes, and times its size, to which gzip is unpacked; bombs come to 1000
_SIP = 1 << 12  # bytes of gzip
_LARGE = 1_000_000  # bytes; what is smaller is read before a bar would come
_BUFFER = 1 << 16  # bytes that are read from a large file at a time
LONGEST_LINE = 1 << 26  # bytes; no document is as long, and it is held in memory
_LONGEST_WORD = 1000  # characters; real ids have some thirty, those of sentence pairs sixty
_LONGEST_QUOTE = 60  # characters of what an error shows

_log = logging.getLogger(__name__)


class _Watched(io.FileIO):
    """A file that moves a bar on as it is read."""

    def __init__(self, path: Path, bar: Any) -> None:
        super().__init__(path)
        self._bar = bar

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._bar.update(count)
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
    """What a gzipped file holds; one that unpacks to nothing but the same bytes over and over is refused."""

    def __init__(self, file: IO[bytes]) -> None:
        self._packed = _Sips(file)
        self._stream, self._count = gzip.GzipFile(fileobj=self._packed), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto1(buffer)
        self._count += count
        if unpacks_too_far(self._packed.count, self._count):
            raise gzip.BadGzipFile(f"it unpacks to more than {_MOST} times its size")
        return count


class _Sips(io.RawIOBase):
    """A file that is read a little at a time, however much is asked for, and counted."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.count = file, 0

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(min(len(buffer), _SIP))
        buffer[: len(piece)] = piece
        self.count += len(piece)
        return len(piece)


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
    if size < _LARGE:
        with path.open("rb") as file:
            yield file
    else:
        with bar(f"reading {path.name}", "B", size) as shown, _Watched(path, shown) as raw:
            yield io.BufferedReader(raw, _BUFFER)


@contextmanager
def open_binary(path: Path, current_line: Callable[[], int | None] = lambda: None) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes, unpacked if it is gzipped, whatever its name.

    Args:
        path: the file.
        current_line: tells how far the reader has come, for the error.

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
        raise InputError(path, problem, "fetch the file again", current_line()) from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})", "check the path") from error


def decoded_lines(path: Path) -> Iterator[str]:
    """Yields the text of every line with its end; a byte order mark is no part of the first.

    Raises:
        InputError: if the file cannot be read, or a line is not UTF-8 or longer than 64 MiB.
    """
    return decoded(_lines(path), path)


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


def _lines(path: Path) -> Iterator[bytes]:
    number = 0
    with open_binary(path, lambda: number + 1) as file:
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


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the number (from 1) and the object of every line of a JSON lines file.

    Raises:
        InputError: if the file cannot be read or a line is not a JSON object.
    """
    return records_of_lines(_lines(path), path)


def records_of_lines(
    lines: Iterable[bytes], path: Path, first: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the number and the object of every line of a JSON lines file that is not blank.

    Args:
        lines: lines with their ends.
        path: the file, for errors.
        first: the number of the first of these lines.

    Raises:
        InputError: if a line is not UTF-8, or not a JSON object.
    """
    for number, line in enumerate(lines, first):
        if line.isspace():
            continue
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            (text,) = decoded([line], path, number)
            if text.isspace():
                continue
            fields = _object_of(text.rstrip("\r\n"), path, number)
        if not isinstance(fields, dict):
            raise InputError(path, "not a JSON object", "put one {...} on each line", number)
        yield number, fields


def _object_of(text: str, path: Path, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(path, f"broken JSON ({error})", "repair or remove the line", line) from error


def text_field(fields: dict[str, Any], name: str, path: Path, line: int) -> str:
    """The string that a record holds under a name; whole numbers, as ids sometimes are, become strings.

    Raises:
        InputError: if the name is absent or holds something else, such as a number of more than 64 bits.
    """
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    if not isinstance(value, str):
        problem = f'no "{name}"' if name not in fields else f'"{name}" is not a text'
        raise InputError(path, problem, f'give every record a text "{name}"', line)
    return value


def quoted(value: object) -> str:
    """A value as an error shows it: in quotes, and cut short."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..."


def is_word(value: object) -> bool:
    """Whether a value can be a column of a run file: a printable text without white space, not too long."""
    return (
        isinstance(value, str)
        and value.isprintable()
        and " " not in value
        and 0 < len(value) <= _LONGEST_WORD
    )


def new_id(value: str, what: str, seen: set[str], path: Path | str, line: int | None = None) -> str:
    """An id that can stand in a run file: printable, without white space, not among those seen.

    Raises:
        InputError: otherwise.
    """
    if not is_word(value):
        problem = f"{what} {quoted(value)} is empty, too long, or has white space or control characters"
        raise InputError(path, problem, "give it another id", line)
    if value in seen:
        raise InputError(path, f"{what} {value!r} occurs a second time", "remove one of the two", line)
    seen.add(value)
    return value


def md5(path: Path) -> str:
    """The md5 of a file, as hexadecimal digits."""
    with opened(path) as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def sha256(path: Path) -> str:
    """The sha256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(directory: Path, names: re.Pattern[str], without: Collection[str] = ()) -> Iterator[Path]:
    """Yields the files in the folders below a directory, in no order; those in itself are not among them.

    Hidden ones are passed over. Links in the directory itself are followed to folders elsewhere, to each
    once; deeper links to folders are not, nor are those to files outside of all these folders. That there
    are such, or what cannot be read, a warning says.

    Args:
        directory: the directory.
        names: what the name of a file has to be, as a whole.
        without: names of folders that are passed over.
    """
    top, left = str(directory), list[str]()
    folders, roots = [top], [directory.resolve()]
    while folders:
        folder = folders.pop()
        for entry in _entries(folder, left):
            if entry.name.startswith("."):
                continue
            is_wanted = folder != top and names.fullmatch(entry.name)
            target = _target(entry.path) if entry.is_symlink() else None
            if entry.is_dir(follow_symlinks=False) or (folder == top and _is_new_folder(target, roots)):
                folders += [entry.path] if entry.name not in without else []
            elif entry.is_symlink() and not (target and target.is_file() and _is_within(target, roots)):
                is_folder = target.is_dir() if target else folder == top  # as it may have been one
                left += [entry.path] if is_wanted or is_folder else []
            elif is_wanted and entry.is_file():
                yield Path(entry.path)
    if left:
        more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
        problem = "left out, for such links are not followed, or it cannot be read"
        _log.warning("%s%s: %s", one_line(left[0]), more, problem)


def _entries(folder: str, left: list[str]) -> list[os.DirEntry[str]]:
    """What is in a folder; one that cannot be read is noted."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        left.append(folder)
        return []


def _target(link: str) -> Path | None:
    """What a link leads to; None if to nothing, or round in circles."""
    try:
        return Path(link).resolve(strict=True)
    except (OSError, RuntimeError):
        return None


def _is_within(target: Path, roots: Iterable[Path]) -> bool:
    return any(target.is_relative_to(root) for root in roots)


def _is_new_folder(target: Path | None, roots: list[Path]) -> bool:
    """Whether a target is a folder that shares nothing with those so far; then it is one of them."""
    if target is None or not target.is_dir() or _is_within(target, roots):
        return False
    if any(root.is_relative_to(target) for root in roots):
        return False
    roots.append(target)
    return True


def folder_of(paths: Iterable[Path]) -> Path:
    """The folder that all files lie in or below."""
    return Path(os.path.commonpath([path.parent.absolute() for path in paths]))


def names_of(paths: Sequence[Path]) -> list[str]:
    """The names of files; where two have the same one, all are told from the folder that they lie below."""
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    folder = folder_of(paths)
    return [os.path.relpath(path, folder) for path in paths]


def make_folder(path: Path) -> None:
    """Makes a folder, and those above it, if it is not there.

    Raises:
        InputError: if it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def write_whole(path: Path, text: str) -> None:
    """Writes a text so that the file appears complete or not at all, and leaves nothing behind if it cannot.

    Raises:
        InputError: if the directory cannot be written or the disk is full.
    """
    with whole(path) as file:
        file.write(text.encode(errors="backslashreplace"))  # for names of files that are no UTF-8


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for writing that appears once all is written, or not at all.

    A symbolic link stays, and the file that it leads to is written. A missing target is made, as by ``>`` of
    a shell; ``cp`` refuses such a link. An existing file keeps its permissions, and its owner and group if
    the system allows it. The content is first written to a hidden file in the folder of the target. Only a
    process that is killed leaves this ``.NAME.*.part`` behind; you can remove it.

    Raises:
        InputError: if the directory cannot be written, the disk is full, or a device has this name.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(path, "a device or a pipe, not a file", "choose another name")
    try:
        target = _target_of_writing(path)
        earlier = target.stat() if target.exists() else None
        # Not mkstemp, because its permissions are not those of the umask.
        part = target.with_name(f".{target.name}.{token_hex(8)}.part")
        opener = partial(os.open, mode=0o600 if earlier else 0o666)
        with open(part, "xb", opener=opener) as file:
            try:
                if earlier:
                    _keep_permissions(file.fileno(), earlier)
                yield file
                file.flush()
                os.fsync(file.fileno())
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another directory") from error


def _target_of_writing(path: Path) -> Path:
    """The file that a path leads to.

    Raises:
        OSError: for links in a circle, and for another user's link that the kernel does not follow.
    """
    if path.is_symlink():
        with suppress(FileNotFoundError):
            os.close(os.open(path, os.O_WRONLY))
    return Path(os.path.realpath(path))


def _keep_permissions(file: int, earlier: os.stat_result) -> None:
    """Gives a new file the permissions of an earlier one; those of its group only with that group."""
    for owner in (earlier.st_uid, -1):  # not everyone may change the owner, but perhaps the group
        with suppress(PermissionError):
            os.fchown(file, owner, earlier.st_gid)
    mode = earlier.st_mode & (0o777 if os.fstat(file).st_gid == earlier.st_gid else 0o707)
    with suppress(PermissionError):  # as on file systems without permissions
        os.fchmod(file, mode)


def cache_folder() -> Path:
    """The user's cache folder for touche."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "touche"  # noqa: PTH111


@contextmanager
def temporary_folder(prefix: str, *, mounted: bool = False) -> Iterator[Path]:
    """A temporary folder that is removed in the end.

    It is in a private folder, from which folders of killed processes are removed first: in the user's cache
    folder, or ``touche-UID`` in TMPDIR if that is set. If the private folder cannot be made or locked, the
    temporary folder is where the system has temporary files, and nothing is removed there.

    Args:
        prefix: what its name begins with.
        mounted: whether a container mounts it. It is never in the cache folder then, because Docker's daemon
            may not enter a home on NFS.

    Raises:
        ToucheError: if it cannot be made.
    """
    try:
        folder, lock = _locked_folder(prefix, mounted) or (tempfile.mkdtemp(prefix=prefix), None)
    except OSError as error:
        problem = f"no temporary folder can be made ({error.strerror})"
        raise ToucheError(f"{problem}; set TMPDIR to a folder with room") from error
    try:
        try:
            yield Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:  # again, because a signal may come while it is removed
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked_folder(prefix: str, mounted: bool) -> tuple[str, int] | None:
    """A new folder in the private one, and its open lock; None where this is not possible."""
    with suppress(OSError):
        private = _private_folder(mounted)
        _remove_abandoned(private)
        while True:
            folder = tempfile.mkdtemp(prefix=prefix, dir=private)
            try:
                return folder, _lock(folder, fcntl.LOCK_EX)
            except FileNotFoundError:  # another process has removed it before it was locked
                continue
            except OSError as error:
                shutil.rmtree(folder)
                _warn_without_locks(private, error.strerror)
                raise
    return None


@cache
def _warn_without_locks(private: Path, reason: str) -> None:
    """Warns once in a process."""
    place = tempfile.gettempdir()
    remedy = f"remove the temporary folders touche-* that killed processes leave in {place}"
    _log.warning("%s: folders cannot be locked (%s); %s", private, reason, remedy)


def _private_folder(mounted: bool) -> Path:
    """The folder that only this user can enter.

    Raises:
        OSError: if it cannot be made, it is another user's or open to others.
    """
    if mounted or os.environ.get("TMPDIR"):
        private = Path(tempfile.gettempdir()) / f"touche-{os.geteuid()}"
    else:
        private = cache_folder() / "temporary"
    if not private.is_absolute():  # where the user has no home
        raise NotADirectoryError
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = private.lstat()
    if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077:
        raise PermissionError
    return private


def _remove_abandoned(private: Path) -> None:
    """Removes folders without a lock; the lock of a process ends with it."""
    for path in private.iterdir():
        with suppress(OSError):  # locked, or removed meanwhile
            lock = _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _lock(folder: str | Path, how: int) -> int:
    """Opens and locks a folder.

    Raises:
        FileNotFoundError: if it was removed before it was locked.
        OSError: if the file system has no locks, or another process holds this one and it is not to wait.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, how)
        os.stat(folder)  # noqa: PTH116
    except BaseException:
        os.close(lock)
        raise
    return lock
