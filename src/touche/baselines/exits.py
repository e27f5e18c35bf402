"""Keeps a baseline's code from ending this process, which would look like a finished run."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from touche.errors import ToucheError

# All that end or replace this process without an exception; os.execl and others call these.
_FUNCTIONS = {name: getattr(os, name) for name in ("_exit", "execv", "execve")}
_blocks: list[Callable[[], bool]] = []  # the open blocks, of all threads: whether each one's run is written


@contextmanager
def exits_as_errors(name: str, is_written: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Turns the end of this process in this block into a ToucheError.

    Args:
        name: the baseline's name.
        is_written: whether its run is written; then the process may end.
    """
    _blocks.append(is_written)
    for function in _FUNCTIONS:
        setattr(os, function, _guarded(function, os.getpid()))
    try:
        yield
    except SystemExit as error:
        if type(error) is not SystemExit:  # a subclass, which touche's main program raises for a signal
            raise
        problem = f"the baseline {name} ended the program with exit code {error.code or 0}"
        raise ToucheError(f"{problem} before it wrote run.txt; let it raise an error instead") from error
    finally:
        _blocks.remove(is_written)
        if not _blocks:
            for function, original in _FUNCTIONS.items():
                setattr(os, function, original)


def _guarded(function: str, process: int) -> Callable[..., Any]:
    """Returns a function that raises SystemExit in this process, but does its work in a forked one."""

    def end(*arguments: Any) -> Any:
        if os.getpid() != process or any(is_written() for is_written in _blocks):
            return _FUNCTIONS[function](*arguments)
        raise SystemExit(arguments[0] if function == "_exit" else 0)

    return end
