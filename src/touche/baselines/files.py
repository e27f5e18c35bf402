"""The files in the folder of a baseline, and a digest that shows whether they have changed."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from touche.tira.outputs import METADATA_FILE
from touche.trec.runs import RUN_FILE

_LARGE_BYTES = 1_000_000  # reading larger files would take long
_CACHES = {"__pycache__", *(f".{name}" for name in "git venv tox mypy_cache pytest_cache ruff_cache".split())}
RUN_FILES = {RUN_FILE, f"{RUN_FILE}.invalid", METADATA_FILE}  # of runs whose output is in the folder


def files_in(folder: Path) -> Iterator[Path]:
    """Yields the files and links below a folder; links to folders are not followed.

    Left out are caches, such as compiled files, and virtual environments, which have a pyvenv.cfg.
    """
    for path in sorted(folder.iterdir()):
        if path.name in _CACHES:
            continue
        if path.is_symlink() or path.is_file():
            yield path
        elif os.access(path, os.R_OK | os.X_OK) and path.is_dir() and not (path / "pyvenv.cfg").exists():
            yield from files_in(path)


def folder_digest(folder: Path) -> str:
    """Returns an md5 of a folder's path, and of its files; of large files only size and time count."""
    digest = hashlib.md5(os.fsencode(folder))
    for path in files_in(folder):
        if path.name in RUN_FILES or path.name.startswith("."):  # a run may write them after this call
            continue
        digest.update(os.fsencode(path))
        with suppress(OSError):  # a broken link
            status = path.stat()
            is_read = path.is_file() and status.st_size <= _LARGE_BYTES
            digest.update(path.read_bytes() if is_read else f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()
