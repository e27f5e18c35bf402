"""Reads CSV."""

import csv
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from touche.errors import InputError
from touche.io.opening import decoded

_LONGEST_FIELD = 1 << 26  # characters; longer means an open quote
_limit_lock = threading.Lock()  # csv's limit is global


def read_rows(
    read_line: Callable[[], bytes], path: Path, remedy: str, first_line: int = 1, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yields each row's cells with the number of the line it ends in; a blank row has no cells.

    Args:
        read_line: returns the next line with its line end, and b"" at the end.
        remedy: what to do about broken rows.
        delimiter: the character between cells.
    """
    lines = iter(read_line, b"")  # until the end
    rows = csv.reader(decoded(lines, path, first_line), delimiter=delimiter, strict=True)
    try:
        for row in iter(partial(_next_row, rows), None):
            yield first_line - 1 + rows.line_num, row
    except csv.Error as error:
        line = first_line - 1 + rows.line_num
        raise InputError(path, f"broken CSV ({error})", remedy, line=line) from error


def _next_row(rows: Iterator[list[str]]) -> list[str] | None:
    """Returns the next row or None, with csv's limit raised for long fields."""
    with _limit_lock:
        earlier_limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            return next(rows, None)
        finally:
            csv.field_size_limit(earlier_limit)
