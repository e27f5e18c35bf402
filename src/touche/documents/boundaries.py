"""Finds where records end, using bounds.c."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from touche.io.compiled import NUMBER, POINTER, compiled

TOO_DEEP = "broken JSON (nested deeper than 100 levels)"  # what DEEP means; same number in bounds.c
# Why json_bounds stops, as in bounds.c: bytes end, list begins, list ends, comma, nested too deeply.
MORE, BEGIN, END, COMMA, DEEP = range(5)


def json_bounds(
    raw: bytes, begin: int, *, in_list: bool, depth: int = 2, every_comma: bool = False
) -> tuple[int, int, int]:
    """Searches for an object's list ``arguments`` or, within the list, for the commas between its elements.

    Args:
        begin: the byte to start at: in the list, the beginning of an element.
        depth: that byte's depth: 0 at the beginning of a file; 2 in the list and for the bracket that ends
            it.
        every_comma: whether to stop at the first comma.

    Returns:
        Why the search stopped (``MORE`` to ``DEEP``), at which byte, and the last comma before it (or -1).
    """
    found = (ctypes.c_int64 * 2)()  # the C function writes here
    stop = _library().json_bounds(raw, begin, len(raw), depth, in_list, every_comma, found)
    end, last_comma = found
    return stop, end, last_comma


def end_of_rows(raw: bytes) -> int:
    """Returns the byte after the last whole row of a CSV file, as Python's csv reads it; 0 if there is none.

    The first byte is the beginning of a row.
    """
    end: int = _library().end_of_rows(raw, len(raw))
    return end


@cache
def _library() -> Any:
    return compiled(
        Path(__file__).with_name("bounds.so"),
        {
            "json_bounds": (NUMBER, ctypes.c_char_p, *[NUMBER] * 5, POINTER),
            "end_of_rows": (NUMBER, ctypes.c_char_p, NUMBER),
        },
    )
