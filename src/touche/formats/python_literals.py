"""Python's literals, as cells of args_processed.csv hold them."""

import ast
import ctypes
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from touche.compiled import NUMBER, POINTER, compiled

_LIBRARY = Path(__file__).with_name("literals.so")


def value_of(literal: str) -> Any:
    """The value of a literal.

    Raises:
        ValueError, SyntaxError, TypeError, MemoryError, RecursionError: if it is none, or holds half a
            pair of surrogates.
    """
    try:
        return orjson.loads(_as_json(literal.encode()))
    except orjson.JSONDecodeError:  # few are
        return _evaluated(literal)


def _as_json(literal: bytes) -> memoryview:
    """The same as JSON; nothing where Python has to read it."""
    room = bytearray(2 * len(literal) + 1)
    size = _library().json_of_literal(literal, len(literal), ctypes.byref(ctypes.c_char.from_buffer(room)))
    return memoryview(room)[: max(size, 0)]


def _evaluated(literal: str) -> Any:
    with warnings.catch_warnings(action="ignore"):  # of escapes such as \d, which real texts hold
        value = ast.literal_eval(literal)
    if "\\" in literal:
        orjson.dumps(value)  # refuses half a pair of surrogates, which no file can hold
    return value


@cache
def _library() -> Any:
    return compiled(_LIBRARY, {"json_of_literal": (NUMBER, ctypes.c_char_p, NUMBER, POINTER)})
