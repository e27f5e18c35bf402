"""Finds where records end within a block of a file, using bounds.c."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from touche.io.compiled import NUMBER, POINTER, compiled

TOO_DEEP = "broken JSON (nested deeper than 100 levels)"  # what DEEP means; same number in bounds.c
# Why JsonBounds stops, as in bounds.c: block ends, list begins, list ends, comma, nested too deeply.
MORE, BEGIN, END, COMMA, DEEP = range(5)


class _State(ctypes.Structure):
    """The struct ``json`` of bounds.c."""

    _fields_ = [
        ("in_string", ctypes.c_int32),
        ("escaped", ctypes.c_int32),
        ("depth", ctypes.c_int32),
        ("in_list", ctypes.c_int32),
        ("key_size", ctypes.c_int32),
        ("key_ends", ctypes.c_int32),
        ("key", ctypes.c_char * 55),  # ROOM in bounds.c
    ]


class JsonBounds:
    """Finds an object's list ``arguments`` and the commas between its elements."""

    def __init__(self, *, in_list: bool = False, every_comma: bool = False) -> None:
        """Starts at the beginning of a file, or inside the list. ``every_comma`` stops at all its commas."""
        self._state = _State()
        if in_list:
            self._state.in_list = True
            self._state.depth = 2  # as if the list was a key's value
        self._every_comma = every_comma
        self._results = (ctypes.c_int64 * 3)()  # the C function writes here

    @property
    def in_list(self) -> bool:
        """Whether the next byte is inside the list of arguments."""
        return bool(self._state.in_list)

    def search(self, block: bytes, begin: int) -> tuple[int, int, int, int]:
        """Searches a block, starting at the byte ``begin``.

        Returns:
            Why it stopped (``MORE`` to ``DEEP``), at which byte, and the list's first and last comma before
            it (or -1). Continue at that byte, or after it if it is a comma.
        """
        state = ctypes.byref(self._state)
        stop = _library().json_bounds(state, block, begin, len(block), self._every_comma, self._results)
        end, first_comma, last_comma = self._results
        return stop, end, first_comma, last_comma


class CsvBounds:
    """Finds the ends of rows where Python's csv does."""

    def __init__(self) -> None:
        self._state = ctypes.c_int32()
        self._results = (ctypes.c_int64 * 2)()  # the C function writes here

    def search(self, block: bytes) -> tuple[int, int]:
        """Returns where the first row ends (its newline) and the byte after the last row.

        Both are 0 if no row ends in the block.
        """
        _library().csv_bounds(ctypes.byref(self._state), block, len(block), self._results)
        first_end, after_last = self._results
        return first_end, after_last


@cache
def _library() -> Any:
    return compiled(
        Path(__file__).with_name("bounds.so"),
        {
            "json_bounds": (NUMBER, POINTER, ctypes.c_char_p, NUMBER, NUMBER, NUMBER, POINTER),
            "csv_bounds": (None, POINTER, ctypes.c_char_p, NUMBER, POINTER),
        },
    )
