"""Tables as plain text, and for terminals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from touche.errors import one_line
from touche.io.tables import Sheet, is_number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_LEAST_WIDTH = 24  # characters; a text column isn't folded below this
_MAX_NAMING_COLUMNS = 2  # text columns at the left that name the row
_BLANKS = 2  # between columns
_UNFOLDED_WIDTH = 1_000_000  # characters; outside terminals, tables are as wide as their cells


def plain_text(sheets: Iterable[Sheet], *, is_terminal: bool = False) -> str:
    """Returns tables in aligned columns, numbers at the right, with blank lines between the tables.

    For a terminal, the text is coloured, and texts are folded to fit its width. If that isn't enough, the
    columns are split into several tables, each starting with the columns that name the row. Numbers are
    never broken. Otherwise, tables are plain and as wide as their cells.

    Args:
        sheets: the tables. A sheet with lines but no records shows just the lines; one without both shows its
            header.
        is_terminal: whether the text is for a terminal.
    """
    from rich.console import Console  # optional: container images don't contain rich

    console = Console(force_terminal=is_terminal, width=None if is_terminal else _UNFOLDED_WIDTH)
    with console.capture() as printed:
        for number, sheet in enumerate(sheets):
            if number:
                console.print()  # a blank line between tables
            _print_sheet(sheet, console)
    return "".join(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def _print_sheet(sheet: Sheet, console: "Console") -> None:
    """Prints a sheet to the console."""
    from rich.text import Text  # optional, see above

    rows = sheet.rows()
    notes = sheet.all_notes(rows)
    for line in sheet.above:
        console.print(Text(one_line(line)), soft_wrap=True)
    if rows or not (sheet.above or notes):  # print at least the header if there's nothing else
        texts = [[str(cell) for cell in row] for row in rows]
        header = [one_line(column.heading) for column in sheet.columns]
        columns = [_Aligned(name, [row[index] for row in texts]) for index, name in enumerate(header)]
        for columns_of_table in _split(columns, console.width):
            console.print(_table(columns_of_table, sheet.colours), crop=False)
        if notes:
            console.print()
    for note in notes:
        beginning, colon, rest = note.partition(":")
        text = Text.assemble(_coloured(beginning, sheet.colours), f"{colon}{rest}")
        console.print(text, soft_wrap=True)


@dataclass(frozen=True)
class _Aligned:
    """A table column.

    Attributes:
        name: the heading.
        texts: its cells.
    """

    name: str
    texts: Sequence[str]

    @property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers."""
        return all(map(is_number, self.texts))

    @property
    def least_width(self) -> int:
        """How many characters the column needs."""
        width = max(map(len, (self.name, *self.texts)))
        return width if self.is_numeric else min(width, _LEAST_WIDTH)


def _split(columns: Sequence[_Aligned], width: int) -> Iterator[list[_Aligned]]:
    """Splits columns into as few tables as possible. Each starts with the columns that name the row."""
    naming = list(takewhile(lambda column: not column.is_numeric, columns[:_MAX_NAMING_COLUMNS]))
    table = [*naming]
    for column in columns[len(naming) :]:
        least_width = sum(member.least_width + _BLANKS for member in (*table, column)) - _BLANKS
        has_own_column = len(table) > len(naming)  # if not, a new table wouldn't have more room
        if has_own_column and least_width > width:
            yield table
            table = [*naming]
        table.append(column)
    yield table


def _table(columns: Sequence[_Aligned], colours: Mapping[str, str]) -> "Table":
    """Returns a rich table."""
    from rich.table import Table  # optional, see above
    from rich.text import Text

    table = Table(box=None, padding=(0, _BLANKS, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.is_numeric else "left"
        table.add_column(
            Text(column.name), justify=justify, min_width=column.least_width, overflow="ellipsis"
        )
    for row in zip(*(column.texts for column in columns), strict=True):
        table.add_row(*(_coloured(text, colours) for text in row))
    return table


def _coloured(text: str, colours: Mapping[str, str]) -> "Text":
    """Returns a text in the colour of what comes before its first colon, if it has a colour."""
    from rich.text import Text  # optional, see above

    return Text(text, colours.get(text.partition(":")[0], ""))
