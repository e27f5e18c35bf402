"""What is sent to workers: the folder of the baseline, and functions that may be of its modules."""

import hashlib
import pickle
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from touche.baselines.neighbours import use
from touche.errors import InputError, ToucheError
from touche.io.opening import md5
from touche.io.temporary import temporary_folder

FOLDER = "touche-baseline-"  # how its name begins on the workers

Ship = Callable[[Callable[..., Any]], "Shipped"]


class Shipped:
    """A function that is called by workers.

    A worker makes the modules of the baseline's folder importable before it reads the function, which Spark
    by itself would not; what the baseline has beside them is there as well.
    """

    def __init__(self, folder: str, function: Callable[..., Any]) -> None:
        """A function that may need a folder, by the name that it was sent by; empty if none was."""
        self._folder, self._function = folder, function

    def __call__(self, *given: Any) -> Any:
        """What the function gives."""
        return self._function(*given)

    def __reduce__(self) -> Any:
        """Its bytes, which are read only once the folder is there."""
        from pyspark import cloudpickle

        return _arrived, (_code(), self._folder, cloudpickle.dumps(self._function))


def _arrived(code: str, folder: str, function: bytes) -> Shipped:
    from pyspark import SparkFiles

    if code != _code():
        problem = "the workers have other code of touche-baselines than the driver"
        raise ToucheError(f"{problem}; install the same on all machines")
    if folder:
        use(Path(SparkFiles.get(folder)).resolve())
    return Shipped(folder, pickle.loads(function))


@cache
def _code() -> str:
    """A digest of this library's code, as it is on this machine."""
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.md5(b"".join(path.read_bytes() for path in sources)).hexdigest()


@contextmanager
def folder_sent(context: Any, folder: Path | None) -> Iterator[Ship]:
    """Lets workers fetch a baseline's folder, without what is hidden, compiled or a virtual environment.

    Args:
        context: a SparkContext.
        folder: if there is one.

    Yields:
        What makes functions fit for the way to the workers.

    Raises:
        InputError: if there are links to folders in it.
    """
    with temporary_folder(FOLDER) as made:
        if folder:
            archive = made / f"{made.name}.zip"  # of its own, as Spark sends no other by the same
            _pack(folder, archive)
            context.addArchive(f"{archive}#{made.name}")
        yield partial(Shipped, made.name if folder else "")


def version_of(folder: Path) -> bytes:
    """What tells the files of a folder from other versions of them."""
    found = hashlib.md5()
    for path in _files(folder):
        found.update(f"{path.relative_to(folder)} {md5(path)}".encode(errors="backslashreplace"))
    return found.digest()


def _pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
        for path in _files(folder):
            packed.write(path, path.relative_to(folder))


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder.

    Raises:
        InputError: if there are links to folders, which may run in circles, or hold all that there is.
    """
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__pycache__")) or (path / "pyvenv.cfg").exists():
            continue
        if path.is_dir():
            if path.is_symlink():
                raise InputError(path, "a link to a folder, which Spark is not sent", "put the folder there")
            yield from _files(path)
        elif path.is_file():
            yield path
