"""Writing of files, whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO

from touche.errors import InputError


def make_folder(path: Path) -> None:
    """Creates a folder and its parents if they are missing.

    Raises:
        InputError: if it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def check_writable(folder: Path) -> None:
    """Checks that files can be made in a folder.

    Raises:
        InputError: if they cannot.
    """
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror})", "choose another directory"
        ) from error


def write_whole(path: Path, text: str) -> None:
    """Writes a text so that the file appears complete or not at all; failures leave nothing behind.

    Raises:
        InputError: if the directory cannot be written or the disk is full.
    """
    with whole(path) as file:
        file.write(text.encode(errors="backslashreplace"))  # for file names that are not UTF-8


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for writing that appears complete or not at all.

    A symbolic link stays, and its target is written. A missing target is created, as by ``>`` of a shell;
    ``cp`` refuses such a link. An existing file keeps its permissions, and its owner and group if the system
    allows it. The content is first written to a hidden file in the target's folder. Only a killed process
    leaves this ``.NAME.*.part`` behind; you can remove it.

    Raises:
        InputError: if the directory cannot be written, the disk is full, or a device has this name.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(path, "a device or a pipe, not a file", "choose another name")
    try:
        target = _target_of_writing(path)
        earlier = target.stat() if target.exists() else None
        # Not mkstemp, because its permissions ignore the umask.
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
    """Returns the file that a path leads to.

    Raises:
        OSError: for circular links, and for another user's link that the kernel does not follow.
    """
    if path.is_symlink():
        with suppress(FileNotFoundError):
            os.close(os.open(path, os.O_WRONLY))
    return Path(os.path.realpath(path))


def _keep_permissions(file: int, earlier: os.stat_result) -> None:
    """Copies an earlier file's permissions to a new file; those of the group only if it is the same."""
    for owner in (earlier.st_uid, -1):  # not everyone may change the owner, but perhaps the group
        with suppress(PermissionError):
            os.fchown(file, owner, earlier.st_gid)
    mode = earlier.st_mode & (0o777 if os.fstat(file).st_gid == earlier.st_gid else 0o707)
    with suppress(PermissionError):  # on file systems without permissions
        os.fchmod(file, mode)


def cache_folder() -> Path:
    """Returns the user's cache folder for touche."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "touche"  # noqa: PTH111
