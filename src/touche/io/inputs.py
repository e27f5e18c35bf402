"""The files that the running command has read; no command replaces one of them."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

Identity = tuple[int, int]
"""Device and inode of a file, which are equal for each link to it."""


@dataclass(frozen=True, eq=False)
class _Command:
    """The files of a command.

    Attributes:
        read: the identities of its inputs.
        written: the identities of its outputs, which it may read and replace.
    """

    read: set[Identity] = field(default_factory=set)
    written: set[Identity] = field(default_factory=set)


_running: list[_Command] = []  # empty in a Python program that uses the library


@contextmanager
def command_running() -> Iterator[None]:
    """Protects, until the end of the block, the files that are read in it."""
    command = _Command()
    _running.append(command)
    try:
        yield
    finally:
        _running.remove(command)


def command_line(function: str) -> str:
    """Returns the running command as typed; in a Python program, the function.

    Args:
        function: the name of the function, such as ``touche.fuse``.
    """
    return shlex.join(["touche", *sys.argv[1:]]) if _running else function


def add_input(path: Path) -> None:
    """Records that the running command reads a file."""
    for command in _running:
        command.read.update(identities([path]) - command.written)


def add_output(path: Path) -> None:
    """Records that the running command has written a file."""
    for command in _running:
        command.written.update(identities([path]))
        command.read.difference_update(command.written)  # a file that was removed may have had this inode


def is_input(path: Path) -> bool:
    """Returns whether the running command has read a file, by whichever name."""
    return any(command.read & identities([path]) for command in _running)


def identities(paths: Iterable[Path]) -> set[Identity]:
    """Returns the identities of those paths that exist."""
    existing = set()
    for path in paths:
        with suppress(OSError, ValueError):  # ValueError for a NUL in the path
            status = os.stat(path)  # noqa: PTH116 (a file in memory is a Path, too)
            existing.add((status.st_dev, status.st_ino))
    return existing
