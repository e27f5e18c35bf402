"""The ``touche`` command, also for ``python -m touche``. Handles signals before slow imports."""

import os

from touche.io.signals import handle_signals


def main() -> None:
    """Runs the command."""
    handle_signals()
    # Otherwise child processes, such as multiprocessing's, could import modules from the working
    # directory.
    os.environ["PYTHONSAFEPATH"] = "1"
    from touche import cli  # imported late: takes 250 ms, and signals are handled by now

    cli.main()


if __name__ == "__main__":
    main()
