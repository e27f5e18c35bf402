"""Reads ids and texts from records: rows of a frame, or objects that another library yields."""

from collections.abc import Mapping, Sequence
from typing import Any

from touche.errors import InputError
from touche.io.identifiers import NO_TEXT, as_id, quoted


def id_in(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> str:
    """Returns a record's id; a whole number becomes a string. Arguments as in ``text_in``.

    Raises:
        InputError: if the record has none of the fields, or the first of them is neither a string nor a whole
            number.
    """
    value = _first_present(fields, field_names, source_name, row)
    id = as_id(value)
    if not isinstance(id, str):
        problem = f"{field_names[0]} {quoted(value)} is not an id"
        raise InputError(source_name, problem, NO_TEXT, line=row)
    return id


def text_in(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> str:
    """Returns a record's text: the value of the first of these fields that the record has.

    Args:
        fields: the record.
        field_names: the possible names of the field, the preferred one first.
        source_name: what to call the records in error messages.
        row: the record's number, counted from 1, for error messages.

    Raises:
        InputError: if the record has none of the fields, or the first of them isn't a string.
    """
    value = _first_present(fields, field_names, source_name, row)
    if not isinstance(value, str):
        raise InputError(source_name, f"{quoted(value)} is not a text", "pass a text", line=row)
    return value


def _first_present(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> Any:
    """Returns the value of the first of these fields that a record has. Arguments as in ``text_in``."""
    for field in field_names:
        if field in fields:
            return fields[field]
    remedy = f"name one of its fields {', '.join(field_names)}"
    raise InputError(source_name, f"the record has no {field_names[0]}", remedy, line=row)
