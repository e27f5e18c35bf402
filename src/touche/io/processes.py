"""Worker processes that end with this process."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from os import _exit  # itself, because os._exit is replaced while a baseline runs
from pickle import PicklingError, dumps, loads
from typing import Any, TypeVar

from touche.errors import ToucheError
from touche.io.packages import folders, make_package

_T = TypeVar("_T")
_R = TypeVar("_R")

_script_lock = threading.Lock()  # guards the script's names, which ``_without_script`` hides


class CannotStartError(ToucheError):
    """A worker process can't be started."""


class Pool(ProcessPoolExecutor):
    """Worker processes, which end with the ``with`` block or with this process.

    They are spawned, because a process that runs Java or threads can't be forked. They don't import the
    user's script: without ``if __name__ == "__main__"`` it would run again.
    """

    def __init__(self, processes: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        """Prepares the processes; each starts when it is needed.

        Args:
            begin: called first in each process, with ``args``.
        """
        self.processes = processes
        context = get_context("spawn")
        # Pickled here, because a process must create the baselines' packages before it can unpickle
        # their functions.
        work = dumps((begin, args))
        super().__init__(
            processes, mp_context=context, initializer=_begin_process, initargs=(dict(folders), work)
        )

    def __exit__(self, *_: object) -> None:
        self.shutdown(cancel_futures=True)

    def check(self, purpose: str, *functions: Callable[..., Any]) -> None:
        """Starts all processes, and checks that they work. If one ends later, its work is to blame.

        ``functions`` are what the processes will call; they can't be in the user's script. ``purpose`` is for
        errors, such as ``parse web pages``.
        """
        try:
            can_import = b"__main__" not in dumps(functions)  # the script's module
        except (PicklingError, AttributeError, TypeError):
            can_import = False
        if not can_import:
            problem = f"the processes that {purpose} cannot import functions of your script"
            raise CannotStartError(f"{problem}; move these functions into a module, and import it")
        try:
            for future in [self.submit(os.getpid) for _ in range(self.processes)]:  # no process is idle yet
                future.result()
        except BrokenProcessPool:
            problem = f"the processes that {purpose} ended at their start"
            raise CannotStartError(f"{problem}; allow more processes and memory") from None

    def submit(self, work: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Submits work. New processes ignore interrupts, because their parent ends them."""
        earlier_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by new processes
        try:
            with _without_script():
                return super().submit(work, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, earlier_mask)


def in_order(
    items: Iterable[_T], submit: Callable[[_T], Future[_R]], processes: int
) -> Iterator[tuple[_T, Future[_R]]]:
    """Submits items and yields each with its future, in order, with a limited number pending."""
    pending: deque[tuple[_T, Future[_R]]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        if len(pending) > 2 * processes:  # so that each process has its next item ready
            yield pending.popleft()
    yield from pending


@contextmanager
def _without_script() -> Iterator[None]:
    """Hides the path and name of the user's script, which new processes would import."""
    with _script_lock:
        script = vars(sys.modules["__main__"])
        hidden = {name: value for name, value in script.items() if name in ("__file__", "__spec__")}
        script.update(dict.fromkeys(hidden))  # sets them to None
        try:
            yield
        finally:
            script.update(hidden)


def _begin_process(packages: Mapping[str, str], work: bytes) -> None:
    """Creates the baselines' packages, and calls the pickled function that was passed to ``Pool``."""
    # Without this thread, a worker whose parent was killed would wait forever.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name, folder in packages.items():
        make_package(name, folder)
    begin, args = loads(work)
    if begin:
        begin(*args)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        _exit(1)
