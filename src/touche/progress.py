"""Progress on standard error: bars, and lines that leave a bar whole; and how many processors there are."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from math import ceil
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Self, TypeVar

from touche.errors import one_line

_T = TypeVar("_T")

_DELAY = 2.0  # seconds; what is done by then shows no bar
_CGROUP = Path("/sys/fs/cgroup")


class _NoBar:
    """Where none is drawn."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, count: int) -> None:
        """Takes note of nothing."""


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
    if logging.getLogger("touche").level >= logging.WARNING or not (sys.stderr and sys.stderr.isatty()):
        return _NoBar() if over is None else over
    from tqdm import tqdm  # here, for most runs draw none, and it takes as long to import as a small run

    return tqdm(
        over,
        desc=what,
        total=total,
        initial=done,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=unit == "B",
        delay=_DELAY,
        leave=False,
        dynamic_ncols=True,
    )


def say(line: str) -> None:
    """Writes a line to standard error, in place of a bar if there is one, which goes on below."""
    if not sys.stderr:  # closed by the caller
        return
    wide = get_terminal_size().columns - 1 if "tqdm" in sys.modules and sys.stderr.isatty() else 0
    blank = f"\r{'':{wide}}\r" if wide else ""
    sys.stderr.write(f"{blank}{one_line(line)}\n")  # at once, so that lines of threads do not mix


def processors() -> int:
    """How many processors this process may use, at least in part."""
    # Not on macOS.
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(own, ceil(_limit_of_container() or own))


def _limit_of_container() -> float:
    """How many processors a container may use, as ``docker run --cpus`` says; 0 if there is no limit."""
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):  # versions 2 and 1
        with suppress(OSError, ValueError):  # "max" or -1 if there is no limit
            limit, period = " ".join((_CGROUP / file).read_text(encoding="ascii") for file in files).split()
            return max(0, int(limit) / int(period))
    return 0
