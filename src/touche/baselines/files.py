"""Fingerprints of the files in a folder, which show whether its code or data has changed."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_LARGE_BYTES = 1_000_000  # the md5 of larger files would take long
_CACHES = {"__pycache__", *(f".{name}" for name in "git venv tox mypy_cache pytest_cache ruff_cache".split())}


def fingerprints(folder: Path) -> dict[Path, str]:
    """Returns a fingerprint of each file below a folder, by its path in the folder.

    Links to folders are followed. Left out are touche's hidden files, virtual environments, and the caches of
    Python and of other tools.
    """
    return {path.relative_to(folder): fingerprint(path) for path in _files(folder, ())}


def fingerprint(path: Path) -> str:
    """Returns the md5 of a file; of a large file its size, times and inode, because they are faster."""
    try:
        status = path.stat()
        if status.st_size <= _LARGE_BYTES:
            return hashlib.md5(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def combined_digest(files: Mapping[Path, str]) -> str:
    """Returns the md5 of paths and fingerprints."""
    lines = sorted(f"{path} {value}\n" for path, value in files.items())
    # Names of files may have bytes that are no text.
    return hashlib.md5("".join(lines).encode(errors="backslashreplace")).hexdigest()


def _files(folder: Path, parents: tuple[str, ...]) -> Iterator[Path]:
    """Yields the files below a folder; ``parents`` are the real paths of the folders above."""
    real_path = os.path.realpath(folder)
    is_circular = real_path in parents  # a link to a parent would never end
    is_environment = (folder / "pyvenv.cfg").exists()
    is_readable = os.access(folder, os.R_OK | os.X_OK)
    if is_circular or is_environment or not is_readable:
        return
    for path in sorted(folder.iterdir()):
        is_hidden = path.name.startswith(".") and path.suffix == ".part"  # of ``whole``
        if is_hidden or path.name in _CACHES:
            continue
        if path.is_dir():
            yield from _files(path, (*parents, real_path))
        elif path.is_file():
            yield path
