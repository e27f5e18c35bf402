"""The files that the running command or function has read, which it never replaces, and its new folders."""

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
Identity = tuple[int, int]
"""Device and inode of a file, which are equal for each link to it."""


@dataclass(frozen=True, eq=False)
class _Command:
    """The files of a command, or of a function of the library.

    Attributes:
        is_typed: whether a user typed it.
        read: the identities of its inputs.
        written: the identities of its outputs, which it may read and replace.
    """

    is_typed: bool
    read: set[Identity] = field(default_factory=set)
    written: set[Identity] = field(default_factory=set)


_running: list[_Command] = []  # a command, the functions that it calls, and those of other threads
# The folders that the innermost command of this thread has made.
_folders: ContextVar[list[Path] | None] = ContextVar("folders", default=None)


@contextmanager
def command_running(*, is_typed: bool = True) -> Iterator[None]:
    """Keeps outputs from replacing files that are read in the block; an error removes new empty folders.

    Args:
        is_typed: whether a user typed the command; False for a function of the library.
    """
    command = _Command(is_typed=is_typed)
    _running.append(command)
    folders = list[Path]()
    token = _folders.set(folders)
    try:
        yield
    except BaseException:
        for folder in reversed(folders):
            with suppress(OSError):  # not empty, or missing
                folder.rmdir()
        raise
    finally:
        _folders.reset(token)
        _running.remove(command)


def keeping_inputs(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Makes a function protect its inputs and remove new empty folders after an error, as a command does."""

    @wraps(function)
    def call(*args: _P.args, **options: _P.kwargs) -> _T:
        with command_running(is_typed=False):
            return function(*args, **options)

    return call


def command_line(function: str) -> str:
    """Returns the running command as typed; in a Python program, the function.

    Args:
        function: the name of the function, such as ``touche.fuse``.
    """
    is_typed = any(command.is_typed for command in _running)
    return shlex.join(["touche", *sys.argv[1:]]) if is_typed else function


def add_input(path: Path) -> None:
    """Records that the running command reads a file."""
    for command in _running:
        command.read.update(identities([path]) - command.written)


def add_output(path: Path) -> None:
    """Records that the running command has written a file."""
    for command in _running:
        command.written.update(identities([path]))
        command.read.difference_update(command.written)  # a file that was removed may have had this inode


def add_folders(folders: Iterable[Path]) -> None:
    """Records folders that the running command makes, parents first; an error removes the last ones first."""
    recorded = _folders.get()
    if recorded is not None:
        recorded.extend(folders)


def is_input(path: Path) -> bool:
    """Returns whether the running command has read a file, by whichever name."""
    return any(command.read & identities([path]) for command in _running)


def identities(paths: Iterable[Path]) -> set[Identity]:
    """Returns the identities of those paths that exist."""
    existing = set()
    for path in paths:
        with suppress(OSError, ValueError):  # ValueError for a NUL in the path
            status = os.stat(path)  # noqa: PTH116 (FileInMemory.stat has no inode)
            existing.add((status.st_dev, status.st_ino))
    return existing
