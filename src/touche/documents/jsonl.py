"""JSON lines: documents from TIRA, BEIR and users, passages, and candidates for re-ranking."""

import dataclasses
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from touche.documents.argsme import argument_of_record
from touche.documents.beir import parse_beir_document
from touche.documents.document_records import IDS, AnyDocument, Document
from touche.documents.pages import Page, RawPage
from touche.documents.pieces import Piece, pieces_of_lines
from touche.errors import InputError
from touche.io.identifiers import check_new_id
from touche.io.json_lines import read_jsonl, records_of_lines, text_field
from touche.trec.topics import Topic, topic_of_query

_PAGE_FIELDS = [field.name for field in dataclasses.fields(Page) if field.name != "id"]
TEXTS = ("text", "contents", "html")  # fields with a document's content


def parse_document(id: str, record: dict[str, Any], path: Path, line: int) -> AnyDocument | RawPage:
    """Returns the document in a record.

    A record with ``premises`` is an args.me argument, and one with ``_id`` a line from BEIR's corpus.jsonl.
    Other records contain ``text``, or ``contents`` as the 2022 task 2 passages do. Web pages contain ``html``
    and ``url``, or just fields of ``Page``.
    """
    if "premises" in record:
        return argument_of_record(record, path, line)
    if "contents" in record and "text" not in record:
        return Document(id, text_field(record, "contents", path, line))
    if "_id" in record and not any(name in record for name in IDS if name != "_id"):
        return parse_beir_document(id, record, path, line)
    # Fields may be null, because frames that mix pages and texts are written like that.
    if record.get("html") is not None:
        url = text_field(record, "url", path, line) if record.get("url") is not None else ""
        html = text_field(record, "html", path, line).encode()
        return RawPage(id=id, url=url, content=html, charset="utf-8", source=str(path))
    if "text" not in record:
        fields = {name: value for name, value in record.items() if name in _PAGE_FIELDS and value is not None}
        if fields:
            return Page(id, **{name: text_field(fields, name, path, line) for name in fields})
    return Document(id, text_field(record, "text", path, line))


Convert = Callable[[str, dict[str, Any], Path, int], AnyDocument | RawPage]
"""Makes a document from its id and its record; the file and the line are for error messages."""


def pieces_of_jsonl(
    path: Path, id_names: Sequence[str] = IDS, convert: Convert = parse_document
) -> Iterator[Piece]:
    """Yields a file of JSON lines in pieces. Each line is a document.

    Args:
        id_names: possible names of the id field; the first one present is used.
        convert: converts a line to a document; other processes must be able to import it.
    """
    return pieces_of_lines(path, partial(_parse_lines, id_names=id_names, convert=convert))


def _parse_lines(
    piece: Piece, seen: set[str], wanted: Collection[str] | None, id_names: Sequence[str], convert: Convert
) -> Iterator[AnyDocument | RawPage]:
    """Parses a piece. Arguments as in ``Piece.documents`` and ``pieces_of_jsonl``."""
    path = piece.path
    for line, record in records_of_lines(io.BytesIO(piece.raw), path, piece.line):
        for id_name in id_names:  # twice as fast as next()
            if id_name in record:
                break
        else:
            names = " or ".join(f'"{name}"' for name in id_names)
            raise InputError(path, f"no {names}", f'add a text "{id_names[0]}" to every record', line=line)
        id = check_new_id(text_field(record, id_name, path, line), "document", seen, path, line)
        if wanted is None or id in wanted:
            yield convert(id, record, path, line)


def read_rerank_jsonl(path: Path) -> Iterator[tuple[Topic, Document]]:
    """Reads TIRA's rerank.jsonl. Each line is a topic's candidate: ``{"qid", "query", "docno", "text"}``.

    A topic's query, and a document's text, must be the same on all lines.
    """
    ids_by_topic: dict[str, set[str]] = {}
    # Keys are ("topic" or "document", id). Hashes, because the texts would need more memory.
    text_hashes: dict[tuple[str, str], int] = {}
    for line, fields in read_jsonl(path):
        topic = topic_of_query(fields, path, line)
        check_new_id(topic.number, "topic", set(), path, line)  # a topic may repeat
        docno = text_field(fields, "docno", path, line)
        text = text_field(fields, "text", path, line)
        for noun, id, content in (("topic", topic.number, topic.title), ("document", docno, text)):
            first_hash = text_hashes.setdefault((noun, id), hash(content))
            if first_hash != hash(content):
                problem = f"{noun} {id!r} has another text than on an earlier line"
                raise InputError(path, problem, "write the same text on all lines", line=line)
        ids_of_topic = ids_by_topic.setdefault(topic.number, set())
        yield topic, Document(check_new_id(docno, "document", ids_of_topic, path, line), text)
