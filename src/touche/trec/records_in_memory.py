"""Records in memory: frame rows, mappings, named tuples and pairs, and topics in these forms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from touche.errors import InputError, ToucheError
from touche.io.identifiers import NO_TEXT, as_id, check_new_id, expanded, quoted
from touche.trec.topics import NUMBER_NAMES, TITLE_NAMES, Topic, read_topics

AnyTopics: TypeAlias = Any
"""Topics in one of these forms:

* the path of topics.xml or queries.jsonl
* a frame of pandas, or one with ``to_pandas()``, with the columns qid and query (PyTerrier), query_id and
  text (ir_datasets) or number and title (``touche``)
* the queries by the ids of their topics, such as ``{"1": "Is coal cheap?"}``
* a list or an iterator of ``Topic``, of records or dictionaries with these names, or of pairs of id and query
"""


_T = TypeVar("_T")
_TOPICS = "topics"  # what topics are called in errors
USED_UP = "(an iterator can be read only once; make it a list)"  # how a remedy ends


def unread(records: Iterable[_T], name: str) -> Iterable[_T]:
    """Returns records. An empty iterator is an error, because it has probably been read before.

    Args:
        records: the records.
        name: their name in the error.

    Raises:
        ToucheError: if the iterator has no records.
    """
    if not isinstance(records, Iterator):
        return records
    for first in records:
        return chain([first], records)
    raise ToucheError(f"{name}: nothing is left in this iterator {USED_UP}")


def topics_in(source: AnyTopics) -> tuple[Topic, ...]:
    """Returns topics in any form as a tuple of ``Topic``.

    Raises:
        ToucheError: if there are no topics, one has no id or query, or an id occurs twice.
    """
    if isinstance(source, str | PathLike):
        return read_topics(Path(expanded(source)))
    topics = list[Topic]()
    seen = set[str]()
    records = [source] if isinstance(source, Topic) else records_in(source, _TOPICS)
    for row, record in enumerate(records, 1):
        topic = record if isinstance(record, Topic) else _topic_in(fields_in(record, _TOPICS, row), row)
        check_new_id(topic.number, "topic", seen, _TOPICS, row)
        topics.append(topic)
    if not topics:
        raise ToucheError(f"{_TOPICS}: no topics in it; pass at least one {USED_UP}")
    return tuple(topics)


def _topic_in(fields: Mapping[str, Any], row: int) -> Topic:
    """Returns the topic in a record. The row's number is for errors."""
    objects = fields.get("objects")
    return Topic(
        number=id_in(fields, NUMBER_NAMES, _TOPICS, row),
        title=text_in(fields, TITLE_NAMES, _TOPICS, row),
        objects=tuple(objects) if isinstance(objects, list | tuple) else (),
        description=optional_text(fields, "description"),
        narrative=optional_text(fields, "narrative"),
    )


def is_frame(source: Any) -> bool:
    """Returns whether an object is a pandas frame, or can be converted to one."""
    return (hasattr(source, "to_dict") and hasattr(source, "columns")) or hasattr(source, "to_pandas")


def as_pandas(frame: Any) -> Any:
    """Converts a frame to pandas."""
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def records_in(source: Any, source_name: str) -> Iterator[Any]:
    """Yields a frame's rows, a dictionary's pairs, or another iterable's items.

    Args:
        source: the records.
        source_name: their name in errors.

    Raises:
        ToucheError: if the source is none of these.
    """
    if is_frame(source):
        yield from as_pandas(source).to_dict("records")
    elif isinstance(source, Mapping):
        yield from source.items()
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes):
        yield from source
    else:
        problem = f"{quoted(source)} has no records"
        raise ToucheError(f"{source_name}: {problem}; pass a frame of pandas, a list or an iterator")


def fields_in(record: Any, source_name: str, row: int) -> dict[str, Any]:
    """Returns a record's fields by name; a pair has ``_id`` and ``text``.

    Args:
        record: a dictionary, a named tuple, a pair, or another object with attributes.
        source_name: the records' name, for errors.
        row: the record's number, from 1.

    Raises:
        InputError: if the record has no fields.
    """
    if isinstance(record, Mapping):
        return dict(record)
    if hasattr(record, "_asdict"):
        return dict(record._asdict())
    if isinstance(record, Sequence) and not isinstance(record, str) and len(record) == 2:
        return {"_id": record[0], "text": record[1]}
    if hasattr(record, "__dict__"):
        return dict(vars(record))
    raise InputError(
        source_name, f"{quoted(record)} has no fields", "pass dictionaries, or pairs of id and text", line=row
    )


def id_in(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> str:
    """Returns a record's id; a whole number becomes a string. Arguments as in ``text_in``.

    Raises:
        InputError: if there is no such field, or it's neither a string nor a whole number.
    """
    value = _first_present(fields, field_names, source_name, row)
    id = as_id(value)
    if not isinstance(id, str):
        problem = f"{field_names[0]} {quoted(value)} is not an id"
        raise InputError(source_name, problem, NO_TEXT, line=row)
    return id


def text_in(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> str:
    """Returns a record's text: its first field with one of the names.

    Args:
        fields: the record.
        field_names: the names that the field can have.
        source_name, row: as in ``fields_in``, for errors.

    Raises:
        InputError: if there is no such field, or it isn't a string.
    """
    value = _first_present(fields, field_names, source_name, row)
    if not isinstance(value, str):
        raise InputError(source_name, f"{quoted(value)} is not a text", "pass a text", line=row)
    return value


def optional_text(fields: Mapping[str, Any], field: str) -> str:
    """Returns a record's text; empty if it doesn't have one, or it isn't a string."""
    value = fields.get(field)
    return value if isinstance(value, str) else ""


def _first_present(fields: Mapping[str, Any], field_names: Sequence[str], source_name: str, row: int) -> Any:
    """Returns the value of the first of these fields that a record has. Arguments as in ``text_in``."""
    for field in field_names:
        if field in fields:
            return fields[field]
    remedy = f"name one of its fields {', '.join(field_names)}"
    raise InputError(source_name, f"the record has no {field_names[0]}", remedy, line=row)
