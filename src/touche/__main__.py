"""The ``touche`` command, also for ``python -m touche``. Handles signals before slow imports."""

import os
import signal
from contextlib import suppress
from typing import Any


def main() -> None:
    """Runs the command. Before and after its work, a signal ends the process at once."""
    _end_at_signals()
    # Otherwise child processes, such as multiprocessing's, could import modules from the working
    # directory.
    os.environ["PYTHONSAFEPATH"] = "1"
    from touche import cli  # imported late: takes 250 ms, and signals are handled by now

    try:
        cli.main()
    finally:
        _end_at_signals()


def _end_at_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # background jobs keep ignoring it
            signal.signal(number, _end)


def _end(number: int, frame: Any) -> None:
    """Ends the process at once: during imports and at exit, Python prints or swallows exceptions."""
    with suppress(OSError):
        os.write(2, b"touche: interrupted\n" if number == signal.SIGINT else b"touche: terminated\n")
    os._exit(128 + number)  # like shells


if __name__ == "__main__":
    main()
