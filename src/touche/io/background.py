"""Background work that pauses while other work uses all processors."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_free = threading.Event()
_free.set()


@contextmanager
def processors_in_use() -> Iterator[None]:
    """Pauses background work until the end of the block."""
    _free.clear()
    try:
        yield
    finally:
        _free.set()


def wait_for_processor() -> None:
    """Waits until no block uses all processors."""
    _free.wait()
