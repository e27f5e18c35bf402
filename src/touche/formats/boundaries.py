"""Where records end in a block of a file, as bounds.c finds them."""

import ctypes
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from touche.compiled import NUMBER, POINTER, compiled

DEEPEST_JSON = 100  # levels, as in bounds.c
_LIBRARY = Path(__file__).with_name("bounds.so")


class Event(IntEnum):
    """Why a block of JSON is looked at no further; in the order of bounds.c."""

    MORE = 0  # the next block is needed
    BEGIN = 1  # the list of arguments begins
    END = 2  # it ends
    COMMA = 3  # between two of its elements
    DEEP = 4  # nested absurdly deep


class Found(NamedTuple):
    """What there is in a block of JSON.

    Attributes:
        event: why it is looked at no further.
        at: where: the end of the block, the first byte in the list, or the mark.
        first, last: the first and the last comma between elements of the list before that, or -1.
    """

    event: Event
    at: int
    first: int
    last: int


class _State(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("in_string", "escaped", "depth", "in_list")),
        *((name, ctypes.c_int32) for name in ("key_size", "key_ends")),
        ("key", ctypes.c_char * 55),  # ROOM
    ]


class JsonBounds:
    """Finds the list under the key ``arguments`` of an object, and the commas between its elements."""

    def __init__(self, *, in_list: bool = False, every: bool = False) -> None:
        """At the beginning of a file.

        Args:
            in_list: at the beginning of the list instead.
            every: each comma between elements is an event, and not only known as the first or last.
        """
        self._state = _State(depth=2, in_list=True) if in_list else _State()
        self._every, self._found = every, (ctypes.c_int64 * 3)()

    @property
    def in_list(self) -> bool:
        """Whether what comes next is in the list."""
        return bool(self._state.in_list)

    def look(self, block: bytes, at: int) -> Found:
        """Looks at a block from a byte on; the next look begins where this one ended, or behind its comma."""
        event = _library().json_bounds(
            ctypes.byref(self._state), block, at, len(block), self._every, self._found
        )
        return Found(Event(event), *self._found)


class CsvBounds:
    """Finds the ends of rows, as Python's csv tells them."""

    def __init__(self) -> None:
        """At the beginning of a file."""
        self._state, self._found = ctypes.c_int32(), (ctypes.c_int64 * 2)()

    def look(self, block: bytes) -> tuple[int, int]:
        """Where the first row ends that ends in a block, and behind the end of the last; 0 if none does."""
        _library().csv_bounds(ctypes.byref(self._state), block, len(block), self._found)
        first, last = self._found
        return first, last


def line_breaks(raw: bytes) -> int:
    """How many there are."""
    return int(_library().line_breaks(raw, len(raw)))


@cache
def _library() -> Any:
    return compiled(
        _LIBRARY,
        {
            "json_bounds": (NUMBER, POINTER, ctypes.c_char_p, NUMBER, NUMBER, NUMBER, POINTER),
            "line_breaks": (NUMBER, ctypes.c_char_p, NUMBER),
            "csv_bounds": (None, POINTER, ctypes.c_char_p, NUMBER, POINTER),
        },
    )
