"""Folders of HTML files with a table pages.csv, whose columns are id, file and url."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from touche.documents.pages import LARGEST_PAGE, RawPage, Skipped
from touche.errors import InputError
from touche.io.csv_rows import read_rows
from touche.io.identifiers import check_new_id, quoted
from touche.io.opening import LONGEST_LINE, open_binary


def read_pages_csv(path: Path, seen: set[str]) -> Iterator[RawPage | Skipped]:
    """Reads the pages in the table's order.

    Args:
        path: the table. File names are relative to its folder and must stay inside.
        seen: the collection's ids so far.
    """
    with open_binary(path) as file:
        rows = read_rows(partial(file.readline, LONGEST_LINE), path, "save it again")
        _, column_names = next(rows, (0, []))
        for line, cells in rows:
            if not cells:  # a blank row
                continue
            row = dict(zip(column_names, cells, strict=False))  # rows can be too short or too long
            if not row.get("id") or not row.get("file"):
                remedy = "write the columns id, file, url"
                raise InputError(path, "the row has no id or no file", remedy, line=line)
            id = check_new_id(row["id"], "page", seen, path, line)
            page_path = path.parent / row["file"]
            if not _is_within(path.parent, page_path):
                problem = f"{quoted(row['file'])} is outside of the folder"
                raise InputError(path, problem, "name only files within the folder", line=line)
            yield _read_page(id, path, page_path, row.get("url", ""))


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
