"""The compiled parts: each lies beside its source, where hatch_build.py puts it at installation."""

import ctypes
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touche.errors import ToucheError

POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64
_DIGEST = 65  # characters of a SHA-256, and the one that ends a text in C


def compiled(path: Path, functions: Mapping[str, tuple[Any, ...]]) -> Any:
    """A compiled part.

    Args:
        path: its library.
        functions: by their names the type of what each gives, then those of what it takes.

    Raises:
        ToucheError: if it cannot be loaded, or was made of another version of its source.
    """
    try:
        library = ctypes.CDLL(str(path))
        _check(library, path.with_suffix(".c"))
    except (OSError, ValueError) as error:
        remedy = "install the package, or in a clone: python hatch_build.py"
        raise ToucheError(f"{path}: the compiled part cannot be used ({error}); {remedy}") from error
    for name, (gives, *takes) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = gives, takes
    return library


def _check(library: ctypes.CDLL, source: Path) -> None:
    """Raises ValueError if a library was made of another version of the source beside it, if one is there."""
    made_of = (ctypes.c_char * _DIGEST).in_dll(library, "source").value.decode()
    if source.is_file() and hashlib.sha256(source.read_bytes()).hexdigest() != made_of:
        raise ValueError(f"{source.name} has changed since it was compiled")
