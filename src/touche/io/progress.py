"""Progress on standard error, as bars or log lines, and the number of processors."""

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
_SECONDS_BETWEEN_LINES = 30.0  # in logs
_CGROUP = Path("/sys/fs/cgroup")


class _Lines(AbstractContextManager["_Lines"]):
    """Progress for logs: a line every 30 seconds, unless the logger is quiet. Arguments as in ``bar``."""

    def __init__(self, what: str, unit: str, total: int | Callable[[], int] | None, done: int) -> None:
        self._what = what
        self._unit = unit
        self._total = total
        self._done_before = done
        self._done = done
        self._begin_time = time.monotonic()
        self._last_line_time = self._begin_time

    def __exit__(self, *error: object) -> None:
        """Does nothing."""

    def update(self, count: int) -> None:
        """Adds the count. When a line is due, writes count, rate and remaining time."""
        self._done += count
        now = time.monotonic()
        if now - self._last_line_time < _SECONDS_BETWEEN_LINES or _is_quiet():
            return
        self._last_line_time = now
        from tqdm import tqdm  # imported late: only logs need its 29 ms

        line = tqdm.format_meter(
            self._done,
            self._total() if callable(self._total) else self._total,
            now - self._begin_time,
            ncols=0,  # no bar, only numbers
            prefix=self._what,
            initial=self._done_before,
            **_unit_options(self._unit),
        )
        say(line)

    def counting(self, items: Iterable[_T]) -> Iterator[_T]:
        for item in items:
            yield item
            self.update(1)


def watched(items: Iterable[_T], what: str, unit: str, total: int | None) -> Iterator[_T]:
    """Yields the items and shows a progress bar, whose clock starts after the first item.

    Work that is done only once, before the first item, would distort the rate.

    Args:
        items: the items to count.
        what: what happens, such as ``reading documents``.
        unit: what is counted, in the plural, such as ``documents``.
        total: the number of items; None if unknown.

    Returns:
        The items. The bar appears after two seconds.

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
    """Returns a progress bar with rate and remaining time, which appears after two seconds.

    The bar vanishes at the end. Notebooks show tqdm's own bar. When standard error is not a terminal, as in
    logs, a line is written every 30 seconds. Nothing is shown if the logger ``touche`` is set to warnings
    (``--quiet``).

    Args:
        what: the text in front of the bar.
        unit: what is counted, in the plural; ``B`` for bytes.
        total: the expected count, a function that counts (called only if a bar is shown), or None.
        over: the items to iterate over.
        done: the count to start at.

    Returns:
        An iterator over ``over`` if it was passed, else a context manager with ``update(count)``.

    Examples:
        >>> import touche
        >>> with touche.bar("embedding", "documents", total=2) as shown:
        ...     shown.update(2)
    """
    in_notebook = "ipykernel" in sys.modules
    if _is_quiet() or not (in_notebook or sys.stderr.isatty()):
        lines = _Lines(what, unit, total, done=done)
        return lines if over is None else lines.counting(over)
    from tqdm.auto import tqdm  # imported late: takes 29 ms, and most runs draw no bar

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


def _is_quiet() -> bool:
    return logging.getLogger("touche").level >= logging.WARNING or not sys.stderr


def say(line: str) -> None:
    """Writes a line to standard error, above the current bar."""
    if not sys.stderr:  # closed by the caller
        return
    erasure = ""
    may_have_bar = "tqdm" in sys.modules and sys.stderr.isatty()
    if may_have_bar:  # spaces overwrite the bar; tqdm redraws it below
        spaces = " " * (get_terminal_size().columns - 1)
        erasure = f"\r{spaces}\r"
    sys.stderr.write(f"{erasure}{one_line(line)}\n")  # one call, so that threads don't mix their lines


def processors() -> int:
    """Returns how many processors this process may use, rounded up."""
    process_limit = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        process_limit = len(os.sched_getaffinity(0))
    container_limit = _processors_of_container()
    return min(process_limit, ceil(container_limit)) if container_limit > 0 else process_limit


def _unit_options(unit: str) -> dict[str, Any]:
    """tqdm writes the unit directly after the number."""
    return {"unit": "B", "unit_scale": True} if unit == "B" else {"unit": f" {unit}"}


def _processors_of_container() -> float:
    """Returns the container's limit (``docker run --cpus``); 0 or less if there is none.

    It is the kernel's quota of processor time per period, both in microseconds.
    """
    # In cgroup v2, the quota is "max" if unlimited, in v1 it's -1.
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        with suppress(OSError, ValueError):  # the other version, or no limit
            quota, period = " ".join((_CGROUP / file).read_text() for file in files).split()
            return int(quota) / int(period)
    return 0
