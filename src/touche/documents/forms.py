"""Documents in the forms of other tools: frames, dictionaries, records, pairs and iterators."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from touche.documents.collection import Documents, PlainDocuments
from touche.documents.pages import Page
from touche.documents.records import AnyDocument, Argument, Document
from touche.errors import InputError, ToucheError
from touche.io.identifiers import check_new_id, quoted
from touche.trec.records import fields_in, id_in, records_in, text_in

AnyDocuments: TypeAlias = Any
"""Documents in one of these forms:

* a ``Documents``, such as ``touche.task(id).documents``
* a frame of pandas or polars, or a table of PyArrow, with the columns docno and text (PyTerrier), doc_id and
  text (ir_datasets) or those of ``Documents.frame()``
* the texts by the ids of the documents, such as ``{"d1": "Coal is cheap."}``
* a list or an iterator of ``Document``, ``Argument`` or ``Page``, of records or dictionaries with these
  names, or of pairs of id and text
"""

# Names of the field with the id, and of the field with the text; the first one in a record counts.
IDS = ("docno", "doc_id", "id", "_id")
_TEXTS = ("text", "contents", "body")


def documents_in(source: AnyDocuments, name: str = "documents") -> Documents:
    """Returns documents in any form as ``Documents``; other forms are stored in memory.

    Args:
        source: the documents.
        name: their name in errors.

    Raises:
        ToucheError: if there are no documents, one of them lacks its id or its text, or an id occurs twice.
    """
    if isinstance(source, Documents):
        return source
    documents = list(_convert_records(source, name))
    if not documents:
        raise ToucheError(f"{name}: no documents in it; pass at least one")
    return PlainDocuments(documents)


def _convert_records(source: AnyDocuments, source_name: str) -> Iterator[AnyDocument]:
    """Yields the documents in records, whose ids have to differ."""
    seen = set[str]()
    for row, record in enumerate(records_in(source, source_name), 1):
        document = record if isinstance(record, AnyDocument) else _document_in(record, source_name, row)
        check_new_id(document.id, "document", seen, source_name, row)
        yield document


def _document_in(record: Any, source_name: str, row: int) -> AnyDocument:
    """Returns the argument, page or text in a record; the names of its values show its kind."""
    values = fields_in(record, source_name, row)
    id = id_in(values, IDS, source_name, row)
    if {"conclusion", "premises"} <= values.keys():
        texts = {
            "conclusion": text_in(values, ["conclusion"], source_name, row),
            "premises": _premises_in(values["premises"], source_name, row),
        }
        return Argument(**(_only_fields(Argument, values) | {"id": id} | texts))
    if {"body", "headings"} <= values.keys():
        return Page(**(_only_fields(Page, values) | {"id": id}))
    return Document(id, text_in(values, _TEXTS, source_name, row))


def _premises_in(value: Any, source_name: str, row: int) -> tuple[str, ...]:
    """Returns the premises of an argument, one text or several; other arguments as for ``text_in``."""
    if isinstance(value, str):
        return (value,)
    premises = tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(premise, str) for premise in premises):
        raise InputError(source_name, f"{quoted(value)} are no premises", "pass a list of texts", line=row)
    return premises


def _only_fields(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those of the values that are fields of a class of documents."""
    return {field.name: values[field.name] for field in fields(kind) if field.name in values}
