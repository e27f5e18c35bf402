"""JSON lines: documents, passages, and the candidates of re-ranking."""

import dataclasses
import io
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from touche.documents.pages import Page, RawPage
from touche.documents.pieces import Piece, pieces_of_lines
from touche.documents.records import AnyDocument, Document
from touche.errors import InputError
from touche.io.identifiers import check_new_id
from touche.io.json_lines import read_jsonl, records_of_lines, text_field
from touche.trec.topics import Topic, topic_of_query

PAGE_FIELDS = [field.name for field in dataclasses.fields(Page) if field.name != "id"]

Convert = Callable[[str, dict[str, Any], Path, int], AnyDocument | RawPage]
"""Makes a document from its id and its record; the file and the line are for error messages."""


def pieces_of_jsonl(path: Path, id_field: str, convert: Convert) -> Iterator[Piece]:
    """Yields a file of JSON lines in pieces; each line is a document.

    Args:
        path: the file.
        id_field: the name of the id's field.
        convert: makes a document from a line; other processes must be able to import it.

    Raises:
        InputError: if the file cannot be read, or a line has 64 MiB or more.
    """
    return pieces_of_lines(path, partial(_parse_lines, id_field=id_field, convert=convert))


def _parse_lines(
    piece: Piece, seen: set[str], wanted: Collection[str] | None, id_field: str, convert: Convert
) -> Iterator[AnyDocument | RawPage]:
    """Parses a piece; ``Piece.documents`` and ``pieces_of_jsonl`` describe the arguments."""
    path = piece.path
    for line, record in records_of_lines(io.BytesIO(piece.raw), path, piece.line):
        id = check_new_id(text_field(record, id_field, path, line), "document", seen, path, line)
        if wanted is None or id in wanted:
            yield convert(id, record, path, line)


def parse_document(id: str, record: dict[str, Any], path: Path, line: int) -> Document | Page | RawPage:
    """Returns the document in a record: a line of documents.jsonl, or a row of a table with the same fields.

    A parser makes the fields of a page from its ``html``, so the fields in the record are only checked.

    Args:
        id: the id.
        record: its fields by name.
        path: the file, for error messages.
        line: the line or row.

    Raises:
        InputError: if the record has no text, or a field is not a string.
    """
    page_fields = {name: text_field(record, name, path, line) for name in PAGE_FIELDS if name in record}
    if "html" in record:
        url = text_field(record, "url", path, line) if "url" in record else ""
        return RawPage(id, url, text_field(record, "html", path, line).encode(), charset="utf-8")
    if page_fields and "text" not in record:
        return Page(id, **page_fields)
    return Document(id, text_field(record, "text", path, line))


def pieces_of_documents(path: Path) -> Iterator[Piece]:
    """Yields TIRA's documents.jsonl in pieces: ``{"docno", "text"}`` on each line.

    A web page has ``html`` and ``url``, or the fields of ``Page``, instead of the text.
    """
    return pieces_of_jsonl(path, "docno", parse_document)


def _parse_passage(id: str, record: dict[str, Any], path: Path, line: int) -> Document:
    """Returns the passage in a line."""
    return Document(id, text_field(record, "contents", path, line))


def pieces_of_passages(path: Path) -> Iterator[Piece]:
    """Yields the passages of 2022 task 2 in pieces: ``{"id", "contents", "chatNoirUrl"}`` on each line."""
    return pieces_of_jsonl(path, "id", _parse_passage)


def read_rerank_jsonl(path: Path) -> Iterator[tuple[Topic, Document]]:
    """Reads TIRA's rerank.jsonl: a candidate of a topic, ``{"qid", "query", "docno", "text"}``, per line.

    Raises:
        InputError: if a line is broken or repeats a document of a topic, or if a query or text changes; the
            message names the line.
    """
    ids_by_topic: dict[str, set[str]] = {}
    # By ("topic" or "document", id): hashes, because the texts themselves would need more memory.
    text_hashes: dict[tuple[str, str], int] = {}
    for line, fields in read_jsonl(path):
        topic = topic_of_query(fields, path, line, seen=set())  # empty, because topics repeat
        docno = text_field(fields, "docno", path, line)
        text = text_field(fields, "text", path, line)
        for noun, id, content in (("topic", topic.number, topic.title), ("document", docno, text)):
            first_hash = text_hashes.setdefault((noun, id), hash(content))
            if first_hash != hash(content):
                problem = f"{noun} {id!r} has another text than on an earlier line"
                raise InputError(path, problem, "write the same text on all lines", line=line)
        ids_of_topic = ids_by_topic.setdefault(topic.number, set())
        yield topic, Document(check_new_id(docno, "document", ids_of_topic, path, line), text)
