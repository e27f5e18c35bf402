"""Writes files completely or not at all."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO

from touche.errors import InputError
from touche.io.identifiers import as_path, check_path, expanded

# Raised when writing to an open file; they name no file.
_WRITING_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def make_folder(path: Path) -> None:
    """Creates a folder and its parents if they are missing.

    Args:
        path: the folder.

    Raises:
        InputError: if it can't be created.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> touche.make_folder(Path("cache/embeddings"))
        >>> Path("cache/embeddings").is_dir()
        True
    """
    path = as_path("path", path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def check_writable(folder: Path) -> None:
    """Checks that you can create files in a folder.

    Args:
        folder: the folder.

    Raises:
        InputError: if you can't.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> touche.check_writable(Path("no"))
        Traceback (most recent call last):
        ...
        touche.errors.InputError: no: cannot be written (No such file or directory); choose another directory
    """
    folder = as_path("folder", folder)
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise _cannot_be_written(folder, error) from error


def check_outputs(outputs: Iterable[Path], inputs: Sequence[Path] = ()) -> None:
    """Checks that files can be written, before computing their content, and creates their folders.

    Raises:
        InputError: as in ``whole``, or if an output is an input (or in one), or two outputs are the same
            file.
    """
    targets = set[Path]()
    for path in outputs:
        make_folder(path.parent)
        try:
            target = _target(path)
            TemporaryFile(dir=target.parent).close()
        except OSError as error:
            raise _cannot_be_written(path, error) from error
        if target in targets:
            raise InputError(path, "two outputs have this name", "choose another name for one of them")
        targets.add(target)
        if target.exists() and any(target.is_relative_to(os.path.realpath(input)) for input in inputs):
            problem = "an input of this command, which it would overwrite"
            raise InputError(path, problem, "choose another name")


def write_whole(path: Path, text: str) -> None:
    """Writes a text as ``whole`` does, with the same errors."""
    with whole(path) as file:
        # File names that are not UTF-8 have lone surrogates.
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for writing that appears complete or not at all.

    The content goes to a hidden file in the same folder, ``.NAME.*.part``, which replaces the file at the
    end. Errors and Ctrl-C remove it; a killed process leaves it behind. Symbolic links are followed.

    Args:
        path: the file.

    Returns:
        A context manager with the file, opened for bytes.

    Raises:
        InputError: if the directory can't be written, the disk is full, or a device has this name.

    Examples:
        >>> import touche
        >>> from pathlib import Path
        >>> with touche.whole(Path("vectors")) as file:
        ...     Path("vectors").exists()
        False
        >>> Path("vectors").exists()
        True
    """
    try:
        target = _target(path)
        part = target.with_name(f".{target.name}.{token_hex(8)}.part")
        file = part.open("xb")  # not mkstemp, which ignores the umask
    except OSError as error:
        raise _cannot_be_written(path, error) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        # Other errors come from the caller's code and concern another file. Errors when writing to an
        # open file have no file name.
        if isinstance(error, OSError) and (
            error.filename == str(part) or (error.filename is None and error.errno in _WRITING_ERRORS)
        ):
            raise _cannot_be_written(path, error) from error
        raise


def _target(path: Path) -> Path:
    """Follows symbolic links. Raises InputError for devices, and OSError for folders and circular links."""
    check_path(path)
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise InputError(path, "a device or a pipe, not a file", "choose another name")
        if path.is_symlink():  # opening it shows whether the kernel follows it
            os.close(os.open(path, os.O_WRONLY))
    return Path(os.path.realpath(path))


def _cannot_be_written(path: Path, error: OSError) -> InputError:
    return InputError(path, f"cannot be written ({error.strerror})", "choose another directory")


def cache_folder() -> Path:
    """Returns touche's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or expanded("~/.cache")) / "touche"
