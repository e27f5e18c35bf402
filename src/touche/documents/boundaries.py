"""Ends of records within a block of a file; bounds.c finds them."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from touche.io.compiled import NUMBER, POINTER, compiled

DEEPEST_JSON = 100  # levels; the same number is in bounds.c
# Where JsonBounds stops: block's end, beginning or end of the list, comma, too deeply nested value.
MORE, BEGIN, END, COMMA, DEEP = range(5)
_LIBRARY = Path(__file__).with_name("bounds.so")


class _State(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("in_string", "escaped", "depth", "in_list")),
        *((name, ctypes.c_int32) for name in ("key_size", "key_ends")),
        ("key", ctypes.c_char * 55),  # ROOM
    ]


class JsonBounds:
    """Finds the list under the key ``arguments`` of an object, and the commas between its elements."""

    def __init__(self, *, in_list: bool = False, every_comma: bool = False) -> None:
        """Starts at the beginning of a file.

        Args:
            in_list: start at the beginning of the list instead.
            every_comma: stop at each comma between elements.
        """
        self._state = _State(depth=2, in_list=True) if in_list else _State()
        self._every = every_comma
        self._result = (ctypes.c_int64 * 3)()

    @property
    def in_list(self) -> bool:
        """Whether the next byte is in the list."""
        return bool(self._state.in_list)

    def look(self, block: bytes, at: int) -> tuple[int, int, int, int]:
        """Searches a block from byte ``at``; the next call starts at the returned byte, or behind its comma.

        Returns:
            Why the search stopped, at which byte, and the first and the last comma before that byte (or -1).
        """
        state = ctypes.byref(self._state)
        stop = _library().json_bounds(state, block, at, len(block), self._every, self._result)
        at, first, last = self._result
        return stop, at, first, last


class CsvBounds:
    """Finds the same ends of rows as Python's csv."""

    def __init__(self) -> None:
        """Starts at the beginning of a file."""
        self._state = ctypes.c_int32()
        self._result = (ctypes.c_int64 * 2)()

    def look(self, block: bytes) -> tuple[int, int]:
        """Returns where the first row of a block ends, and the byte after its last row; 0 if none ends."""
        _library().csv_bounds(ctypes.byref(self._state), block, len(block), self._result)
        first, last = self._result
        return first, last


@cache
def _library() -> Any:
    functions = {
        "json_bounds": (NUMBER, POINTER, ctypes.c_char_p, NUMBER, NUMBER, NUMBER, POINTER),
        "csv_bounds": (None, POINTER, ctypes.c_char_p, NUMBER, POINTER),
    }
    return compiled(_LIBRARY, functions)
