"""Data sets in the format of BEIR (Thakur et al. 2021): corpus.jsonl, queries.jsonl and qrels/test.tsv."""

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
from touche.io.json_lines import text_field
from touche.trec.records_in_memory import optional_text
from touche.trec.topics import Topic

_PROJECT = "touche"  # the key of this project's values in a document's metadata


class _Metadata(msgspec.Struct, omit_defaults=True):
    """What an argument has beyond its title, text and stance, in files that this project has written.

    Attributes:
        type: ``argument``; empty for a document, and in files of other projects.
        page, discussion: fields of the argument.
        premises: the premises if there are none or several; None if the text is the only one.
        sentences: the id and the text of each sentence; None if the argument is not split.
    """

    type: str = ""
    page: str = ""
    discussion: str = ""
    premises: tuple[str, ...] | None = None
    sentences: tuple[tuple[str, str], ...] | None = None


def corpus_line(document: AnyDocument) -> str:
    """Returns the line of an argument or text in corpus.jsonl; reading this line restores the document."""
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
    """Returns a topic's line in queries.jsonl; the metadata has all fields that queries of BEIR lack."""
    fields = {"description": topic.description, "narrative": topic.narrative, "objects": list(topic.objects)}
    metadata = {name: value for name, value in fields.items() if value}
    return json.dumps({"_id": topic.number, "text": topic.title, "metadata": metadata}) + "\n"


def parse_beir_document(id: str, record: dict[str, Any], path: Path, line: int) -> Document | Argument:
    """Returns the document in a line of corpus.jsonl: ``{"_id", "title", "text", "metadata"}``.

    The title becomes the conclusion of an argument, and the text its premises. A record with only a text
    becomes a document. Only a stance and the values written by ``corpus_line`` are read from the metadata.

    Args:
        id: the id.
        record: its fields by name.
        path: the file, for error messages.
        line: the line.

    Raises:
        InputError: if the record has no text, or a field has another type.
    """
    text = text_field(record, "text", path, line)
    title = text_field(record, "title", path, line) if record.get("title") is not None else ""
    metadata = _object_in(record, "metadata")
    stance = optional_text(metadata, "stance")
    try:
        own_values = msgspec.convert(_object_in(metadata, _PROJECT), _Metadata)
    except msgspec.ValidationError as error:
        raise InputError(
            path, f"metadata of {_PROJECT}: {error}", "fetch the file again", line=line
        ) from error
    is_argument = title or stance or own_values.type
    if not is_argument:
        return Document(id, text)
    sentences = None
    if own_values.sentences is not None:
        sentences = tuple(Sentence(sentence_id, sentence) for sentence_id, sentence in own_values.sentences)
    return Argument(
        id=id,
        conclusion=title,
        premises=(text,) if own_values.premises is None else own_values.premises,
        stance=stance,
        sentences=sentences,
        page=own_values.page,
        discussion=own_values.discussion,
    )


def _object_in(record: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns a field that is an object; empty for any other value, which other projects may write."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}
