"""Reads JSON lines."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from touche.errors import InputError
from touche.io.identifiers import as_id
from touche.io.opening import CARRIAGE_RETURN, OF_DOCUMENTS, Limits, bytes_of_lines, check_utf8

_ONE_PER_LINE = "write one object per line"


def read_jsonl(path: Path, limits: Limits = OF_DOCUMENTS) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the number (from 1) and object of each line that is not blank."""
    return records_of_lines(bytes_of_lines(path, limits), path)


def records_of_lines(
    lines: Iterable[bytes], path: Path, first_line: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields number and object of each line that is not blank."""
    for number, line in enumerate(lines, first_line):
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        if not content or content.isspace():
            continue
        try:
            fields = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            check_utf8([line], path, number)  # raises if this is the cause, with a better remedy
            reason, remedy = _other_form(content) or (str(error), "repair or remove the line")
            raise InputError(path, f"broken JSON ({reason})", remedy, line=number) from error
        if not isinstance(fields, dict):
            problem = "not a JSON object" + (", but an array" if isinstance(fields, list) else "")
            raise InputError(path, problem, _ONE_PER_LINE, line=number)
        yield number, fields


def _other_form(line: bytes) -> tuple[str, str] | None:
    """Returns the form of a line that is no JSON, and a remedy, if the file seems to be in another form."""
    text = line.strip()
    if b"}\r" in text:
        return CARRIAGE_RETURN
    if text.startswith(b"["):
        return "an array", f"{_ONE_PER_LINE}, without brackets and commas: jq -c '.[]'"
    if text.startswith(b"{") and text.endswith((b"{", b"[", b",", b":")) and not text.endswith(b"},"):
        return "an object over several lines", f"{_ONE_PER_LINE}: jq -c ."
    if text.startswith(b"{") and (text.endswith(b"},") or re.search(rb"\}\s*,?\s*\{", text)):
        return "several objects, or a comma after one", f"{_ONE_PER_LINE}, without commas between them"
    if text.startswith(b"{'"):
        return "single quotes, as in Python", "write double quotes: json.dumps"
    return None


def text_field(fields: dict[str, Any], name: str, path: Path, line: int) -> str:
    """Returns the string in a record's field. Whole numbers, which some ids are, become strings.

    Raises:
        InputError: if the field is missing or of another type. Integers above 64 bits are rejected, because
            orjson reads them as floats.
    """
    value = fields.get(name)
    if not isinstance(value, str):
        id = as_id(value)
        if isinstance(id, str) and not (isinstance(value, int) and value.bit_length() > 64):
            return id
        problem = f'no "{name}"' if name not in fields else f'"{name}" is not a text'
        raise InputError(path, problem, f'add a text "{name}" to every record', line=line)
    return value


def optional_text(fields: Mapping[str, Any], field: str) -> str:
    """Returns a record's text; empty if it doesn't have one, or it isn't a string."""
    value = fields.get(field)
    return value if isinstance(value, str) else ""
