"""CSV and TSV: tables whose header names the fields of documents."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from touche.documents.field_names import NAMES, document_in, has_document
from touche.documents.pages import RawPage
from touche.documents.records import AnyDocument
from touche.errors import InputError
from touche.io.csv_rows import read_rows
from touche.io.opening import LONGEST_LINE, open_binary

_REMEDY = "write a cell with quotes or line breaks in quotes, and each of its quotes twice"


def read_table(path: Path, seen: set[str] | None = None) -> Iterator[AnyDocument | RawPage]:
    """Reads a table; cells are separated by commas, or by tabs in a file named ``*.tsv``.

    Args:
        path: the file.
        seen: ids of the collection so far; repeating one is an error.

    Raises:
        InputError: if the file is not UTF-8, its header has no id or no text, or a row is broken or repeats
            an id; the message names the line in which the row ends.
    """
    seen = set() if seen is None else seen
    header = list[str]()
    for line, cells in _rows(path):
        if not header:
            header = cells
            _check_header(path, header)
            continue
        if len(cells) != len(header):
            problem = f"{len(cells)} fields, but the header has {len(header)}"
            raise InputError(path, problem, _REMEDY, line=line)
        document = document_in(dict(zip(header, cells, strict=True)), path, line, seen)
        if document:
            yield document


def check_table(path: Path) -> None:
    """Checks the header of a table.

    Raises:
        InputError: if it cannot be read, or has no id or no text.
    """
    _, header = next(_rows(path), (1, []))
    _check_header(path, header)


def _check_header(path: Path, header: list[str]) -> None:
    """Raises InputError if a header has no id or no text, or a name twice."""
    if not has_document(header):
        raise InputError(path, "the header names no id or no text", f"name a column {NAMES}", line=1)
    if len({*header}) < len(header):
        raise InputError(path, "two columns have one name", "rename one of them", line=1)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the line in which each row ends, and its cells, without blank rows."""
    delimiter = "\t" if path.name.removesuffix(".gz").endswith(".tsv") else ","
    with open_binary(path) as file:
        read_line = partial(file.readline, LONGEST_LINE)
        rows = read_rows(read_line, path, _REMEDY, delimiter=delimiter)
        yield from ((line, cells) for line, cells in rows if cells)
