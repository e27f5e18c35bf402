"""Temporary folders."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from touche.errors import InputError, ToucheError


@contextmanager
def temporary_folder(prefix: str, *, within: Path | None = None) -> Iterator[Path]:
    """Creates a temporary folder, by default in the system's, and removes it at the end."""
    try:
        folder = tempfile.mkdtemp(prefix=prefix, dir=within)
    except OSError as error:
        if within:
            problem = f"cannot be written ({error.strerror})"
            raise InputError(within, problem, "choose another place") from error
        problem = f"no temporary folder can be created ({error.strerror})"
        raise ToucheError(f"{problem}; set TMPDIR to a folder with room") from error
    with ExitStack() as stack:
        for _ in range(2):  # a signal may interrupt the first removal
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield Path(folder)
