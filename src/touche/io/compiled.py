"""Loads libraries compiled from C, which hatch_build.py writes next to their sources."""

import ctypes
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touche.errors import ToucheError

POINTER = ctypes.c_void_p
NUMBER = ctypes.c_int64
_DIGEST_SIZE = 65  # bytes: a SHA-256 in hexadecimal and C's final zero byte


def compiled(path: Path, functions: Mapping[str, tuple[Any, ...]]) -> Any:
    """Loads a compiled library. For each function, pass the types of its result and arguments."""
    try:
        library = ctypes.CDLL(str(path))
        # hatch_build.py stores the source's digest in a variable named source.
        digest = (ctypes.c_char * _DIGEST_SIZE).in_dll(library, "source").value.decode()
        source = path.with_suffix(".c")  # not in an installation
        if source.is_file() and hashlib.sha256(source.read_bytes()).hexdigest() != digest:
            raise ValueError(f"{source.name} has changed since it was compiled")
    except (OSError, ValueError) as error:
        remedy = "install the package, or in a clone: python hatch_build.py"
        raise ToucheError(f"{path}: the compiled part cannot be used ({error}); {remedy}") from error
    for name, (result, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
