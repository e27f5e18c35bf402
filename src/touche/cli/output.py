"""How commands print: tables, JSON, CSV and messages."""

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

import click

from touche.errors import counted as counted
from touche.errors import one_line
from touche.io.grouping import group_by
from touche.io.markup import MARKUP
from touche.io.progress import say
from touche.trec.framed import Table, format_rows, formatted

if TYPE_CHECKING:
    from touche.evaluation.wide import WideTable

BROKEN, UNUSABLE = 1, 2  # exit codes: a wrong score or broken rule; unusable input
_LEAST_WIDTH = 24  # characters; a text column isn't folded below this
_MAX_NAMING_COLUMNS = 2  # text columns at the left that name the row
_BLANKS = 2  # between columns
_UNFOLDED_WIDTH = 1_000_000  # characters; in a pipe, tables are as wide as their cells
GOOD, DOUBTFUL, BAD = "green", "yellow", "red"

FORMATS = ("table", "csv", "json", *MARKUP)
_LINES = {"markdown": "{}\n", "latex": "% {}", "html": "<p>{}</p>"}
MISSING = "–"
three_decimals = "{:.3f}".format
signed = "{:+.3f}".format
with_commas = "{:,}".format

_log = logging.getLogger("touche")


@dataclass(frozen=True)
class Column:
    """A column of a printed table.

    Attributes:
        name: the heading.
        attribute: the records' attribute; empty if ``format`` takes the whole record.
        format: formats a value; returns None if the record has none.
        missing: why a value can be missing; printed below the table if a cell is a dash.
    """

    name: str
    attribute: str = ""
    format: Callable[[Any], str | None] = str
    missing: str = ""

    def cell(self, record: Any) -> str:
        """Returns a record's cell; a dash if the value is missing."""
        value = getattr(record, self.attribute) if self.attribute else record
        text = None if value is None else self.format(value)
        return MISSING if text is None else text


@dataclass(frozen=True)
class Sheet:
    """A table to print, with lines above and below it.

    On a terminal, a sheet with lines but no records prints just the lines.

    Attributes:
        columns: the columns.
        records: a record per row.
        notes: lines below the table.
        above: lines above the table, such as a title.
        colours: terminal colours by the text of a cell or note, or by what comes before its colon.
    """

    columns: Sequence[Column]
    records: Iterable[Any]
    notes: Sequence[str] = ()
    above: Sequence[str] = ()
    colours: Mapping[str, str] = field(default_factory=dict)


def echo(*lines: str) -> None:
    """Prints lines, or a blank line. Other people's names and texts can't control the terminal."""
    for line in lines or ("",):
        click.echo(one_line(line))


def render(result: Table[Any], style: str, sheets: Iterable[Sheet]) -> None:
    """Prints a result: its records in CSV and JSON, its sheets in the other formats.

    Args:
        result: what the command's function returned.
        style: one of ``FORMATS``.
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
    """Prints a sheet as a plain table, or in a markup language."""
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
    """Prints a sheet in aligned columns. ``rows`` are its cells."""
    if sheet.above:
        echo(*sheet.above)
    has_lines = bool(sheet.above or sheet.notes)
    if rows or not has_lines:  # print at least the header if there's nothing else
        show(header, rows, sheet.colours)
        if sheet.notes:
            echo()
    for note in sheet.notes:
        beginning = note.partition(":")[0]
        paint((beginning, sheet.colours.get(beginning, "")), (note.removeprefix(beginning), ""))


def _print_marked_up(sheet: Sheet, header: Sequence[str], rows: Sequence[Sequence[str]], style: str) -> None:
    """Prints a sheet in the markup language ``style``. ``rows`` are its cells."""
    markup = MARKUP[style]
    for line in sheet.above:
        if line:
            text = one_line(line)
            if style != "latex":  # in LaTeX, the line is a comment
                text = markup.text(text)
            click.echo(_LINES[style].format(text))
    # Markup tables include their notes, so a sheet with notes needs a table even without rows.
    has_only_lines_above = sheet.above and not rows and not sheet.notes
    if has_only_lines_above:
        return
    is_numeric = [all(_is_number(row[index]) for row in rows) for index in range(len(header))]
    cells = [[markup.text(one_line(cell)) for cell in row] for row in rows]
    marked_up_header = [markup.text(one_line(name)) for name in header]
    notes = [one_line(note) for note in sheet.notes]
    click.echo(markup.table(marked_up_header, cells, is_numeric, notes))


def render_wide(table: "WideTable", style: str) -> None:
    """Prints a table that has one row per run."""
    if style in ("csv", "json"):
        sys.stdout.write(format_rows(table.records, style))
    elif style == "table":
        show(["run", *table.columns], table.text_rows())
        echo()  # a blank line separates the note, here or from the caller
        if table.note:
            echo(table.note)
    else:
        click.echo(table.marked_up(style))


def interval(record: Any, number: Callable[[float], str] = three_decimals) -> str | None:
    """Formats a record's confidence interval; None if it has none."""
    return None if record.low is None else f"{number(record.low)} to {number(record.high)}"


def show(
    header: Sequence[str], rows: Iterable[Sequence[str]], colours: Mapping[str, str] | None = None
) -> None:
    """Prints aligned columns, numbers at the right.

    On a terminal, the table is coloured, and texts are folded to fit its width. If that isn't enough, the
    columns are split into several tables, each starting with the columns that name the row. Numbers are
    never broken. In a pipe, the table is plain and as wide as its cells.

    Args:
        header: the column names.
        rows: each row's cells.
        colours: colours by a cell's text, or by what comes before its colon.
    """
    from rich.console import Console  # optional: container images don't contain rich

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
    """A table column with its cells, whether they are numbers, and its minimum width."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name = name
        self.cells = cells
        self.is_numeric = all(map(_is_number, cells))
        width = max(map(len, (name, *cells)))
        self.least_width = width if self.is_numeric else min(width, _LEAST_WIDTH)


def _below_one_another(columns: Sequence[_Aligned], width: int) -> list[list[_Aligned]]:
    """Splits columns into as few tables as possible. Each starts with the columns that name the row."""
    naming = list(takewhile(lambda column: not column.is_numeric, columns[:_MAX_NAMING_COLUMNS]))
    tables = [[*naming]]
    for column in columns[len(naming) :]:
        extended = [*tables[-1], column]
        least_width = sum(member.least_width + _BLANKS for member in extended) - _BLANKS
        has_own_column = len(tables[-1]) > len(naming)  # if not, a new table wouldn't have more room
        if has_own_column and least_width > width:
            tables.append([*naming])
        tables[-1].append(column)
    return tables


def _table(columns: Sequence[_Aligned], colours: Mapping[str, str]) -> Any:
    """Returns a rich table. If a cell starts with a key of ``colours`` and a colon, it gets this colour."""
    from rich.table import Table  # optional, see above
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
    """Prints texts as one line, in their colours if it's a terminal."""
    from rich.console import Console  # optional, see above
    from rich.text import Text

    line = Text.assemble(*((one_line(text), colour) for text, colour in parts))
    if sys.stdout.isatty():
        Console().print(line, soft_wrap=True)
    else:
        click.echo(line.plain)


def explain(result: Any, style: str) -> None:
    """Prints a result's warnings and notes. Unless the style is ``table``, notes go to standard error.

    Args:
        result: a result with warnings and notes.
        style: the format the result was printed in.
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
        subject: what they're about, such as a baseline; empty if the sentences say so.
    """
    for warning in warnings:
        say(f"{subject}: warning: {warning}" if subject else f"warning: {warning}")


def _is_number(cell: str) -> bool:
    """Returns whether a cell fits a column of numbers; ``< 0.0001`` and a dash do."""
    return cell in ("", MISSING) or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
