"""The files in a baseline's folder, and digests that tell whether they have changed."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from touche.tira.metadata import METADATA_FILE
from touche.trec.runs import RUN_FILE

_LARGE_BYTES = 1_000_000  # larger files would take too long to read
_MOST_LINKED = 10_000  # files to look at behind a link, which may lead to a whole collection
_CACHES = {"__pycache__", *(f".{name}" for name in "git venv tox mypy_cache pytest_cache ruff_cache".split())}
RUN_FILES = {RUN_FILE, f"{RUN_FILE}.invalid", METADATA_FILE}  # of runs written into the folder


def files_in(folder: Path) -> Iterator[Path]:
    """Yields the files and links below a folder. Links to folders are not followed.

    Skips caches, such as compiled files, and virtual environments, which contain a pyvenv.cfg.
    """
    for path in sorted(folder.iterdir()):
        if path.name in _CACHES:
            continue
        if path.is_symlink() or path.is_file():
            yield path
        elif os.access(path, os.R_OK | os.X_OK) and path.is_dir() and not (path / "pyvenv.cfg").exists():
            yield from files_in(path)


def statistics_named(folder: Path, name: str) -> Path:
    """Returns where a baseline's folder keeps statistics such as ``argsme-2020-04-01``."""
    return folder / "statistics" / f"{name}.json"


def content_digest(folder: Path, files: Iterable[Path]) -> str:
    """Returns 16 hexadecimal digits that change with the path, mode or content of any file in a folder."""
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.is_symlink():
            content = os.fsencode(os.readlink(file))  # noqa: PTH115 (Path.readlink may change the text)
        else:
            with file.open("rb") as opened:
                content = hashlib.file_digest(opened, "sha256").digest()
        is_executable = file.lstat().st_mode & 0o100 != 0  # as when building an image
        entry = (os.fsencode(file.relative_to(folder)), file.is_symlink(), is_executable, content)
        digest.update(repr(entry).encode())  # different for different entries
    return digest.hexdigest()[:16]


def folder_digest(folder: Path) -> str:
    """Returns an MD5 of a folder's path and files, valid on this machine.

    For large files, and files behind a link to a folder, only sizes and times count.
    """
    digest = hashlib.md5(os.fsencode(folder))
    for path in files_in(folder):
        if path.name in RUN_FILES or path.name.startswith("."):  # a run may write them after this call
            continue
        digest.update(os.fsencode(path))
        with suppress(OSError):  # a broken link
            if path.is_file() and path.stat().st_size <= _LARGE_BYTES:
                digest.update(path.read_bytes())
                continue
            linked = (Path(parent, name) for parent, _, names in os.walk(path) for name in names)
            for file in [path, *sorted(islice(linked, _MOST_LINKED))]:
                status = file.stat()
                digest.update(os.fsencode(file) + f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()
