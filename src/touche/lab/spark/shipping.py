"""Sends the baseline's folder, and functions from its modules, to the workers."""

import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from touche.baselines.baseline_files import content_digest, files_in
from touche.errors import InputError, ToucheError
from touche.io.packages import make_package
from touche.io.temporary import temporary_folder

FOLDER_PREFIX = "touche-baseline-"  # of its name on the workers

Ship = Callable[[Callable[..., Any]], "Shipped"]
"""Prepares a function for the workers, so that it can use the baseline's modules there."""


@dataclass(frozen=True)
class Shipped:
    """A function for workers, which import the baseline's modules from a copy of its folder.

    Attributes:
        package: the package for the baseline's folder; empty if there is no folder.
        copy: the copy's name, from ``folder_sent``.
    """

    package: str
    copy: str
    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> Any:
        """Pickles the function as bytes, because the worker must know the copy before it unpickles them."""
        from pyspark import cloudpickle  # optional

        return _receive, (_code_digest(), self.package, self.copy, cloudpickle.dumps(self.function))


def _receive(code_digest: str, package: str, copy: str, function: bytes) -> Shipped:
    from pyspark import SparkFiles  # optional

    if code_digest != _code_digest():
        problem = "the code of touche-baselines differs between workers and driver"
        raise ToucheError(f"{problem}; install the same version on all machines")
    if package:  # first: unpickling the function imports modules from the folder's copy
        make_package(package, os.path.realpath(SparkFiles.get(copy)))
    return Shipped(package, copy, pickle.loads(function))


@cache
def _code_digest() -> str:
    package = Path(__file__).parents[2]
    return content_digest(package, package.rglob("*.py"))


@contextmanager
def folder_sent(context: Any, folder: Path | None, package: str = "") -> Iterator[Ship]:
    """Sends a baseline's folder to the workers, except hidden files, compiled files and virtual environments.

    Yields a function that prepares functions for the workers. Links to folders are an error.
    """
    with temporary_folder(FOLDER_PREFIX) as temporary:
        copy = temporary.name  # unique, because Spark sends a name only once
        if folder:
            archive = temporary / f"{copy}.zip"
            # Otherwise files must not be older than 1980.
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
                for path in files_in(folder):
                    if any(part.startswith(".") for part in path.relative_to(folder).parts):
                        continue  # e.g. a file with keys
                    if path.is_dir():  # a link, which may be circular or lead to a huge folder
                        raise InputError(path, "links to folders are not sent to Spark", "copy the folder")
                    if path.is_file():
                        packed.write(path, path.relative_to(folder))
            context.addArchive(f"{archive}#{copy}")  # workers unpack it into a folder with this name
        yield partial(Shipped, package if folder else "", copy)
