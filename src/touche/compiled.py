"""The compiled parts: each lies beside its source, where hatch_build.py puts it at installation."""

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touche.errors import ToucheError

POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64


def compiled(path: Path, functions: Mapping[str, tuple[Any, ...]]) -> Any:
    """A compiled part.

    Args:
        path: its library.
        functions: by their names the type of what each gives, then those of what it takes.

    Raises:
        ToucheError: if it cannot be loaded.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        remedy = "install the package, or in a clone: python hatch_build.py"
        raise ToucheError(f"{path}: the compiled part cannot be used ({error}); {remedy}") from error
    for name, (gives, *takes) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = gives, takes
    return library
