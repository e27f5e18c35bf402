"""Progress on standard error: bars, lines in logs and next to a bar, and the number of processors."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from math import ceil
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TypeVar

from touche.errors import one_line

_T = TypeVar("_T")

_SECONDS_WITHOUT_BAR = 2.0  # before a bar appears
_SECONDS_BETWEEN_LINES = 30.0  # where no bar can be drawn
_CGROUP = Path("/sys/fs/cgroup")


class _NoBar(AbstractContextManager["_NoBar"]):
    """A bar that draws nothing."""

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, count: int) -> None:
        """Ignores the count."""


class _Lines(_NoBar):
    """A bar for logs: a line whenever an interval has passed; the arguments are those of ``bar``."""

    def __init__(self, what: str, unit: str, total: int | Callable[[], int] | None, done: int) -> None:
        self._what = what
        self._unit = unit
        self._total = total
        self._done_before = done
        self._done = done
        self._begin_time = time.monotonic()
        self._last_line_time = self._begin_time

    def update(self, count: int) -> None:
        """Adds a count; if it is time, writes a line with the count, the rate and the remaining time."""
        self._done += count
        now = time.monotonic()
        if now - self._last_line_time < _SECONDS_BETWEEN_LINES:
            return
        self._last_line_time = now
        from tqdm import tqdm  # here, because only logs need its 29 ms

        line = tqdm.format_meter(
            self._done,
            self._total() if callable(self._total) else self._total,
            now - self._begin_time,
            ncols=0,  # only numbers
            prefix=self._what,
            initial=self._done_before,
            **_unit_options(self._unit),
        )
        say(line)

    def counting(self, items: Iterable[_T]) -> Iterator[_T]:
        """Yields the items and counts them."""
        for item in items:
            yield item
            self.update(1)


def watched(items: Iterable[_T], what: str, unit: str, total: int | None) -> Iterator[_T]:
    """Yields the items with a progress bar, whose clock starts after the first item.

    Work that is done only once, before the first item, would distort the rate.

    Args:
        items: the items to count.
        what: what happens, such as ``reading documents``.
        unit: the items in the plural, such as ``documents``.
        total: the number of items; None if it is unknown.

    Returns:
        The items. Work of more than two seconds shows a progress bar.

    Examples:
        >>> import touche
        >>> list(touche.watched(["d1", "d2"], "reading", "documents", 2))
        ['d1', 'd2']
    """
    items = iter(items)
    yield from islice(items, 1)
    yield from bar(what, unit, total, over=items, done=1)


def bar(
    what: str,
    unit: str,
    total: int | Callable[[], int] | None,
    *,
    over: Iterable[Any] | None = None,
    done: int = 0,
) -> Any:
    """Returns a bar with rate and remaining time; it appears after two seconds and vanishes at the end.

    Notebooks show tqdm's own bar. Without a terminal, as in logs, there is a line every 30 seconds. Where the
    logger ``touche`` is set to warnings (``--quiet``), nothing is shown.

    Args:
        what: the text in front of the bar.
        unit: the plural noun of what is counted; ``B`` for bytes.
        total: the expected number, a function that counts it, or None; the function is called only if a bar
            is shown.
        over: the items to iterate over.
        done: the number at which the bar starts.

    Returns:
        An iterator over ``over`` if there is one, else a context manager with ``update(count)``.

    Examples:
        >>> import touche
        >>> with touche.bar("embedding", "documents", total=2) as shown:
        ...     shown.update(2)
    """
    if logging.getLogger("touche").level >= logging.WARNING or not sys.stderr:
        return _NoBar() if over is None else over
    in_notebook = "ipykernel" in sys.modules
    if not (in_notebook or sys.stderr.isatty()):
        lines = _Lines(what, unit, total, done=done)
        return lines if over is None else lines.counting(over)
    from tqdm.auto import tqdm  # here, because most runs draw no bar, and it takes 29 ms

    return tqdm(
        over,
        desc=one_line(what),
        total=total() if callable(total) else total,
        initial=done,
        **_unit_options(unit),
        delay=_SECONDS_WITHOUT_BAR,
        leave=False,
        dynamic_ncols=True,
    )


def say(line: str) -> None:
    """Writes a line to standard error; a bar on that line moves below it."""
    if not sys.stderr:  # closed by the caller
        return
    erasure = ""
    may_have_bar = "tqdm" in sys.modules and sys.stderr.isatty()
    if may_have_bar:  # spaces overwrite the bar, and tqdm draws it again on the next line
        spaces = " " * (get_terminal_size().columns - 1)
        erasure = f"\r{spaces}\r"
    sys.stderr.write(f"{erasure}{one_line(line)}\n")  # in one call, so that lines of threads do not mix


def processors() -> int:
    """Returns the number of processors that this process may use, rounded up."""
    process_limit = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # macOS has none
        process_limit = len(os.sched_getaffinity(0))
    container_limit = _processors_of_container()
    return min(process_limit, ceil(container_limit)) if container_limit > 0 else process_limit


def _unit_options(unit: str) -> dict[str, Any]:
    """Returns tqdm's options for a unit, which it writes directly after the number."""
    return {"unit": "B", "unit_scale": True} if unit == "B" else {"unit": f" {unit}"}


def _processors_of_container() -> float:
    """Returns how many processors a container may use (``docker run --cpus``); 0 or less without a limit.

    The kernel states the processor time that the container may use in each period, both in microseconds.
    """
    files_of_cgroup_v2 = ["cpu.max"]  # both numbers; without a limit, the first is the word max
    files_of_cgroup_v1 = ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]  # without a limit, the first is -1
    for files in (files_of_cgroup_v2, files_of_cgroup_v1):
        with suppress(OSError, ValueError):  # the other version, or no limit
            contents = [(_CGROUP / file).read_text(encoding="ascii") for file in files]
            quota, period = " ".join(contents).split()
            return int(quota) / int(period)
    return 0
