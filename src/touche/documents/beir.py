"""BEIR's format for data sets (Thakur et al. 2021): corpus.jsonl, queries.jsonl and qrels/test.tsv."""

import json
from pathlib import Path
from typing import Any

import msgspec

from touche.documents.document_records import (
    AnyDocument,
    Argument,
    Document,
    Sentence,
    conclusion_of,
    premises_of,
)
from touche.errors import InputError
from touche.io.json_lines import optional_text, text_field
from touche.trec.topics import Topic

_PROJECT = "touche"  # key in the documents' metadata


class _Metadata(msgspec.Struct, omit_defaults=True):
    """Fields of an argument besides title, text and stance, in files that this project wrote.

    Attributes:
        type: ``argument``; empty for documents, and in other projects' files.
        premises: the premises, unless there is exactly one, which is the text.
        sentences: each sentence's id and text; None if the argument is not split.
    """

    type: str = ""
    page: str = ""
    discussion: str = ""
    premises: tuple[str, ...] | None = None
    sentences: tuple[tuple[str, str], ...] | None = None


def corpus_line(document: AnyDocument) -> str:
    """Returns a document's line in corpus.jsonl; ``parse_beir_document`` restores the document from it."""
    stance = ""
    metadata = _Metadata()
    if isinstance(document, Argument):
        stance = document.stance
        metadata = _Metadata(type="argument", page=document.page, discussion=document.discussion)
        if len(document.premises) != 1:
            metadata.premises = document.premises
        if document.sentences is not None:
            metadata.sentences = tuple((sentence.id, sentence.text) for sentence in document.sentences)
    values = {"stance": stance, _PROJECT: msgspec.to_builtins(metadata)}
    record = {
        "_id": document.id,
        "title": conclusion_of(document),
        "text": premises_of(document),
        "metadata": {key: value for key, value in values.items() if value},
    }
    return json.dumps(record) + "\n"


def query_line(topic: Topic) -> str:
    """Returns a topic's line in queries.jsonl. Fields that BEIR doesn't know go into the metadata."""
    fields = {"description": topic.description, "narrative": topic.narrative, "objects": list(topic.objects)}
    metadata = {name: value for name, value in fields.items() if value}
    return json.dumps({"_id": topic.number, "text": topic.title, "metadata": metadata}) + "\n"


def parse_beir_document(id: str, record: dict[str, Any], path: Path, line: int) -> Document | Argument:
    """Returns the document in a line of corpus.jsonl: ``{"_id", "title", "text", "metadata"}``.

    A line with title, stance or our metadata is an argument: the title is its conclusion, the text its
    premises. Other metadata is ignored.
    """
    text = text_field(record, "text", path, line)
    title = text_field(record, "title", path, line) if record.get("title") is not None else ""
    metadata = _object_in(record, "metadata")
    stance = optional_text(metadata, "stance")
    try:
        extra = msgspec.convert(_object_in(metadata, _PROJECT), _Metadata)
    except msgspec.ValidationError as error:
        raise InputError(
            path, f"metadata of {_PROJECT}: {error}", "fetch the file again", line=line
        ) from error
    is_argument = title or stance or extra.type
    if not is_argument:
        return Document(id, text)
    sentences = None
    if extra.sentences is not None:
        sentences = tuple(Sentence(sentence_id, sentence) for sentence_id, sentence in extra.sentences)
    return Argument(
        id=id,
        conclusion=title,
        premises=(text,) if extra.premises is None else extra.premises,
        stance=stance,
        sentences=sentences,
        page=extra.page,
        discussion=extra.discussion,
    )


def _object_in(record: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns an object field; empty for other values, which other projects may write."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}
