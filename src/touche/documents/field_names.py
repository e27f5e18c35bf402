"""Documents in records of users, whose fields have the names of any JSON-lines format."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from touche.documents import beir
from touche.documents.forms import IDS
from touche.documents.jsonl import parse_document
from touche.documents.pages import RawPage
from touche.documents.records import AnyDocument
from touche.errors import InputError
from touche.io.identifiers import check_new_id
from touche.io.json_lines import text_field

TEXTS = ("text", "contents", "html")  # names of the field with the text
# For messages: the names of the field with the id, and of the field with the text.
NAMES = f"{', '.join(IDS[:-1])} or {IDS[-1]}, and {', '.join(TEXTS[:-1])} or {TEXTS[-1]}"


def has_document(names: Collection[str]) -> bool:
    """Returns whether the names of fields include an id and a text."""
    return any(name in names for name in IDS) and any(name in names for name in TEXTS)


def document_in(
    record: dict[str, Any], path: Path, line: int, seen: set[str], wanted: Collection[str] | None = None
) -> AnyDocument | RawPage | None:
    """Returns the document in a record, or None if its id is not among the wanted ones.

    The first of the ids ``docno``, ``doc_id``, ``id`` and ``_id`` counts. The text can also be called
    ``contents``. The title of a text becomes a conclusion, as in BEIR's corpus.jsonl. Records of web pages
    are as in documents.jsonl.

    Args:
        record: its fields by name.
        path: the file, for error messages.
        line: the line.
        seen: ids of the collection so far; repeating one is an error.
        wanted: ids of the wanted documents, or None for all.

    Raises:
        InputError: if the id or the text is missing, or a field is not a string.
    """
    id_field = next((name for name in IDS if name in record), None)
    if id_field is None:
        raise InputError(
            path, f"no id ({', '.join(IDS)})", 'rename the field of the id to "docno"', line=line
        )
    id = check_new_id(text_field(record, id_field, path, line), "document", seen, path, line)
    if wanted is not None and id not in wanted:
        return None
    if "contents" in record:
        record = {"text": record["contents"]} | record  # with both fields, "text" counts
    # Only the parser for BEIR reads the title and the stance of a text. It also gets records with "_id" but
    # without a text, and refuses them, because the other parser could return a page with their title.
    is_text = "text" in record or id_field == "_id"
    # In a table with pages and texts, the cell for HTML is empty in the row of a text.
    has_html = bool(record.get("html"))
    parse = beir.parse_document if is_text and not has_html else parse_document
    return parse(id, record, path, line)
