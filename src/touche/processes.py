"""Processes that work for this one, and end with it."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import current_process, get_context, parent_process
from typing import Any

from touche.errors import ToucheError


def executor(processes: int, begin: Callable[..., None] | None = None, *given: Any) -> ProcessPoolExecutor:
    """So many processes, that are started as they are needed.

    They are spawned, as a process that runs Java or threads cannot be forked.

    Args:
        processes: how many.
        begin: what each does first.
        given: what ``begin`` is given.
    """
    return ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(begin, given)
    )


def check(executor: ProcessPoolExecutor, what: str) -> None:
    """Makes sure that a process can be started, before anything that it is given can end it.

    Each imports the script that the user runs. One without a guard comes here again, in that process.

    Args:
        executor: of ``executor``.
        what: what the processes are for, such as ``parse web pages``.

    Raises:
        ToucheError: if the processes cannot import that script.
    """
    if getattr(current_process(), "_inheriting", False):  # which Python itself asks, to refuse it
        sys.exit()  # in silence, for the first process tells
    try:
        executor.submit(os.getpid).result()
    except BrokenProcessPool:
        problem = f"the processes that {what} cannot import your script"
        remedy = 'save it in a file, and put what it does below: if __name__ == "__main__":'
        raise ToucheError(f"{problem}; {remedy}") from None


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the process that started this one ends it
    # It would wait for work for ever if that one were killed.
    threading.Thread(target=_wait_for_the_parent, daemon=True).start()
    if begin:
        begin(*given)


def _wait_for_the_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
