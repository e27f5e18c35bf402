"""Writing of files, whole or not at all; several files are replaced together or not at all."""

import errno
import fcntl
import os
import re
import signal
import stat
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO

from touche.errors import InputError
from touche.io.identifiers import check_path, expanded
from touche.io.inputs import Identity, add_folders, add_output, identities, is_input


@dataclass(frozen=True)
class _Block:
    """The files of a block ``together``.

    Attributes:
        inputs: the files that it must not replace.
        parts: the hidden files with the new content, by their targets, which they will replace.
        locks: closes the locks of the hidden files.
    """

    inputs: set[Identity]
    parts: dict[Path, Path] = field(default_factory=dict)
    locks: ExitStack = field(default_factory=ExitStack)

    def add(self, target: Path, part: Path, lock: int) -> None:
        """Adds a hidden file and the descriptor of its lock; a second one for a target replaces the first."""
        self.locks.callback(os.close, lock)
        if target in self.parts:
            self.parts[target].unlink()
        self.parts[target] = part


# Numbers of errors of writing to an open file.
_WRITING_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
_block: ContextVar[_Block | None] = ContextVar("block", default=None)  # the innermost ``together``


def make_folder(path: Path) -> None:
    """Creates a folder and its parents if they are missing.

    If the running command fails, it removes the new folders that are empty.

    Args:
        path: the folder.

    Raises:
        InputError: if it cannot be created.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> touche.make_folder(Path("cache/embeddings"))
        >>> Path("cache/embeddings").is_dir()
        True
    """
    check_path(path)
    try:
        missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
        add_folders(reversed(missing))
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def check_writable(folder: Path) -> None:
    """Checks that files can be made in a folder.

    Args:
        folder: the folder.

    Raises:
        InputError: if they cannot.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> touche.check_writable(Path("no"))
        Traceback (most recent call last):
        ...
        touche.errors.InputError: no: cannot be written (No such file or directory); choose another directory
    """
    with _input_errors(folder):
        TemporaryFile(dir=folder).close()


def check_outputs(paths: Iterable[Path]) -> None:
    """Checks that files can be written, before the work that produces their content; makes their folders.

    Raises:
        InputError: as in ``whole``, or if two of the files are one.
    """
    targets = set()
    for path in paths:
        make_folder(path.parent)
        with _input_errors(path):
            target = _target_of_writing(path)
            TemporaryFile(dir=target.parent).close()
        if target in targets:
            raise InputError(path, "two outputs have this name", "choose another name for one of them")
        targets.add(target)


def write_whole(path: Path, text: str, *, is_update: bool = False) -> None:
    """Writes a text as ``whole`` does, with the same errors.

    Args:
        path: the file.
        text: its content.
        is_update: whether the command may replace the file although it has read it.
    """
    with whole(path, is_update=is_update) as file:
        # Names of files in the text may have lone surrogates, where they are not UTF-8.
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def whole(path: Path, *, is_update: bool = False, is_cache: bool = False) -> Iterator[IO[bytes]]:
    """Opens a file for writing that appears complete or not at all; in a block ``together``, at its end.

    A symbolic link stays, and its target is written. A missing target is created, as by ``>`` of a shell;
    ``cp`` refuses such a link. An existing file keeps its permissions, and its owner and group if the system
    allows it. The content is first written to a hidden file in the target's folder. Only a killed process
    leaves this ``.NAME.*.part`` behind; the next one that writes the target removes it.

    Args:
        path: the file.
        is_update: whether the command may replace the file although it has read it.
        is_cache: whether the file is in a cache. It then appears at once, even in a block ``together``. A
            link with its name is replaced, and the link's target is not written, because names in a cache
            are predictable, and its folder may be shared.

    Returns:
        A context manager with the file, opened for bytes.

    Raises:
        InputError: if the directory cannot be written, the disk is full, a device has this name, or the file
            is an input of the running command.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> with touche.whole(Path("vectors")) as file:
        ...     Path("vectors").exists()
        False
        >>> Path("vectors").exists()
        True
    """
    block = None if is_cache else _block.get()
    # The caller's code may fail because of another file, so there only errors of writing are about this one.
    # Before and after the caller's code, all errors are.
    with _input_errors(path, _WRITING_ERRORS), ExitStack() as stack:
        with _input_errors(path):
            target = path if is_cache else _target_of_writing(path, is_update=is_update)
            part, file = stack.enter_context(_hidden_part(target))
        yield file
        with _input_errors(path):
            file.flush()
            os.fsync(file.fileno())
            if block:
                block.add(target, part, os.dup(file.fileno()))  # keeps the lock until the end of the block
            else:
                _replace({target: part})


@contextmanager
def together(first: Path, inputs: Iterable[Path] = (), removed: Sequence[Path] = ()) -> Iterator[None]:
    """Delays the replacement of files by ``whole`` to the end of the block; an error keeps earlier files.

    No new file is ever next to an earlier one of the block, because all earlier files except the first are
    hidden before the first is replaced. If the process is killed at that moment, the other files are missing:
    ``.NAME.*.earlier`` has their earlier content, and ``.NAME.*.part`` has their new content. The next block
    that replaces them removes these hidden files.

    Args:
        first: the file that is replaced first, and is never missing.
        inputs: files that the block must not replace.
        removed: files to remove at the end if they exist, because the new output has none of these names.

    Raises:
        InputError: if a file cannot be replaced.
    """
    block = _Block(identities(inputs))
    token = _block.set(block)
    try:
        yield
        if block.parts:  # a block that writes no file removes none
            with _input_errors(first):
                first_target = Path(os.path.realpath(first))
                # Sorting is stable, and the key of the first file is False, which precedes True.
                targets = sorted(block.parts, key=lambda target: target != first_target)
                _replace({target: block.parts[target] for target in targets}, removed)
    finally:
        _block.reset(token)
        for part in block.parts.values():
            part.unlink(missing_ok=True)
        block.locks.close()


@contextmanager
def locked(path: Path, on_waiting: Callable[[], object] | None = None) -> Iterator[None]:
    """Keeps other processes that also lock a file from writing it meanwhile; some file systems have no locks.

    The folder itself is not locked, because a parent process may have locked it as its temporary folder.
    A killed process leaves the hidden file ``.NAME.lock``, which locks nothing.

    Args:
        path: the file, whose folder must exist.
        on_waiting: is called if another process has the lock.

    Raises:
        InputError: if the folder cannot be written.
    """
    lock_file = path.with_name(f".{path.name}.lock")
    with _input_errors(path):
        lock = _open_locked(lock_file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, on_waiting=on_waiting)
    try:
        yield
    finally:
        lock_file.unlink(missing_ok=True)  # a process that waits for the lock then makes a new file
        os.close(lock)


def _open_locked(
    path: str | Path, flags: int, mode: int = 0o666, on_waiting: Callable[[], object] | None = None
) -> int:
    """Opens and locks a file that other processes may remove meanwhile; returns its descriptor.

    On file systems without locks, the file is only opened.

    Args:
        path, flags, mode: those of ``os.open``.
        on_waiting: as in ``locked``.
    """
    while True:
        descriptor = os.open(path, flags, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process has the lock
            if on_waiting:
                on_waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # no locks
            return descriptor
        # The process that had the lock may have removed the file, so that the lock is of no use.
        status = os.fstat(descriptor)
        is_file_at_path = identities([Path(path)]) == {(status.st_dev, status.st_ino)}
        if is_file_at_path:
            return descriptor
        os.close(descriptor)


@contextmanager
def _input_errors(path: Path, only: Container[int] | None = None) -> Iterator[None]:
    """Raises an InputError with the path for an error of the system, and for an impossible path.

    Args:
        path: the path.
        only: the numbers of errors. Other errors, and those that name a file, are raised unchanged, because
            they may be about another file. None for all errors.
    """
    check_path(path)
    try:
        yield
    except OSError as error:
        is_about_path = only is None or (error.errno in only and error.filename is None)
        if not is_about_path:
            raise
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another directory") from error


@contextmanager
def _hidden_part(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Opens a hidden file next to a file, with the same permissions; an error removes the hidden file.

    It is locked, so that ``_remove_abandoned`` of another process leaves it.
    """
    # The target is a link only in a cache, where the link itself is replaced.
    earlier_status = None if target.is_symlink() else _status(target)
    part = _hidden_name(target, "part")
    # Until it has the permissions of the earlier file, only the owner can read it. Not mkstemp, because its
    # permissions ignore the umask.
    opener = partial(_open_locked, mode=0o600 if earlier_status else 0o666)
    with open(part, "xb", opener=opener) as file:
        try:
            if earlier_status:
                _keep_permissions(file.fileno(), earlier_status)
            yield part, file
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _remove_abandoned(target: Path, kind: str) -> None:
    """Removes hidden files that killed processes have left; those of running processes are locked, and stay.

    Args:
        target: the file next to which they are.
        kind: a regular expression for the end of their names.
    """
    name_pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.{kind}")
    with suppress(OSError):  # the folder may not be readable
        for path in list(target.parent.iterdir()):
            if not name_pattern.fullmatch(path.name):
                continue
            with suppress(OSError), path.open("rb") as file:  # locked, or removed meanwhile
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _hidden_name(target: Path, kind: str) -> Path:
    """Returns an unused hidden name next to a file; the name ends in ``kind``."""
    return target.with_name(f".{target.name}.{token_hex(8)}.{kind}")


def _replace(parts: Mapping[Path, Path], removed: Sequence[Path] = ()) -> None:
    """Replaces files by hidden files, and removes others, all or none; signals wait.

    The replacement of the first file decides. If it fails, each file has its earlier content again. If a
    later one fails, the rest are still replaced.

    Args:
        parts: the hidden files by their targets.
        removed: the files to remove.
    """
    first, *others = parts
    for part in parts.values():
        add_output(part)  # this records the target as well, because renaming keeps the identity of a file
    is_locking = bool(others or removed)
    # Another process that replaces the same files waits, because it would mix its files with these.
    lock = locked(first) if is_locking else nullcontext()
    with lock, _undisturbed():
        existing = [target for target in (*others, *removed) if target.exists()]
        hidden_by_target = {target: _hidden_name(target, "earlier") for target in existing}
        try:
            for target, hidden in hidden_by_target.items():
                target.rename(hidden)
            parts[first].replace(first)
        finally:
            is_first_replaced = not parts[first].exists()
            if is_first_replaced:
                # The stack continues after an error, and begins with the last callback. So the other files
                # are replaced before their earlier versions are removed.
                with ExitStack() as stack:
                    for hidden in hidden_by_target.values():
                        stack.callback(hidden.unlink, missing_ok=True)
                    for target in others:
                        stack.callback(parts[target].replace, target)
            else:
                parts[first].unlink()  # ``together`` removes the other parts
                for target, hidden in hidden_by_target.items():
                    if hidden.exists():  # this target was renamed before the error
                        hidden.rename(target)
        # Without the lock, an .earlier file may be of a process that is replacing several files just now.
        abandoned = "(part|earlier)" if is_locking else "part"
        for target in parts:
            _remove_abandoned(target, abandoned)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delays interrupts and terminations to the end of the block; only the main thread receives any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received = list[int]()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # A handler that was not installed by Python is None, and cannot be restored.
    restorable = {number: handler for number, handler in handlers.items() if handler is not None}
    for number in restorable:
        signal.signal(number, lambda received_number, _: received.append(received_number))
    try:
        yield
    finally:
        for number, handler in restorable.items():
            signal.signal(number, handler)
        for received_number in received:
            signal.raise_signal(received_number)


def _target_of_writing(path: Path, *, is_update: bool = False) -> Path:
    """Returns the file that a path leads to.

    Raises:
        InputError: if it is a device, or an input of the running command.
        OSError: for a directory, for circular links, and for another user's link that the kernel does not
            follow.
    """
    status = _status(path)
    if status and stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if status and not stat.S_ISREG(status.st_mode):
        raise InputError(path, "a device or a pipe, not a file", "choose another name")
    block = _block.get()
    is_input_of_block = block is not None and bool(block.inputs & identities([path]))
    if not is_update and (is_input(path) or is_input_of_block):
        raise InputError(path, "an input of this command, which it would overwrite", "choose another name")
    if path.is_symlink():  # opening it shows whether the kernel follows it
        with suppress(FileNotFoundError):
            os.close(os.open(path, os.O_WRONLY))
    return Path(os.path.realpath(path))


def _status(path: Path) -> os.stat_result | None:
    """Returns the status of a file, or None if it is missing; in one call, because others may replace it."""
    with suppress(FileNotFoundError):
        return path.stat()
    return None


def _keep_permissions(file: int, earlier: os.stat_result) -> None:
    """Copies an earlier file's owner, group and permissions to a new file, as far as the system allows it."""
    unchanged_owner = -1
    # The group comes first, because all users may choose among their groups, but only root changes the owner.
    with suppress(PermissionError):
        os.fchown(file, unchanged_owner, earlier.st_gid)
        os.fchown(file, earlier.st_uid, earlier.st_gid)
    has_same_group = os.fstat(file).st_gid == earlier.st_gid
    mask = 0o777 if has_same_group else 0o707  # another group does not get the permissions of the earlier one
    with suppress(PermissionError):  # on file systems without permissions
        os.fchmod(file, earlier.st_mode & mask)


def cache_folder() -> Path:
    """Returns the user's cache folder for touche."""
    return Path(os.environ.get("XDG_CACHE_HOME") or expanded("~/.cache")) / "touche"
