"""Temporary folders that are removed even after a killed process."""

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from touche.errors import InputError, ToucheError
from touche.io.writing import cache_folder

_log = logging.getLogger(__name__)


@contextmanager
def temporary_folder(prefix: str, *, mounted: bool = False, within: Path | None = None) -> Iterator[Path]:
    """Creates a temporary folder, and removes it at the end.

    It is created in a private folder: in the user's cache folder, or in ``touche-UID`` in TMPDIR if TMPDIR is
    set. Folders of killed processes are removed from the private folder first. If the private folder cannot
    be created or locked, the system's folder of temporary files is used, and nothing is removed there.

    Args:
        prefix: prefix of its name.
        mounted: whether a container mounts it. Then it is never in the cache folder, because Docker's daemon
            may not enter a home on NFS.
        within: the folder to create it in, instead of the private folder; there, only folders with the prefix
            are removed.

    Raises:
        ToucheError: if it cannot be created.
    """
    try:
        folder, lock = _locked_folder(prefix, mounted, within)
    except OSError as error:
        if within:
            raise InputError(
                within, f"cannot be written ({error.strerror})", "choose another place"
            ) from error
        problem = f"no temporary folder can be created ({error.strerror})"
        raise ToucheError(f"{problem}; set TMPDIR to a folder with room") from error
    with ExitStack() as stack:
        if lock is not None:
            stack.callback(os.close, lock)
        for _ in range(2):  # because a signal may interrupt the removal
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield Path(folder)


def _locked_folder(prefix: str, mounted: bool, within: Path | None) -> tuple[str, int | None]:
    """Returns a new folder and the descriptor of its lock, which is None if a lock is impossible.

    The arguments are those of ``temporary_folder``.
    """
    with suppress(OSError):  # after any error, a folder without a lock follows
        parent = within or _private_folder(mounted)
        _remove_abandoned(parent, prefix if within else "")
        while True:
            folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
            try:
                return folder, _lock(folder, fcntl.LOCK_EX)
            except FileNotFoundError:  # another process has removed it before it was locked
                continue
            except OSError as error:
                shutil.rmtree(folder)
                # In the private folder, all prefixes begin with touche-, so that one warning is enough.
                pattern = f"{prefix}*" if within else "touche-*"
                _warn_without_locks(parent, pattern, within or tempfile.gettempdir(), error.strerror)
                raise
    return tempfile.mkdtemp(prefix=prefix, dir=within), None


@cache
def _warn_without_locks(parent: Path, pattern: str, remaining_in: str | Path, reason: str) -> None:
    """Warns once per process, folder and reason.

    Args:
        parent: the folder in which folders cannot be locked.
        pattern, remaining_in: the folders that killed processes leave, and where they are.
        reason: the error of the system.
    """
    remedy = f"remove the folders {pattern} that killed processes leave in {remaining_in}"
    _log.warning("%s: folders cannot be locked (%s); %s", parent, reason, remedy)


def _private_folder(mounted: bool) -> Path:
    """Returns the folder that only this user can enter.

    Args:
        mounted: as in ``temporary_folder``.

    Raises:
        OSError: if it cannot be created, belongs to another user, or is open to others. The caller then uses
            another folder, so that these errors have no messages.
    """
    if mounted or os.environ.get("TMPDIR"):
        private = Path(tempfile.gettempdir()) / f"touche-{os.geteuid()}"
    else:
        private = cache_folder() / "temporary"
    if not private.is_absolute():  # an unknown home leaves ~, and XDG_CACHE_HOME may be relative
        raise NotADirectoryError
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = private.lstat()
    is_own_folder = status.st_uid == os.geteuid() and stat.S_ISDIR(status.st_mode)
    is_open_to_others = status.st_mode & 0o077
    if is_open_to_others or not is_own_folder:
        raise PermissionError
    return private


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Removes folders whose names have a prefix, and which have no lock; a lock ends with its process."""
    for path in list(parent.iterdir()):
        if not path.name.startswith(prefix):
            continue
        with suppress(OSError):  # locked, not a folder, or removed meanwhile
            lock = _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _lock(folder: str | Path, how: int) -> int:
    """Opens and locks a folder.

    Raises:
        FileNotFoundError: if it was removed before it was locked.
        OSError: if the file system has no locks, or another process has this lock and ``how`` does not wait.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, how)
        os.stat(folder)  # noqa: PTH116 (raises if the folder was removed)
    except BaseException:
        os.close(lock)
        raise
    return lock
