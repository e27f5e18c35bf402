"""CSV and TSV: tables whose header names the fields of documents."""

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from touche.documents.field_names import NAMES, document_in, has_document
from touche.documents.pages import RawPage
from touche.documents.records import AnyDocument
from touche.errors import InputError
from touche.io.csv_rows import read_rows
from touche.io.opening import LONGEST_LINE, open_binary

_log = logging.getLogger(__name__)

_REMEDY = "put a cell with quotes or line breaks in quotes, and write each quote in it twice"


def read_table(path: Path, seen: set[str]) -> Iterator[AnyDocument | RawPage]:
    """Reads a table; cells are separated by commas, or by tabs in a file named ``*.tsv``.

    Args:
        path: the file.
        seen: ids of the collection so far; repeating one is an error.

    Raises:
        InputError: if the file is not UTF-8, its header has no id or no text, or a row is broken or repeats
            an id; the message names the line in which the row ends.
    """
    rows = _rows(path)
    header = _read_header(path, rows)
    may_warn = _separator(path) == "\t"  # only once; and only TSV is often written without quotes
    for line, cells in rows:
        if len(cells) != len(header):
            problem = f"{len(cells)} fields, but the header has {len(header)}"
            raise InputError(path, problem, _REMEDY, line=line)
        if may_warn and _looks_like_rows(cells):
            may_warn = False
            problem = "a quoted cell contains lines that look like rows"
            _log.warning("%s:%d: %s; %s, if these lines are documents", path, line, problem, _REMEDY)
        document = document_in(dict(zip(header, cells, strict=True)), path, line, seen)
        if document:  # always, because all documents are wanted
            yield document


def check_table(path: Path) -> None:
    """Checks the header of a table.

    Raises:
        InputError: if it cannot be read, or has no id or no text.
    """
    _read_header(path, _rows(path))


def _looks_like_rows(cells: list[str]) -> bool:
    """Returns whether a row has line breaks, and each of its lines has as many cells, the first one an id.

    In a TSV file that was written without quoting, a quote at the beginning of a cell swallows rows until
    the next quote.
    """
    text = "\t".join(cells)
    if "\n" not in text:
        return False
    rows = [line.split("\t") for line in text.split("\n")]
    return all(len(row) == len(cells) and len(row[0].split()) == 1 for row in rows)  # an id is one word


def _read_header(path: Path, rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    """Returns the first row; raises InputError if it has no id or no text, or a name twice."""
    _, header = next(rows, (1, []))  # an empty file has an empty header
    if not has_document(header):
        if len(header) == 1 and ";" in header[0]:
            separators = "tabs" if _separator(path) == "\t" else "commas"
            raise InputError(
                path, "cells are separated by semicolons", f"separate them by {separators}", line=1
            )
        raise InputError(path, "the header names no id or no text", f"name a column {NAMES}", line=1)
    if len(set(header)) < len(header):
        raise InputError(path, "two columns have the same name", "rename one of them", line=1)
    return header


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the line in which each row ends, and its cells, without blank rows."""
    with open_binary(path) as file:
        read_line = partial(file.readline, LONGEST_LINE)
        rows = read_rows(read_line, path, _REMEDY, delimiter=_separator(path))
        yield from ((line, cells) for line, cells in rows if cells)


def _separator(path: Path) -> str:
    """Returns the character between the cells of a table."""
    return "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
