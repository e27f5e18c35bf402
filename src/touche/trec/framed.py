"""Results that can become a pandas DataFrame, as which notebooks show them."""

import csv
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from touche.errors import NotInstalledError, one_line
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

FRAME_NAMES = "pyterrier", "ir_measures"  # libraries whose column names frames can use

# How a spreadsheet formula starts. A number, such as topic -1, isn't one.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d+(\.\d+)?$)")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but line breaks, which are quoted

_T = TypeVar("_T")


class Shown(ABC):
    """A result that notebooks show as its frame's table."""

    @abstractmethod
    def frame(self) -> "DataFrame":
        """Returns the result as a pandas DataFrame."""

    def _repr_html_(self) -> str | None:
        try:
            return str(self.frame()._repr_html_())
        except NotInstalledError:  # notebooks then show the text form
            return None


def column_names(kind: type[Any]) -> list[str]:
    """Returns a record's column names: its fields, except those that its repr omits. Empty if they depend on
    the data, which are then in the record's dictionary ``record``.

    Args:
        kind: the record's type.
    """
    return [] if hasattr(kind, "record") else [field.name for field in fields(kind) if field.repr]


def _row(record: Any) -> dict[str, Any]:
    """Returns a record's values by column name. Nested records become dictionaries."""
    values = asdict(record)
    return {name: values[name] for name in column_names(type(record))}


@dataclass(frozen=True)
class Table(Sequence[_T], Shown):
    """Records of one type.

    Attributes:
        kind: the records' type.
        records: the records.
        warnings: warnings about the records, as sentences.
        notes: sentences that explain the records.
    """

    kind: type[_T]
    records: tuple[_T, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Returns a record, or a slice as a table."""
        if isinstance(index, slice):
            return replace(self, records=self.records[index])
        return self.records[index]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The records as dictionaries by column name."""
        return [record.record if hasattr(record, "record") else _row(record) for record in self.records]

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with a row per record, which prints without omissions.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        imported("pandas", "analysis")  # raises an error if it isn't installed
        from touche.trec.untruncated import UntruncatedFrame  # optional: pandas

        names = column_names(self.kind)
        return UntruncatedFrame(self.rows, columns=names or None)  # None uses the rows' columns

    def __repr__(self) -> str:
        try:
            return repr(self.frame())
        except NotInstalledError:
            return "\n".join(map(repr, self.records))


class Record(Shown):
    """A result with one record, which notebooks show as a one-row table."""

    @property
    def table(self) -> Table[Self]:
        """The record as a table."""
        return Table(type(self), (self,))

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with one row.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        return self.table.frame()


class WrittenFile(Record):
    """A record about a file. You can pass it in place of the path."""

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)


def formatted(table: Table[Any], style: str) -> str:
    """Formats a table's records, like ``format_rows``."""
    return format_rows(table.rows, style, column_names(table.kind))


def format_rows(rows: Sequence[Mapping[str, Any]], style: str, names: Iterable[str] = ()) -> str:
    """Formats rows as a JSON list, or as CSV with a header (several values: ``a; b``; records: as JSON).

    CSV escapes control characters, because they can control a terminal. Text that a spreadsheet would take
    for a formula starts with an apostrophe, as OWASP recommends; numbers never do.

    Args:
        rows: values by column name.
        style: ``json`` or ``csv``.
        names: CSV's first columns, which are in its header even without rows.
    """
    if style == "json":
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    text = StringIO()
    header = dict.fromkeys(chain(names, *rows))  # each name once; iterating a row yields its names
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Returns a value as a CSV cell."""
    has_several = isinstance(value, tuple | list)
    parts = value if has_several else [value]
    if any(isinstance(part, Mapping) for part in parts):
        return json.dumps(value, ensure_ascii=False, default=str)
    if not any(isinstance(part, str | Path) for part in parts):
        return "; ".join(map(str, parts)) if has_several else value
    text = "; ".join(map(str, parts))
    apostrophe = "'" if _FORMULA.match(text) else ""
    return apostrophe + _CONTROL.sub(lambda char: one_line(char[0]), text)
