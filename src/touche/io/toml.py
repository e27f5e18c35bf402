"""TOML files that strangers write."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touche.errors import InputError
from touche.io.opening import decoded, open_binary

_LARGEST = 100_000  # bytes; real ones have less than twenty thousand
_DOTS = 500  # in a line; for each key such as a.b.c, tomllib takes memory by the square of its dots
_BOUND = 1 << 63  # TOML promises no larger whole number


def read_toml(path: Path) -> dict[str, Any]:
    """Returns the tables of a file, whose texts a terminal can show and whose numbers are finite.

    Raises:
        InputError: if the file cannot be read, is not UTF-8 or not TOML, or holds another text or number.
    """
    with open_binary(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InputError(path, f"larger than {_LARGEST} bytes", "check that this is the right file")
    if any(line.count(b".") > _DOTS for line in content.splitlines()):
        raise InputError(path, f"more than {_DOTS} dots in a line", "check that this is the right file")
    text = "".join(decoded(content.splitlines(keepends=True), path))
    try:
        tables = tomllib.loads(text)
        for problem in _unfit(tables, ""):
            raise InputError(path, problem, "correct it")
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error
    return tables


def _unfit(value: Any, key: str) -> Iterator[str]:
    """Names the keys of texts that a terminal would obey, and of numbers that TOML does not promise."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _unfit(name, f"{key}.{name}".lstrip("."))
            yield from _unfit(item, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _unfit(item, f"{key}[{number}]")
    elif isinstance(value, str) and not "".join(value.split()).isprintable():
        yield f"{key}: a character that cannot be shown"
    elif isinstance(value, int | float) and not abs(value) < _BOUND:
        yield f"{key}: a number that is not finite, or too large"
