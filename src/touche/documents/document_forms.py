"""Documents as other tools represent them: frames, dictionaries, records, pairs and iterators."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any, TypeAlias, TypeVar

from msgspec import ValidationError, convert

from touche.documents.collection import Documents, PlainDocuments
from touche.documents.document_records import IDS, AnyDocument, Argument, Document
from touche.documents.pages import Page
from touche.errors import InputError, ToucheError
from touche.io.identifiers import check_new_id
from touche.trec.records_in_memory import USED_UP, fields_in, id_in, records_in, text_in

AnyDocuments: TypeAlias = Any
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
    for row, record in enumerate(records_in(source, source_name), 1):
        document = record if isinstance(record, AnyDocument) else _document_in(record, source_name, row)
        check_new_id(document.id, "document", seen, source_name, row)
        yield document


def _document_in(record: Any, source_name: str, row: int) -> AnyDocument:
    """Returns a record as an argument, a page or a text, depending on its keys."""
    values = fields_in(record, source_name, row)
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
