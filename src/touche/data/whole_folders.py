"""Writes folders that only appear when they are complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touche.errors import InputError
from touche.io.temporary import temporary_folder
from touche.io.writing import make_folder


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a path in a hidden folder. Create a folder there; at the end, it's moved to ``folder``, which
    may exist if it's empty. If the process is killed, the hidden folder is left behind.
    """
    # If ``folder`` is a link, replace the folder that it points to, not the link.
    target = Path(os.path.realpath(folder))
    make_folder(target.parent)
    with temporary_folder(".touche-part-", within=target.parent) as scratch:
        part = scratch / target.name
        yield part
        try:
            part.replace(target)
        except OSError as error:  # the folder can't be replaced, e.g. because it's a mount point
            raise InputError(
                folder, f"cannot be replaced ({error.strerror})", "choose a new folder"
            ) from error
