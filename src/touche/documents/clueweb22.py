"""ClueWeb22's texts (Overwijk et al. 2022) in JSON lines, such as txt/en/en00/en0000/en0000-00.json.gz."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pages import Page, host_and_path
from touche.documents.pieces import parse_pieces
from touche.io.json_lines import text_field
from touche.io.opening import open_binary

NAME = re.compile(r"[a-z]{2}[a-z_]*[0-9]{4}-[0-9]{2}\.json(?:\.gz)?")  # language and folder, then the file
LINKS = ("inlink", "outlink")  # folders whose files share these names, but contain links
_LINE_OF_PAGE = re.compile(rb'\s*\{(?:[^\n]*,)?\s*"ClueWeb22-ID"\s*:')
_MOST_READ = 1 << 20  # bytes; a line is a page without markup, about 5 kB


def read_clueweb22_json(path: Path, seen: set[str]) -> Iterator[Page]:
    """Reads ClueWeb22's texts. Each line is ``{"URL", "Language", "ClueWeb22-ID", "Clean-Text"}``.

    The text becomes the page's main content; title and headings are missing. Repeating an id in ``seen`` is
    an error; new ids are added.
    """
    return parse_pieces(pieces_of_jsonl(path, ["ClueWeb22-ID"], _parse_page), seen)


def _parse_page(id: str, record: dict[str, Any], path: Path, line: int) -> Page:
    text = text_field(record, "Clean-Text", path, line)
    url = text_field(record, "URL", path, line).strip()  # it ends with a line break
    host, url_path = host_and_path(url)
    return Page(id, body=text, host=host, path=url_path, language=text_field(record, "Language", path, line))


def is_clueweb22_json(path: Path) -> bool:
    """Returns whether the first line is a ClueWeb22 page."""
    with open_binary(path) as file:
        return bool(_LINE_OF_PAGE.match(file.readline(_MOST_READ)))
