"""Tables of records: their columns, and the lines above and below them.

``io.formats`` says how a table is written in each format.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touche.errors import one_line
from touche.io.grouping import group_by

MISSING = "–"
three_decimals = "{:.3f}".format
signed = "{:+.3f}".format
with_commas = "{:,}".format
_NUMBER = re.compile(r"[<+\- ]*(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")


@dataclass(frozen=True)
class Cell:
    """A table cell.

    Attributes:
        text: its plain text.
        is_bold: whether formats with markup print it in bold.
        marks: symbols after the text, as superscript in formats with markup.
    """

    text: str
    is_bold: bool = False
    marks: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.marks}"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: the heading.
        value: the name of the records' attribute, or a function that takes a record and returns its value.
            None means that the record has no value.
        format: turns a value into the cell's text, or into a ``Cell``.
        missing: why a value can be missing; printed below the table if a cell is a dash.
    """

    heading: str
    value: str | Callable[[Any], Any]
    format: Callable[[Any], str | Cell] = str
    missing: str = ""

    def value_of(self, record: Any) -> Any:
        """Returns a record's value in this column, or None."""
        return getattr(record, self.value) if isinstance(self.value, str) else self.value(record)

    def cell(self, record: Any) -> Cell:
        """Returns a record's cell, which is a dash if the value is missing. Control characters are escaped,
        because names and texts come from other people.
        """
        value = self.value_of(record)
        formatted = MISSING if value is None else self.format(value)
        return formatted if isinstance(formatted, Cell) else Cell(one_line(formatted))


@dataclass(frozen=True)
class Sheet:
    """A table with lines above and below it. Some have only lines.

    Attributes:
        columns: the columns.
        records: a record per row.
        notes: lines below the table.
        above: lines above the table, such as a title.
        colours: terminal colours, by the text of a cell or note. For a text with a colon, such as
            ``too low: 0.61``, by the text before the colon.
    """

    columns: Sequence[Column]
    records: Iterable[Any]
    notes: Sequence[str] = ()
    above: Sequence[str] = ()
    colours: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[list[Cell]]:
        """Returns the cells of each row."""
        return [[column.cell(record) for column in self.columns] for record in self.records]

    def all_notes(self, rows: Sequence[Sequence[Cell]]) -> list[str]:
        """Returns the notes, followed by why values are missing. ``rows`` are the sheet's."""
        columns_with_dashes = [
            column
            for index, column in enumerate(self.columns)
            if column.missing and any(row[index].text == MISSING for row in rows)
        ]
        columns_by_reason = group_by(columns_with_dashes, lambda column: column.missing)
        reasons = [
            f"{MISSING} in {', '.join(column.heading for column in columns)}: {reason}"
            for reason, columns in columns_by_reason.items()
        ]
        return [one_line(note) for note in (*self.notes, *reasons)]


def is_number(text: str) -> bool:
    """Returns whether a text fits a column of numbers, as ``< 0.0001``, ``1,234`` and a dash do."""
    return text in ("", MISSING) or _NUMBER.fullmatch(text) is not None


def interval(record: Any, number: Callable[[float], str] = three_decimals) -> str | None:
    """Formats a record's confidence interval; returns None if the record has no interval.

    Args:
        record: a record with the interval's ends, ``low`` and ``high``.
        number: formats an end.
    """
    return None if record.low is None else f"{number(record.low)} to {number(record.high)}"
