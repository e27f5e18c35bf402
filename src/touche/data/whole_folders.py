"""Folders that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touche.errors import InputError
from touche.io.temporary import temporary_folder
from touche.io.writing import make_folder


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a path in a hidden folder; what you make there becomes ``folder`` at the end.

    ``folder`` may exist if it's empty. A killed process leaves the hidden folder behind.
    """
    target = Path(os.path.realpath(folder))  # replace a link's target, not the link
    make_folder(target.parent)
    with temporary_folder(".touche-part-", within=target.parent) as scratch:
        part = scratch / target.name
        yield part
        try:
            part.replace(target)
        except OSError as error:  # e.g. for a mount point
            raise InputError(
                folder, f"cannot be replaced ({error.strerror})", "choose a new folder"
            ) from error
