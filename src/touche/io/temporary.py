"""Temporary folders."""

import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from touche.errors import InputError, ToucheError

_log = logging.getLogger(__name__)


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
            stack.callback(remove_folder, folder)
        yield Path(folder)


def remove_folder(folder: str | Path) -> None:
    """Removes a folder whose content may come from strangers, or warns that it stays."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # with very deep folders, or ones that their owner can't change
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if os.path.lexists(folder):
            _log.warning("%s cannot be removed; remove it as the user who owns what is in it", folder)
