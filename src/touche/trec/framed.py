"""Results that offer the attributes and operators of their DataFrame."""

import csv
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from touche.errors import NotInstalledError, one_line
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

FRAME_NAMES = "pyterrier", "ir_measures"  # the libraries whose column names frames can have

# The beginning of a formula in a spreadsheet; a number, such as a topic's number -1, is none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d+(\.\d+)?$)")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but line breaks, which are in quotes

_T = TypeVar("_T")


class Shown(ABC):
    """A result that notebooks show as the table of its frame."""

    @abstractmethod
    def frame(self) -> "DataFrame":
        """Returns the result as a pandas DataFrame."""

    def _repr_html_(self) -> str | None:
        try:
            return str(self.frame()._repr_html_())
        except NotInstalledError:  # then notebooks show the text form
            return None


class Framed(Shown):
    """A result with the columns and methods of its frame, such as ``result.to_csv()``."""

    if not TYPE_CHECKING:  # because type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # copy and pickle look for such names before the object has data
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            try:
                return getattr(self.frame(), name)
            except NotInstalledError as error:  # hasattr() expects an AttributeError
                raise AttributeError(f"{type(self).__name__!r} has no {name!r}: {error}") from error


def column_names(kind: type[Any]) -> list[str]:
    """Returns the names of the columns of a record: its fields, except those that its repr omits.

    Args:
        kind: the type of the record.
    """
    return [field.name for field in fields(kind) if field.repr]


def _row(record: Any) -> dict[str, Any]:
    """Returns the values of a record by the names of its columns; records in it become dictionaries."""
    values = asdict(record)
    return {name: values[name] for name in column_names(type(record))}


@dataclass(frozen=True)
class Table(Sequence[_T], Framed):
    """Records of one type.

    Attributes:
        kind: the type of the records.
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
    def __getitem__(self, key: int) -> _T: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Returns a record, or a table of some of the records; for any other key, the frame's item."""
        if isinstance(key, slice):
            return replace(self, records=self.records[key])
        return self.records[key] if isinstance(key, Integral) else self.frame()[key]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The records as dictionaries by the names of their columns."""
        # Records whose columns depend on the data return them as ``record``, a dictionary.
        return [record.record if hasattr(record, "record") else _row(record) for record in self.records]

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with a row for each record; it prints without omissions.

        Raises:
            ToucheError: if pandas is not installed.
        """
        imported("pandas", "analysis")  # raises if it is not installed
        from touche.trec.untruncated import UntruncatedFrame  # optional: pandas

        # None means the columns of the rows.
        names = None if hasattr(self.kind, "record") else column_names(self.kind)
        return UntruncatedFrame(self.rows, columns=names)

    def __repr__(self) -> str:
        try:
            return repr(self.frame())
        except NotInstalledError:
            return "\n".join(map(repr, self.records))


class Record(Shown):
    """A result of one record, which notebooks show as a table with one row."""

    @property
    def table(self) -> Table[Self]:
        """The record as a table."""
        return Table(type(self), (self,))

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with one row.

        Raises:
            ToucheError: if pandas is not installed.
        """
        return self.table.frame()


class WrittenFile(Record):
    """A record of a file; the record can be passed in place of the path."""

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)


def formatted(table: Table[Any], style: str) -> str:
    """Formats the records of a table, as ``format_rows`` does."""
    names = () if hasattr(table.kind, "record") else column_names(table.kind)
    return format_rows(table.rows, style, names)


def format_rows(rows: Sequence[Mapping[str, Any]], style: str, names: Iterable[str] = ()) -> str:
    """Formats rows as a JSON list, or as CSV with a header (several values: ``a; b``; records: as JSON).

    In CSV, control characters are escaped, because they can control a terminal. A text that a spreadsheet
    would take for a formula begins with an apostrophe, as OWASP recommends; a number never does.

    Args:
        rows: values by the names of their columns.
        style: ``json`` or ``csv``.
        names: the first columns of CSV, which are in its header even without rows.
    """
    if style == "json":
        return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"
    text = StringIO()
    header = dict.fromkeys(chain(names, *rows))  # each name once; a row yields its names
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Returns a value as a cell of CSV."""
    has_several = isinstance(value, tuple | list)
    parts = value if has_several else [value]
    if any(isinstance(part, Mapping) for part in parts):
        return json.dumps(value, ensure_ascii=False, default=str)
    if not any(isinstance(part, str | Path) for part in parts):
        return "; ".join(map(str, parts)) if has_several else value
    text = "; ".join(map(str, parts))
    apostrophe = "'" if _FORMULA.match(text) else ""
    return apostrophe + _CONTROL.sub(lambda char: one_line(char[0]), text)
