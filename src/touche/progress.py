"""Progress on standard error: bars, and lines that leave a bar whole; and how many processors there are."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from tqdm import tqdm

from touche.errors import one_line

_T = TypeVar("_T")

_DELAY = 2.0  # seconds; what is done by then shows no bar


class _Bar(tqdm):  # type: ignore[misc]
    """Not drawn before its time, not even where tqdm draws all bars anew below a line that was written."""

    def refresh(self, *args: Any, **kwargs: Any) -> None:
        now = self._time()
        if now >= self.start_t + self.delay:
            super().refresh(*args, **kwargs)
            self.last_print_t = now  # or tqdm would think that there is nothing to take away


def watched(items: Iterable[_T], what: str, unit: str, total: int | None) -> Iterator[_T]:
    """The same items, with a bar whose clock starts at the first of them, as much may precede it.

    Args:
        items: what is gone through.
        what, unit, total: as those of ``bar``.
    """
    items = iter(items)
    yield from islice(items, 1)
    yield from bar(what, unit, total, over=items, done=1)


def bar(what: str, unit: str, total: int | None, *, over: Iterable[Any] | None = None, done: int = 0) -> Any:
    """A bar with rate and time left, on terminals only, that comes after two seconds and goes in the end.

    There is none where the logger ``touche`` is set to warnings, as ``--quiet`` does.

    Args:
        what: what is being done.
        unit: what is counted, in the plural; ``B`` for bytes.
        total: how many there are, if that is known.
        over: what is gone through, if it is an iterable.
        done: how many were done before.

    Returns:
        A context manager with ``update(count)``, or the iterable.
    """
    quiet = logging.getLogger("touche").level >= logging.WARNING
    return _Bar(
        over,
        desc=what,
        total=total,
        initial=done,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=unit == "B",
        disable=quiet or None,  # None: unless on a terminal
        delay=_DELAY,
        leave=False,
        dynamic_ncols=True,
    )


def say(line: str) -> None:
    """Writes a line to standard error, above the bars if there are any."""
    tqdm.write(f"{one_line(line)}\n", file=sys.stderr, end="")  # at once, so that lines of threads do not mix


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
