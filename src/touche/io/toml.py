"""Reads untrusted TOML files as dictionaries or as strict records. Errors name the file and the key."""

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
from touche.io.opening import decoded, is_file_or_folder, open_binary

Text = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1, pattern=r"^(?!/|([\s\S]*/)?\.\.(/|$))")]
"""Name of a file inside its folder: neither absolute nor with ``..``."""
Positive = Annotated[float, Meta(gt=0)]

_MOST_BYTES = 100_000  # real files have less than 20,000
_MOST_DOTS = 500  # per line; tomllib's memory grows with the square of a key's dots
_NUMBER_LIMIT = 1 << 63  # TOML guarantees no larger integer
_ANY_KEY = "..."  # msgspec's name for any key of a table


class Strict(Struct, forbid_unknown_fields=True, frozen=True):
    """A frozen record that rejects unknown keys."""


Table = TypeVar("Table", bound=Strict)


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file. Strings must be printable, and numbers finite."""
    if path.exists() and not is_file_or_folder(path):
        raise InputError(path, "not a regular file", "replace it with a file, or remove it")
    with open_binary(path) as file:
        content = file.read(_MOST_BYTES + 1)
    lines = content.splitlines(keepends=True)
    if len(content) > _MOST_BYTES or any(line.count(b".") > _MOST_DOTS for line in lines):
        problem = f"larger than {_MOST_BYTES} bytes, or more than {_MOST_DOTS} dots in a line"
        raise InputError(path, problem, "check that this is the right file")
    text = "".join(decoded(lines, path))
    try:
        tables = tomllib.loads(text)
        problem = next(_problems(tables, ""), "")
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error
    if problem:
        raise InputError(path, problem, "correct it")
    return tables


def _problems(value: Any, key: str) -> Iterator[str]:
    """Yields problems: control characters, and numbers that are not finite or reach 2^63.

    ``key`` is the value's full key, such as ``corpora.full``.
    """
    if isinstance(value, dict):
        for name, item in value.items():
            item_key = f"{key}.{name}" if key else name
            yield from _problems(name, item_key)
            yield from _problems(item, item_key)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _problems(item, f"{key}[{number}]")
    elif isinstance(value, str) and not "".join(value.split()).isprintable():  # whitespace is allowed
        yield f"{key}: a character that cannot be shown"
    elif isinstance(value, int | float) and not abs(value) < _NUMBER_LIMIT:  # also true for NaN, unlike >=
        yield f"{key}: a number that is not finite, or too large"


def read_record(path: Path, kind: type[Table]) -> Table:
    """Reads a TOML file as a record. Errors that the record's type raises must read ``problem; remedy``.

    Raises:
        InputError: if the file can't be read, or a key is missing or unknown, or its value is of another type
            or out of range.
    """
    tables = read_toml(path)
    try:
        return convert(tables, kind)
    except ValidationError as error:
        message = str(error)  # e.g. Expected `str`, got `int` - at `$.corpora[...].files[0]`
        text, _, location = message.partition(" - at `$")
        problem, _, remedy = text.partition("; ")
        steps = re.findall(r"[^.\[\]`]+|\.\.\.", location)  # keys, indices, and ... for any key
        keys, value = _located(tables, steps, kind, message)
        # Messages count list entries from 1.
        shown_location = "".join(f"[{key + 1}]" if isinstance(key, int) else f".{key}" for key in keys)
        unknown = re.search(r"unknown field `(.*)`|enum value '(.*)'", problem, re.DOTALL)
        if unknown:
            whole_schema = schema(kind)
            known = dict.fromkeys(_known_words(whole_schema, keys, whole_schema["$defs"]))
            remedy = choice(unknown[1] or unknown[2], known)
        elif not isinstance(value, dict | list):  # tables and lists are too long for a message
            # Only file names use a regular expression.
            problem = re.sub("Expected .* matching regex .*'", "this name leads out of its folder", problem)
            problem = f"{problem} ({quoted(value)})"
        if shown_location:
            problem = f"{shown_location.lstrip('.')}: {problem}"
        raise InputError(path, problem, remedy or "correct it") from error


def _located(tables: Any, steps: list[str], kind: Any, message: str) -> tuple[list[str | int], Any]:
    """Returns the path (keys and indices) of a wrong value, and the value.

    ``steps`` is the path in msgspec's message, with ``...`` for keys that the record doesn't name.
    """
    keys = list[str | int]()
    tables = deepcopy(tables)  # because entries are removed from it
    value = tables
    for step in steps:
        key: str | int = step
        if step == _ANY_KEY:
            key = _isolate_wrong_entry(value, tables, kind, message)
        elif isinstance(value, list):
            key = int(step)
        keys.append(key)
        value = value[key]
    return keys, value


def _isolate_wrong_entry(table: dict[str, Any], tables: Any, kind: Any, message: str) -> str:
    """Returns the key of the table's entry that causes the error, which msgspec doesn't name.

    Tries one entry at a time until the message is the same. The others stay removed, since they may have the
    same error.
    """
    for key, entry in list(table.items()):
        table.clear()
        table[key] = entry
        try:
            convert(tables, kind)
        except ValidationError as error:
            if str(error) == message:
                break
    return key


def _known_words(
    part: dict[str, Any], keys: Sequence[str | int], definitions: dict[str, Any]
) -> Iterator[str]:
    """Yields the keys and words that a JSON schema allows where ``keys`` lead."""
    if "$ref" in part:
        part = definitions[part["$ref"].rpartition("/")[2]]
    for option in part.get("anyOf", ()):
        yield from _known_words(option, keys, definitions)
    if not keys:
        yield from part.get("properties", ())
        yield from map(str, part.get("enum", ()))  # may be numbers
        return
    first, *others = keys
    any_entry = part.get("items" if isinstance(first, int) else "additionalProperties")
    inner = part.get("properties", {}).get(first, any_entry)
    if isinstance(inner, dict):  # else a boolean (whether other keys are allowed) or None
        yield from _known_words(inner, others, definitions)
