"""Results that offer their DataFrame's attributes and operators."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from touche.errors import NotInstalledError
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

FRAME_NAMES = "pyterrier", "ir_measures"  # libraries whose column names frames can use

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


class Framed(Shown):
    """A result with its frame's columns and methods, such as ``result.to_csv()``."""

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # copy and pickle look up such names before the object has data
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            try:
                return getattr(self.frame(), name)
            except NotInstalledError as error:  # hasattr() expects an AttributeError
                raise AttributeError(f"{type(self).__name__!r} has no {name!r}: {error}") from error


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
class Table(Sequence[_T], Framed):
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
    def __getitem__(self, key: int) -> _T: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Returns a record, a slice as a table, or the frame's item for any other key."""
        if isinstance(key, slice):
            return replace(self, records=self.records[key])
        return self.records[key] if isinstance(key, Integral) else self.frame()[key]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The records as dictionaries by column name."""
        return [record.record if hasattr(record, "record") else _row(record) for record in self.records]

    @property
    def names(self) -> list[str]:
        """The names of the columns; empty if they depend on the records."""
        return column_names(self.kind)

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with a row per record, which prints without omissions.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        imported("pandas", "analysis")  # raises an error if it isn't installed
        from touche.trec.untruncated import UntruncatedFrame  # optional: pandas

        return UntruncatedFrame(self.rows, columns=self.names or None)  # None uses the rows' columns

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
