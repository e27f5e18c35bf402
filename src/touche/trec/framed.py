"""Results that can be converted to a pandas DataFrame. Notebooks show them as such."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from touche.errors import NotInstalledError
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

FRAME_NAMES = "pyterrier", "ir_measures"  # libraries whose column names frames can use

_T = TypeVar("_T")
Columns = Mapping[str, Callable[[Any], Any]]
"""The columns of a record that consists of other records: for each name, a function of the record."""


class Shown(ABC):
    """A result that notebooks show as a table, the one that they show for its DataFrame."""

    @abstractmethod
    def frame(self) -> "DataFrame":
        """Returns the result as a pandas DataFrame."""

    def _repr_html_(self) -> str | None:
        try:
            return str(self.frame()._repr_html_())
        except NotInstalledError:  # pandas isn't installed; None makes notebooks show the result's repr
            return None


def column_names(kind: type[Any]) -> list[str]:
    """Returns the names of a record's columns. They are listed in its attribute ``COLUMNS``. If it has none,
    the columns are all fields that its repr shows. Empty if the columns depend on the data, which is the case
    for records with a dictionary named ``record``.

    Args:
        kind: the record's type.
    """
    if hasattr(kind, "record"):
        return []
    if hasattr(kind, "COLUMNS"):
        return [*kind.COLUMNS]
    return [field.name for field in fields(kind) if field.repr]


def _row(record: Any) -> dict[str, Any]:
    """Returns a record's values by column name. Nested records become dictionaries."""
    if hasattr(record, "COLUMNS"):
        return {name: value_of(record) for name, value_of in record.COLUMNS.items()}
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
        """Returns the record with this index, or, for a slice, a table."""
        if isinstance(index, str):
            raise TypeError(f"records have no names; write .frame()[{index!r}] for a column")
        if isinstance(index, slice):
            return replace(self, records=self.records[index])
        return self.records[index]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The records as dictionaries by column name."""
        return [record.record if hasattr(record, "record") else _row(record) for record in self.records]

    @property
    def names(self) -> list[str]:
        """The names of the columns; empty if they aren't the same for all records of this type."""
        return column_names(self.kind)

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with a row per record, which prints without omissions.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        imported("pandas", "analysis")  # raises NotInstalledError if pandas isn't installed
        from touche.trec.untruncated import UntruncatedFrame  # optional: pandas

        # None: pandas takes the columns from the rows.
        return UntruncatedFrame(self.rows, columns=self.names or None)

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
    """A record about a file that was written. You can pass it wherever a path is expected."""

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)
