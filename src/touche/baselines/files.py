"""The files in the folder of a baseline, and a digest that shows whether they have changed."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LARGE_BYTES = 1_000_000  # reading larger files would take long


def files_in(folder: Path) -> Iterator[Path]:
    """Yields the files below a folder; a link to a folder is also yielded, and not followed.

    Left out are hidden and compiled files, and virtual environments, which have a pyvenv.cfg.
    """
    if not os.access(folder, os.R_OK | os.X_OK):
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__pycache__")) or (path / "pyvenv.cfg").exists():
            continue
        if path.is_dir() and not path.is_symlink():
            yield from files_in(path)
        else:
            yield path


def folder_digest(folder: Path) -> str:
    """Returns an md5 of a folder's path, and of its files; of large files only size and time count."""
    digest = hashlib.md5(os.fsencode(folder))
    for path in files_in(folder):
        digest.update(os.fsencode(path))
        with suppress(OSError):  # a broken link
            status = path.stat()
            is_read = path.is_file() and status.st_size <= _LARGE_BYTES
            digest.update(path.read_bytes() if is_read else f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()
