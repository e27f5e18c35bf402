"""Processes that work for this one, and end with it."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import current_process, get_context, parent_process
from typing import Any, TypeVar

from touche.errors import ToucheError

_T = TypeVar("_T")
_R = TypeVar("_R")


class CannotStartError(ToucheError):
    """A process cannot be started."""


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
        CannotStartError: if the processes cannot import that script.
    """
    if getattr(current_process(), "_inheriting", False):  # which Python itself asks, to refuse it
        sys.exit()  # in silence, for the first process tells
    try:
        submit(executor, os.getpid).result()
    except BrokenProcessPool:
        problem = f"the processes that {what} cannot import your script"
        remedy = 'save it in a file, and put what it does below: if __name__ == "__main__":'
        raise CannotStartError(f"{problem}; {remedy}") from None


def submit(executor: ProcessPoolExecutor, work: Callable[..., _T], *given: Any) -> Future[_T]:
    """Hands out work; a process that is started for it hears of no interrupt, but is ended by this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which a new process inherits
    try:
        return executor.submit(work, *given)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_order(
    items: Iterable[_T], hand_out: Callable[[_T], Future[_R]], processes: int
) -> Iterator[tuple[_T, Future[_R]]]:
    """Hands items out and yields each with its future, in order; so few are under way that none pile up.

    Args:
        items: what is handed out.
        hand_out: hands one of them to a process.
        processes: how many there are.
    """
    under_way: deque[tuple[_T, Future[_R]]] = deque()
    for item in items:
        under_way.append((item, hand_out(item)))
        if len(under_way) > 2 * processes:
            yield under_way.popleft()
    while under_way:
        yield under_way.popleft()


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    # It would wait for work for ever if that one were killed.
    threading.Thread(target=_wait_for_the_parent, daemon=True).start()
    if begin:
        begin(*given)


def _wait_for_the_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
