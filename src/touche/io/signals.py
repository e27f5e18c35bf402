"""SIGINT, SIGTERM and SIGHUP end a command with one line and a shell's exit code.

Temporary files are removed, and programs that it has started end, unless a second signal comes meanwhile, or
the first one comes in a destructor.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import _exit, write  # itself, because os._exit is replaced while a baseline runs
from typing import Any, NoReturn

_LINES: dict[int, str] = {
    signal.SIGINT: "touche: interrupted",
    signal.SIGTERM: "touche: terminated",
    signal.SIGHUP: "touche: hung up",  # the terminal was closed
}
_raises = False  # whether the next signal is raised as ``Stopped``


class Stopped(SystemExit):
    """A signal as an exception, so that temporary files get deleted. Its exit code is the shell's.

    Attributes:
        number: the signal's number.
        line: what to tell the user.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(128 + number)
        self.number = number
        self.line = _LINES[number]


def handle_signals() -> None:
    """Handles signals from now on, unless they are ignored, such as SIGINT in background jobs, or SIGHUP by
    nohup.
    """
    sys.unraisablehook = _end_if_stopped
    for number in _LINES:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)


@contextmanager
def signals_raised() -> Iterator[None]:
    """In this block, the first signal raises ``Stopped``. Any other signal ends the process at once."""
    global _raises
    _raises = True
    try:
        yield
    finally:
        _raises = False


def _stop(number: int, frame: Any) -> None:
    """Signal handler. Ends the process if it imports modules or exits.

    Python would print or swallow an exception then.
    """
    global _raises
    if not _raises:
        _end(number)
    _raises = False  # a second signal ends the process although the first one's exception still cleans up
    raise Stopped(number)


def _end_if_stopped(unraisable: Any) -> None:
    """Ends the process if a signal arrived in a destructor or callback, where Python swallows exceptions."""
    if isinstance(unraisable.exc_value, Stopped):
        _end(unraisable.exc_value.number)
    sys.__unraisablehook__(unraisable)


def _end(number: int) -> NoReturn:
    """Ends the process at once. Temporary files stay, and programs that it has started go on."""
    with suppress(OSError):
        write(2, f"{_LINES[number]}\n".encode())
    _exit(128 + number)
