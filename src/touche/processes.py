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


class Pool(ProcessPoolExecutor):
    """Processes that work for this one; they end with the ``with`` block, or with this process.

    They are spawned, because a process that runs Java or threads cannot be forked.
    """

    def __init__(self, processes: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        """Prepares processes, which are started as they are needed.

        Args:
            processes: how many.
            begin: what each does first.
            args: the arguments of ``begin``.
        """
        context = get_context("spawn")
        super().__init__(processes, mp_context=context, initializer=_begin, initargs=(begin, args))

    def __exit__(self, *_: object) -> None:
        """Ends the processes without waiting for work that they have not begun."""
        self.shutdown(cancel_futures=True)

    def check(self, purpose: str) -> None:
        """Starts a process, before any work can end it.

        Each process imports the script that the user runs. One without a guard comes here again, there.

        Args:
            purpose: what the processes do, such as ``parse web pages``.

        Raises:
            CannotStartError: if the processes cannot import that script.
        """
        if getattr(current_process(), "_inheriting", False):  # which Python itself asks, to refuse it
            sys.exit()  # in silence, because the first process reports it
        try:
            self.submit(os.getpid).result()
        except BrokenProcessPool:
            problem = f"the processes that {purpose} cannot import your script"
            remedy = 'save it in a file, and put what it does below: if __name__ == "__main__":'
            raise CannotStartError(f"{problem}; {remedy}") from None

    def submit(self, work: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Hands out work; a process that is started for it ignores interrupts, but is ended by this one."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which a new process inherits
        try:
            return super().submit(work, *args, **kwargs)
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


def _begin(begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    # It would wait for work for ever if that one were killed.
    threading.Thread(target=_wait_for_the_parent, daemon=True).start()
    if begin:
        begin(*args)


def _wait_for_the_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
