"""Untrusted TOML files, as tables or strictly as records; errors name the file and the key."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import schema

from touche.errors import InputError, choice
from touche.io.identifiers import quoted
from touche.io.opening import decoded, open_binary

Text = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1, pattern=r"^(?!/|([\s\S]*/)?\.\.(/|$))")]
"""Name of a file inside its folder."""
Positive = Annotated[float, Meta(gt=0)]

_LARGEST = 100_000  # bytes; real files have less than 20,000
_DOTS = 500  # in a line; tomllib's memory grows with the square of the dots in a key
_BOUND = 1 << 63  # TOML guarantees no larger integer
_ANY_KEY = "..."  # msgspec's name for any key of a table


class Strict(Struct, forbid_unknown_fields=True, frozen=True):
    """A table without unknown keys; its subclasses are also frozen."""


Table = TypeVar("Table", bound=Strict)


def read_toml(path: Path) -> dict[str, Any]:
    """Returns the tables of a file; texts must be printable, and numbers finite.

    Raises:
        InputError: if the file cannot be read, is not UTF-8 or TOML, or contains another text or number.
    """
    with open_binary(path) as file:
        content = file.read(_LARGEST + 1)
    lines = content.splitlines(keepends=True)
    if len(content) > _LARGEST or any(line.count(b".") > _DOTS for line in lines):
        problem = f"larger than {_LARGEST} bytes, or more than {_DOTS} dots in a line"
        raise InputError(path, problem, "check that this is the right file")
    text = "".join(decoded(lines, path))
    try:
        tables = tomllib.loads(text)
        problem = next(_unfit(tables, ""), "")
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error
    if problem:
        raise InputError(path, problem, "correct it")
    return tables


def _unfit(value: Any, key: str) -> Iterator[str]:
    """Yields problems of texts with control characters, and of numbers that TOML does not guarantee."""
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


def read_record(path: Path, kind: type[Table]) -> Table:
    """Returns the content of a TOML file as a record.

    Args:
        path: the file.
        kind: type of the record; its own errors read ``problem; remedy``.

    Raises:
        InputError: if the file cannot be read, a key is missing or unknown, or its value is of another type
            or out of range.
    """
    tables = read_toml(path)
    try:
        return convert(tables, kind)
    except ValidationError as error:
        text, _, steps = str(error).partition(" - at `$")
        problem, _, remedy = text.partition("; ")
        path_of_key, value = _located(tables, re.findall(r"[^.\[\]`]+|\.\.\.", steps), kind, str(error))
        key = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path_of_key)
        unknown = re.search(r"unknown field `(.*)`|enum value '(.*)'", problem, re.DOTALL)
        if unknown:
            whole = schema(kind)
            words = dict.fromkeys(_words(whole, path_of_key, whole["$defs"]))
            remedy = choice(unknown[1] or unknown[2], words)
        elif not isinstance(value, dict | list):
            problem = re.sub("Expected .* matching regex .*'", "this name leads out of its folder", problem)
            problem = f"{problem} ({quoted(value)})"
        where = f"{key.lstrip('.')}: " if key else ""
        raise InputError(path, f"{where}{problem}", remedy or "correct it") from error


def _located(tables: Any, steps: list[str], kind: Any, message: str) -> tuple[list[str | int], Any]:
    """Returns the path to the wrong key, and its value; msgspec does not name the entry of a table."""
    path = list[str | int]()
    value = tables = deepcopy(tables)
    for step in steps:
        for name, entry in list(value.items()) if step == _ANY_KEY else ():
            value.clear()
            value[name] = entry
            try:
                convert(tables, kind)
            except ValidationError as error:
                if str(error) == message:
                    step = name
                    break
        path.append(int(step) if isinstance(value, list) else step)
        value = value[path[-1]]
    return path, value


def _words(part: dict[str, Any], path: Sequence[str | int], definitions: dict[str, Any]) -> Iterator[str]:
    """Yields the keys and words that a JSON schema allows at a path."""
    part = definitions[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    for option in part.get("anyOf", ()):
        yield from _words(option, path, definitions)
    if not path:
        yield from [*part.get("properties", ()), *map(str, part.get("enum", ()))]
    else:
        entries = part.get("items" if isinstance(path[0], int) else "additionalProperties")
        inner = part.get("properties", {}).get(path[0], entries)
        if isinstance(inner, dict):
            yield from _words(inner, path[1:], definitions)
