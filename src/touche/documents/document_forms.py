"""Documents in the forms in which users pass them: frames, dictionaries, records, pairs and iterators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field
from math import isnan
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from msgspec import ValidationError, convert

from touche.documents.collection import USED_UP, Documents, PlainDocuments
from touche.documents.document_records import IDS, AnyDocument, Argument, Document
from touche.documents.pages import Page
from touche.errors import InputError, ToucheError
from touche.io.identifiers import check_new_id, quoted
from touche.trec.forms import Frame, as_pandas, is_frame
from touche.trec.record_fields import id_in, text_in


class NamedTupleRecord(Protocol):
    """A named tuple, such as a document of ir_datasets."""

    def _asdict(self) -> dict[str, Any]: ...


class DataclassRecord(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


AnyDocuments: TypeAlias = (
    Documents
    | Frame
    | Mapping[Any, str]
    | Iterable[AnyDocument | Mapping[str, Any] | NamedTupleRecord | DataclassRecord | tuple[Any, str]]
)
"""Documents in one of these forms:

* a ``Documents``, such as ``touche.task(id).documents``
* a frame of pandas, or one with ``to_pandas()``, with the columns docno and text (PyTerrier), doc_id and text
  (ir_datasets) or those of ``Documents.frame()``
* the texts by the ids of the documents, such as ``{"d1": "Coal is cheap."}``
* a list or an iterator of ``Document``, ``Argument`` or ``Page``, of records or dictionaries with these
  names, or of pairs of id and text
"""

_TEXTS = ("text", "contents", "body")  # text fields; the first one present is used

_Kind = TypeVar("_Kind", Argument, Page)


def documents_in(source: AnyDocuments, name: str = "documents") -> Documents:
    """Returns documents in any form as ``Documents``. Other forms are loaded into memory."""
    if isinstance(source, Documents):
        return source
    documents = list(_convert_records(source, name))
    if not documents:
        raise ToucheError(f"{name}: no documents in it; pass at least one {USED_UP}")
    return PlainDocuments(documents)


def _convert_records(source: AnyDocuments, source_name: str) -> Iterator[AnyDocument]:
    seen = set[str]()
    for row, record in enumerate(_records_in(source, source_name), 1):
        document = record if isinstance(record, AnyDocument) else _document_in(record, source_name, row)
        check_new_id(document.id, "document", seen, source_name, row)
        yield document


def _records_in(source: AnyDocuments, source_name: str) -> Iterator[Any]:
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


def _fields_in(record: Any, source_name: str, row: int) -> dict[str, Any]:
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


def _document_in(record: Any, source_name: str, row: int) -> AnyDocument:
    """Returns a record as an argument, a page or a text, depending on its keys."""
    values = _fields_in(record, source_name, row)
    id = id_in(values, IDS, source_name, row)
    if {"conclusion", "premises"} <= values.keys():
        normalized = {"id": id, "premises": _listed(values["premises"])}
        return _converted(values | normalized, Argument, source_name, row)
    if {"body", "headings"} <= values.keys():
        return _converted(values | {"id": id}, Page, source_name, row)
    return Document(id, text_in(values, _TEXTS, source_name, row))


def _is_missing(value: Any) -> bool:
    """Returns whether a cell is missing (NaN in pandas). An empty string isn't."""
    return value is None or (isinstance(value, float) and isnan(value))


def _listed(premises: Any) -> Any:
    """The premises may be a single text, or an array from a frame."""
    if isinstance(premises, str):
        return [premises]
    return list(premises) if hasattr(premises, "tolist") else premises


def _converted(values: Mapping[str, Any], kind: type[_Kind], source_name: str, row: int) -> _Kind:
    """Builds an argument or a page from the values that are its fields, or raises InputError."""
    present = {name: value for name, value in values.items() if not _is_missing(value)}
    try:
        return convert(present, kind)
    except ValidationError as error:  # e.g. Expected `str`, got `int` - at `$.premises[1]`
        problem, _, location = str(error).partition(" - at `$.")
        field = f"{location.rstrip('`')}: " if location else ""
        raise InputError(source_name, f"{field}{problem}", "pass texts", line=row) from error
