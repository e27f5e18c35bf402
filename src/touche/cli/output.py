"""Tables, JSON, CSV and messages of the commands."""

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from warnings import catch_warnings

import click

from touche.errors import counted as counted
from touche.errors import one_line
from touche.io.grouping import group_by
from touche.io.markup import MARKUP
from touche.io.progress import say
from touche.trec.framed import Table, format_rows, formatted

if TYPE_CHECKING:
    from touche.evaluation.wide import WideTable

BROKEN, UNUSABLE = 1, 2  # exit codes: a wrong score or a broken rule; unusable input
_LEAST_WIDTH = 24  # characters; of a folded text column
_MAX_NAMING_COLUMNS = 2  # text columns at the left that name a row
_BLANKS = 2  # between columns
_UNFOLDED_WIDTH = 1_000_000  # characters; the width of output to a pipe
GOOD, DOUBTFUL, BAD = "green", "yellow", "red"

FORMATS = ("table", "csv", "json", *MARKUP)
_LINES = {"markdown": "{}\n", "latex": "% {}", "html": "<p>{}</p>"}
MISSING = "–"
three_decimals = "{:.3f}".format
signed = "{:+.3f}".format
with_commas = "{:,}".format

_T = TypeVar("_T")

_log = logging.getLogger("touche")


@dataclass(frozen=True)
class Column:
    """A column of a printed table.

    Attributes:
        name: heading.
        attribute: attribute of the records; empty if ``format`` takes the whole record.
        format: formats a value other than None; returns None if the record has no value.
        missing: why a record can have no value; a note below the table if a cell has a dash.
    """

    name: str
    attribute: str = ""
    format: Callable[[Any], str | None] = str
    missing: str = ""

    def cell(self, record: Any) -> str:
        """Returns the cell of a record, with a dash for a missing value."""
        value = getattr(record, self.attribute) if self.attribute else record
        text = None if value is None else self.format(value)
        return MISSING if text is None else text


@dataclass(frozen=True)
class Sheet:
    """A table to print: records, their columns, and lines around them.

    On a terminal, a sheet with lines but without records has only these lines.

    Attributes:
        columns: columns.
        records: a record for each row.
        notes: lines below the table.
        above: lines above the table, such as its title.
        colours: colours on a terminal, by the text of a cell or note, or by its beginning before a colon.
    """

    columns: Sequence[Column]
    records: Iterable[Any]
    notes: Sequence[str] = ()
    above: Sequence[str] = ()
    colours: Mapping[str, str] = field(default_factory=dict)


def echo(*lines: str) -> None:
    """Prints lines, or a blank line. Names and texts of other people in them cannot control the terminal."""
    for line in lines or ("",):
        click.echo(one_line(line))


def render(result: Table[Any], style: str, sheets: Iterable[Sheet]) -> None:
    """Prints a result in one of ``FORMATS``: CSV and JSON have its records, the other formats its sheets.

    Args:
        result: what the function of the command returned.
        style: the format.
        sheets: the tables to print.
    """
    if style in ("csv", "json"):
        sys.stdout.write(formatted(result, style))
        return
    for number, sheet in enumerate(sheets):
        if number:
            echo()  # a blank line between tables
        _print_sheet(sheet, style)


def _print_sheet(sheet: Sheet, style: str) -> None:
    """Prints a sheet as a table, or in a markup language."""
    header = [column.name for column in sheet.columns]
    rows = [[column.cell(record) for column in sheet.columns] for record in sheet.records]
    reasons = group_by(
        (
            column
            for index, column in enumerate(sheet.columns)
            if column.missing and any(row[index] == MISSING for row in rows)
        ),
        lambda column: column.missing,
    )
    names = {reason: ", ".join(column.name for column in columns) for reason, columns in reasons.items()}
    explained = [f"{MISSING} in {headings}: {reason}" for reason, headings in names.items()]
    sheet = replace(sheet, notes=[*sheet.notes, *explained])
    if style == "table":
        _print_plain(sheet, header, rows)
    else:
        _print_marked_up(sheet, header, rows, style)


def _print_plain(sheet: Sheet, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a sheet as aligned columns; ``rows`` are its cells."""
    if sheet.above:
        echo(*sheet.above)
    has_lines = bool(sheet.above or sheet.notes)
    if rows or not has_lines:  # a sheet without rows and lines still prints its header
        show(header, rows, sheet.colours)
        if sheet.notes:
            echo()
    for note in sheet.notes:
        beginning = note.partition(":")[0]
        paint((beginning, sheet.colours.get(beginning, "")), (note.removeprefix(beginning), ""))


def _print_marked_up(sheet: Sheet, header: Sequence[str], rows: Sequence[Sequence[str]], style: str) -> None:
    """Prints a sheet in the markup language ``style``; ``rows`` are its cells."""
    markup = MARKUP[style]
    for line in sheet.above:
        if line:
            text = one_line(line)
            if style != "latex":  # in LaTeX, the line becomes a comment
                text = markup.text(text)
            click.echo(_LINES[style].format(text))
    # In markup, notes are part of the table. So a sheet with notes has a table, also without rows.
    has_only_lines_above = sheet.above and not rows and not sheet.notes
    if has_only_lines_above:
        return
    is_numeric = [all(_is_number(row[index]) for row in rows) for index in range(len(header))]
    cells = [[markup.text(one_line(cell)) for cell in row] for row in rows]
    marked_up_header = [markup.text(one_line(name)) for name in header]
    notes = [one_line(note) for note in sheet.notes]
    click.echo(markup.table(marked_up_header, cells, is_numeric, notes))


def render_wide(table: "WideTable", style: str) -> None:
    """Prints a table with a row for each run in one of ``FORMATS``."""
    if style in ("csv", "json"):
        sys.stdout.write(format_rows(table.records, style))
    elif style == "table":
        show(["run", *table.columns], table.text_rows())
        echo()  # a blank line above the note, and above notes that the caller prints
        if table.note:
            echo(table.note)
    else:
        click.echo(table.marked_up(style))


def interval(record: Any, number: Callable[[float], str] = three_decimals) -> str | None:
    """Formats the confidence interval of a record; None if the record has no interval."""
    return None if record.low is None else f"{number(record.low)} to {number(record.high)}"


def show(
    header: Sequence[str], rows: Iterable[Sequence[str]], colours: Mapping[str, str] | None = None
) -> None:
    """Prints aligned columns; numbers are aligned right.

    On a terminal, the table is coloured, and texts are folded to its width. If folding is not enough, columns
    are printed below one another, and the columns that name a row are repeated. Numbers are never broken.
    Elsewhere the table is plain, and as wide as its cells.

    Args:
        header: names of the columns.
        rows: cells of each row.
        colours: colours by the text of a cell, or by its beginning before a colon.
    """
    from rich.console import Console  # optional: a container image lacks rich

    lines = [[*map(one_line, row)] for row in (header, *rows)]
    columns = [_Aligned(name, cells) for name, *cells in zip(*lines, strict=True)]
    is_terminal = sys.stdout.isatty()
    console = Console(force_terminal=is_terminal, width=None if is_terminal else _UNFOLDED_WIDTH)
    with console.capture() as printed:
        for group in _below_one_another(columns, console.width):
            console.print(_table(group, colours or {}), crop=False)
    for line in printed.get().removesuffix("\n").split("\n"):
        click.echo(line.rstrip())


class _Aligned:
    """A table column: its name, its cells, whether they are numbers, and its least width."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name = name
        self.cells = cells
        self.is_numeric = all(map(_is_number, cells))
        width = max(map(len, (name, *cells)))
        self.least_width = width if self.is_numeric else min(width, _LEAST_WIDTH)


def _below_one_another(columns: Sequence[_Aligned], width: int) -> list[list[_Aligned]]:
    """Divides columns into as few tables as possible; each begins with the columns that name a row."""
    naming = list(takewhile(lambda column: not column.is_numeric, columns[:_MAX_NAMING_COLUMNS]))
    tables = [[*naming]]
    for column in columns[len(naming) :]:
        extended = [*tables[-1], column]
        least_width = sum(member.least_width + _BLANKS for member in extended) - _BLANKS
        has_own_column = len(tables[-1]) > len(naming)  # else a new table would not have more room
        if has_own_column and least_width > width:
            tables.append([*naming])
        tables[-1].append(column)
    return tables


def _table(columns: Sequence[_Aligned], colours: Mapping[str, str]) -> Any:
    """Returns a table of rich; ``colours`` are by the text of a cell up to its colon."""
    from rich.table import Table  # optional, as above
    from rich.text import Text

    table = Table(box=None, padding=(0, _BLANKS, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.is_numeric else "left"
        table.add_column(
            Text(column.name), justify=justify, min_width=column.least_width, overflow="ellipsis"
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        texts = [Text(cell, colours.get(cell.partition(":")[0], "")) for cell in row]
        table.add_row(*texts)
    return table


def paint(*parts: tuple[str, str]) -> None:
    """Prints texts as a line; on a terminal, each text has its colour."""
    from rich.console import Console  # optional, as above
    from rich.text import Text

    line = Text.assemble(*((one_line(text), colour) for text, colour in parts))
    if sys.stdout.isatty():
        Console().print(line, soft_wrap=True)
    else:
        click.echo(line.plain)


def quietly(function: Callable[..., _T], *args: Any, **options: Any) -> _T:
    """Calls a function of the library without Python warnings, because the command prints them.

    Args:
        function: the function.
        args, options: its arguments.
    """
    with catch_warnings(action="ignore"):
        return function(*args, **options)


def explain(result: Any, style: str) -> None:
    """Prints the warnings and notes of a result; the notes on standard error, unless the style is ``table``.

    Args:
        result: a result with warnings and notes.
        style: the format in which the result was printed.
    """
    warn(*result.warnings)
    for note in result.notes:
        if style == "table":
            echo(note)
        else:
            tell(note)


def tell(line: str) -> None:
    """Prints progress on standard error, unless --quiet is set."""
    if _log.isEnabledFor(logging.INFO):
        say(line)


def warn(*warnings: str, subject: str = "") -> None:
    """Prints warnings on standard error, even with --quiet.

    Args:
        warnings: a sentence each.
        subject: what the warnings are about, such as a baseline; empty if the sentences name it.
    """
    for warning in warnings:
        say(f"{subject}: warning: {warning}" if subject else f"warning: {warning}")


def _is_number(cell: str) -> bool:
    """Returns whether a cell can be in a column of numbers, such as ``< 0.0001`` or a dash."""
    return cell in ("", MISSING) or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
