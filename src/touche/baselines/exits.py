"""Keeps a baseline's code from ending this process, which would look like a finished run."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from touche.errors import ToucheError
from touche.io.progress import say

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
        setattr(os, function, _guarded(function, name, os.getpid(), get_ident()))
    try:
        yield
    except SystemExit as error:
        if type(error) is not SystemExit:  # a subclass, which touche's main program raises for a signal
            raise
        raise ToucheError(_sentence(name, error.code or 0)) from error
    finally:
        _blocks.remove(is_written)
        if not _blocks:
            for function, original in _FUNCTIONS.items():
                setattr(os, function, original)


def _sentence(name: str, code: object) -> str:
    problem = f"the baseline {name} ended the program with exit code {code}"
    return f"{problem} before it wrote run.txt; let it raise an error instead"


def _guarded(function: str, name: str, process: int, thread: int) -> Callable[..., Any]:
    """Returns a function that raises SystemExit in this process, but does its work in a forked one."""

    def end(*arguments: Any) -> Any:
        if os.getpid() != process or any(is_written() for is_written in _blocks):
            return _FUNCTIONS[function](*arguments)
        code = arguments[0] if function == "_exit" else 0
        if get_ident() != thread:  # an exception would only end this thread, for which others may wait
            say(f"touche: {_sentence(name, code)}")
            return _FUNCTIONS["_exit"](2)
        raise SystemExit(code)

    return end
