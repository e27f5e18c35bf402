"""The ``touche`` command, also for ``python -m touche``; it handles signals before large imports."""

import os
import signal
from contextlib import suppress
from typing import Any


def main() -> None:
    """Runs the command; before and after its work, a signal ends the process at once."""
    _end_at_signals()
    # Otherwise child processes, such as those of multiprocessing, could import modules of the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    from touche import cli  # here, because it takes 250 ms, and signals are handled before

    try:
        cli.main()
    finally:
        _end_at_signals()


def _end_at_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # a background job continues to ignore it
            signal.signal(number, _end)


def _end(number: int, frame: Any) -> None:
    """Ends the process directly, because imports and the interpreter's exit print or swallow exceptions."""
    with suppress(OSError):
        os.write(2, b"touche: interrupted\n" if number == signal.SIGINT else b"touche: terminated\n")
    os._exit(128 + number)  # the exit status that shells use for a signal


if __name__ == "__main__":
    main()
