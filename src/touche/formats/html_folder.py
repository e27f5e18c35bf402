"""A folder of HTML files, and the table pages.csv that gives them ids: columns id, file and url."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from touche.errors import InputError
from touche.formats.pages import LARGEST, RawPage, Skipped
from touche.io.identifiers import new_id, quoted
from touche.io.opening import decoded_lines


def read_pages_csv(path: Path, seen: set[str] | None = None) -> Iterator[RawPage | Skipped]:
    """Reads the pages that a table names, in its order.

    Args:
        path: the table; files are named as seen from its folder, and lie within it.
        seen: ids of the collection so far, to refuse repeated ones.

    Raises:
        InputError: if the table is broken, an id occurs twice, or a file is named outside of the folder.
    """
    seen = set() if seen is None else seen
    rows = csv.DictReader(decoded_lines(path))
    try:
        for row in rows:
            if not row.get("id") or not row.get("file"):
                raise InputError(path, "no id or no file", "give it the columns id, file, url", rows.line_num)
            id = new_id(row["id"], "page", seen, path, rows.line_num)
            page = path.parent / row["file"]
            if not _is_within(path.parent, page):
                problem = f"{quoted(row['file'])} is outside of the folder"
                raise InputError(path, problem, "name files within it", rows.line_num)
            yield _read(id, page, row.get("url") or "")
    except csv.Error as error:
        raise InputError(path, f"broken CSV ({error})", "save it again", rows.line_num + 1) from error


def _is_within(folder: Path, page: Path) -> bool:
    try:
        return Path(os.path.realpath(page)).is_relative_to(folder.resolve())
    except (ValueError, OSError):  # a NUL in it, or too long
        return False


def _read(id: str, page: Path, url: str) -> RawPage | Skipped:
    try:
        if page.is_file():  # not a pipe, on which reading would wait for ever
            with page.open("rb") as file:
                return RawPage(id, url, file.read(LARGEST + 1))
    except OSError:
        pass
    return Skipped(id, "without a file")
