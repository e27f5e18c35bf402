"""Loads the libraries compiled from C; hatch_build.py writes each of them next to its source."""

import ctypes
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touche.errors import ToucheError

POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64
_DIGEST = 65  # hexadecimal digits of a SHA-256, and C's final zero byte


def compiled(path: Path, functions: Mapping[str, tuple[Any, ...]]) -> Any:
    """Loads a compiled library.

    Args:
        path: the library.
        functions: for each function the type of its result, then those of its arguments.

    Raises:
        ToucheError: if the library cannot be loaded, or its source has changed since.
    """
    try:
        library = ctypes.CDLL(str(path))
        _check(library, path.with_suffix(".c"))
    except (OSError, ValueError) as error:
        remedy = "install the package, or in a clone: python hatch_build.py"
        raise ToucheError(f"{path}: the compiled part cannot be used ({error}); {remedy}") from error
    for name, (result, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _check(library: ctypes.CDLL, source: Path) -> None:
    """Raises ValueError if a library differs from its source; an installation without sources passes."""
    made_of = (ctypes.c_char * _DIGEST).in_dll(library, "source").value.decode()
    if source.is_file() and hashlib.sha256(source.read_bytes()).hexdigest() != made_of:
        raise ValueError(f"{source.name} has changed since it was compiled")
