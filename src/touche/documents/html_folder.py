"""Folders of HTML files with a table pages.csv, whose columns are id, file and url."""

import csv
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from touche.documents.pages import LARGEST_PAGE, RawPage, Skipped
from touche.errors import InputError
from touche.io.identifiers import check_new_id, quoted
from touche.io.opening import decoded_lines


def read_pages_csv(path: Path, seen: set[str]) -> Iterator[RawPage | Skipped]:
    """Reads the pages in the table's order.

    Args:
        path: the table. File names are relative to its folder and must stay inside.
        seen: the collection's ids so far.
    """
    rows = csv.DictReader(decoded_lines(path))
    try:
        for row in rows:
            if not row.get("id") or not row.get("file"):
                remedy = "write the columns id, file, url"
                raise InputError(path, "the row has no id or no file", remedy, line=rows.line_num)
            id = check_new_id(row["id"], "page", seen, path, rows.line_num)
            page_path = path.parent / row["file"]
            if not _is_within(path.parent, page_path):
                problem = f"{quoted(row['file'])} is outside of the folder"
                raise InputError(path, problem, "name only files within the folder", line=rows.line_num)
            yield _read_page(id, path, page_path, row.get("url") or "")
    except csv.Error as error:
        line = rows.reader.line_num  # DictReader's own number is the last complete row's
        raise InputError(path, f"broken CSV ({error})", "save it again", line=line) from error


def _is_within(folder: Path, page_path: Path) -> bool:
    """Returns whether a page is in a folder, even after following links."""
    try:
        return Path(os.path.realpath(page_path)).is_relative_to(folder.resolve())
    except (ValueError, OSError):  # contains a NUL, or is too long
        return False


def _read_page(id: str, table: Path, page_path: Path, url: str) -> RawPage | Skipped:
    """Reads a page; skips it if its file can't be read."""
    with suppress(OSError):
        if page_path.is_file():  # reading a pipe would wait forever
            with page_path.open("rb") as file:
                # One byte too many, so that the parser skips the page.
                return RawPage(id, url, file.read(LARGEST_PAGE + 1), source=str(table))
    return Skipped(id, "without a file")
