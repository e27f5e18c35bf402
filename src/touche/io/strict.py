"""Tables of TOML files as typed records: an error names the file and the key, and the nearest known word."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import schema

from touche.errors import InputError, choice

Text = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1, pattern=r"^(?!/|([\s\S]*/)?\.\.(/|$))")]
"""The name of a file in its folder, which it does not leave."""
Positive = Annotated[float, Meta(gt=0)]


class Strict(Struct, forbid_unknown_fields=True, frozen=True):
    """A table that has no other keys than its fields; its subclasses are frozen, too."""


Table = TypeVar("Table", bound=Strict)


def decode(tables: Mapping[str, Any], kind: type[Table], path: Path) -> Table:
    """Returns the content of a TOML file as a record.

    Args:
        tables: the content.
        kind: the type of the record; an error that it raises reads ``what is wrong; what to do``.
        path: the file, for the error.

    Raises:
        InputError: if a key is missing or unknown, or its value is of another type or out of range.
    """
    try:
        return convert(tables, kind)
    except ValidationError as error:
        text = re.sub(
            "Expected .* matching regex .*'", "this name leads elsewhere; write another one", str(error)
        )
        text, _, place = text.partition(" - at `$")
        problem, _, remedy = text.partition("; ")
        key = re.sub(r"\[(\d+)\]", lambda index: f"[{int(index[1]) + 1}]", place.strip(".`"))
        where = f"{key}: " if key else ""
        raise InputError(path, f"{where}{problem}", remedy or _nearest(problem, kind)) from error


def _nearest(problem: str, kind: type[Strict]) -> str:
    """What to do about an unknown key or word, which msgspec quotes."""
    unknown = re.search(r"unknown field `(.*)`|enum value '(.*)'", problem, re.DOTALL)
    return choice(unknown[1] or unknown[2], dict.fromkeys(_words(schema(kind)))) if unknown else "correct it"


def _words(part: Any) -> Iterator[str]:
    """The keys and words that a JSON schema knows."""
    if isinstance(part, dict):
        yield from [*part.get("properties", ()), *map(str, part.get("enum", ()))]
    for item in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _words(item)
