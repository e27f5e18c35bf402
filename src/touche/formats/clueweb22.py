"""The texts of ClueWeb22 (Overwijk et al. 2022), such as txt/en/en00/en0000/en0000-00.json.gz: JSON lines."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touche.errors import InputError
from touche.formats.jsonl import pieces_of_jsonl
from touche.formats.pages import Page, host_and_path
from touche.formats.pieces import documents_in
from touche.io.json_lines import text_field
from touche.io.opening import open_binary

NAME = re.compile(r"[a-z]{2}[a-z_]*[0-9]{4}-[0-9]{2}\.json(?:\.gz)?")  # language, directory, file
LINKS = ("inlink", "outlink")  # folders in which files of the same names hold something else
_FIRST = re.compile(rb'\s*\{(?:[^\n]*,)?\s*"ClueWeb22-ID"\s*:')
_HEAD = 1 << 20  # bytes; the lines are pages without their markup, of some 5 kB


def read_clueweb22_json(path: Path, seen: set[str] | None = None) -> Iterator[Page]:
    """Reads pages of which ClueWeb22 has the text: ``{"URL", "Language", "ClueWeb22-ID", "Clean-Text"}``.

    The text is the page's main content; it has no title of its own, nor headings.

    Raises:
        InputError: naming the line that is broken or repeats an id.
    """
    return documents_in(pieces_of_jsonl(path, "ClueWeb22-ID", _page_of), seen)


def _page_of(id: str, record: dict[str, Any], path: Path, line: int) -> Page:
    text, url, language = (text_field(record, name, path, line) for name in ("Clean-Text", "URL", "Language"))
    host, where = host_and_path(url.strip())  # which ends in a line break
    return Page(id, body=text, host=host, path=where, language=language)


def is_clueweb22_json(path: Path) -> bool:
    """Whether the first line of a file is a page of ClueWeb22; False where the file cannot be read."""
    try:
        with open_binary(path) as file:
            return bool(_FIRST.match(file.readline(_HEAD)))
    except InputError:
        return False
