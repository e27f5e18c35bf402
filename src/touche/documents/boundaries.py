"""Ends of records within a block of a file; bounds.c finds them."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from touche.io.compiled import NUMBER, POINTER, compiled

TOO_DEEP = "broken JSON (nested deeper than 100 levels)"  # what DEEP means; bounds.c has the same number
# Why JsonBounds stops, as in bounds.c: at the end of the block, the beginning of the list, the end of the
# list, a comma, or a value that is nested too deeply.
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
    """Finds the list under the key ``arguments`` of an object, and the commas between its elements."""

    def __init__(self, *, in_list: bool = False, every_comma: bool = False) -> None:
        """Starts at the beginning of a file.

        Args:
            in_list: start at the beginning of the list instead, whatever its key is.
            every_comma: stop at each comma between elements.
        """
        self._state = _State()
        if in_list:
            self._state.in_list = True
            self._state.depth = 2  # as if the list was the value of a key
        self._every_comma = every_comma
        self._results = (ctypes.c_int64 * 3)()  # the C function writes its results here

    @property
    def in_list(self) -> bool:
        """Whether the next byte is in the list."""
        return bool(self._state.in_list)

    def look(self, block: bytes, begin: int) -> tuple[int, int, int, int]:
        """Searches a block from a byte.

        Returns:
            Why the search stopped (``MORE`` to ``DEEP``), at which byte, and the first and the last comma of
            the list before that byte (or -1). The next search begins at that byte, or after a comma there.
        """
        state = ctypes.byref(self._state)
        stop = _library().json_bounds(state, block, begin, len(block), self._every_comma, self._results)
        end, first_comma, last_comma = self._results
        return stop, end, first_comma, last_comma


class CsvBounds:
    """Finds the same ends of rows as Python's csv."""

    def __init__(self) -> None:
        """Starts at the beginning of a file."""
        self._state = ctypes.c_int32()
        self._results = (ctypes.c_int64 * 2)()  # the C function writes its results here

    def look(self, block: bytes) -> tuple[int, int]:
        """Returns the index of the newline that ends the first row, and that of the byte after the last row.

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
