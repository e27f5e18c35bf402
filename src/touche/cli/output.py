"""What the commands share: tables, JSON and CSV on standard output, and what they tell."""

import csv
import json
import logging
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from itertools import takewhile
from statistics import fmean
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from touche.errors import one_line
from touche.progress import say

if TYPE_CHECKING:
    from touche.evaluation.wide import WideTable

if TYPE_CHECKING:
    from touche.evaluation.cross_validation import CrossValidation, Fold

BROKEN, UNUSABLE = 1, 2  # exit codes: a score or a rule; an input
_NARROW = 24  # characters; a text column is folded to no less
_NAMES = 2  # columns of texts that name a row
_APART = 2  # blanks between columns
_WIDEST = 1_000_000  # characters; nothing is folded in a pipe
_NO_VALUE = "\0"  # a value of a cell is None
GOOD, DOUBTFUL, BAD = "green", "yellow", "red"

_T = TypeVar("_T")

_log = logging.getLogger("touche")


class _Cells(Formatter):
    """Formats a cell; ``p`` is the format of a p-value."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return _NO_VALUE
        if format_spec == "p":
            return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
        return format(value, format_spec)

    def cell(self, template: str, values: Mapping[str, Any]) -> str:
        text = self.vformat(template, (), values)
        return "–" if _NO_VALUE in text else text


def show_records(header: str, template: str, records: Iterable[Mapping[str, Any]]) -> None:
    """Prints a row for each record, with a dash where a cell has no value.

    Args:
        header: the names of the columns, separated by ``|``.
        template: the same for the cells, such as ``{run}|{low:.3f} to {high:.3f}|{p_t_test:p}``.
        records: the values by the names that the template has for them.
    """
    cells = template.split("|")
    show(header.split("|"), ([_Cells().cell(cell, record) for cell in cells] for record in records))


def show(
    header: Sequence[str], rows: Iterable[Sequence[str]], colours: Mapping[str, str] | None = None
) -> None:
    """Prints aligned columns, those of numbers to the right.

    On a terminal in colour, and in its width: texts are folded, and if that does not do, the columns stand
    below one another, those that name a row repeated. No number is ever broken. Else plain, and as wide as
    the cells are.

    Args:
        header: the names of the columns.
        rows: their cells.
        colours: by the words that a cell begins with, up to a colon.
    """
    from rich.console import Console  # here, for a baseline's image has no tables, and no rich

    rows = [[*map(one_line, row)] for row in rows]
    columns = [_Column(name, cells) for name, *cells in zip(header, *rows, strict=True)]
    terminal = sys.stdout.isatty()
    console = Console(force_terminal=terminal, width=None if terminal else _WIDEST)
    with console.capture() as shown:
        for group in _below_one_another(columns, console.width):
            console.print(_table(group, colours or {}), crop=False)
    click.echo("\n".join(line.rstrip() for line in shown.get().split("\n")[:-1]))


class _Column:
    """A column of a table: its name and cells, whether these are numbers, and its least width."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name, self.cells, self.numeric = name, cells, all(map(_is_number, cells))
        width = max(map(len, (name, *cells)))
        self.least = width if self.numeric else min(width, _NARROW)


def _below_one_another(columns: Sequence[_Column], width: int) -> list[list[_Column]]:
    """The columns of each table, as few tables as there can be: each begins with those that name a row."""
    names = list(takewhile(lambda column: not column.numeric, columns[:_NAMES]))
    groups = [[*names]]
    for column in columns[len(names) :]:
        taken = sum(each.least + _APART for each in [*groups[-1], column]) - _APART
        if len(groups[-1]) > len(names) and taken > width:
            groups.append([*names])
        groups[-1].append(column)
    return groups


def _table(columns: Sequence[_Column], colours: Mapping[str, str]) -> Any:
    from rich.table import Table  # here, as above
    from rich.text import Text

    table = Table(box=None, padding=(0, _APART, 0, 0), pad_edge=False, header_style="bold")
    for each in columns:
        justify: Literal["left", "right"] = "right" if each.numeric else "left"
        table.add_column(Text(each.name), justify=justify, min_width=each.least, overflow="fold")
    for row in zip(*(each.cells for each in columns), strict=True):
        table.add_row(*(Text(cell, colours.get(cell.partition(":")[0], "")) for cell in row))
    return table


def show_wide(table: "WideTable", style: str) -> None:
    """Prints a table with a row for each run: ``table``, ``latex`` or ``markdown``."""
    if style == "table":
        show(["run", *table.columns], table.text_rows())
        click.echo(f"\n{table.note}" if table.note else "")
    else:
        click.echo(table.latex() if style == "latex" else table.markdown())
    warn(*table.warnings)


def paint(*parts: tuple[str, str]) -> None:
    """Prints a line of texts, on a terminal each in its colour."""
    from rich.console import Console  # here, as above
    from rich.text import Text

    line = Text.assemble(*((one_line(text), colour) for text, colour in parts))
    if sys.stdout.isatty():
        Console().print(line, soft_wrap=True)
    else:
        click.echo(line.plain)


def show_folds(what: str, validation: "CrossValidation[_T]", text_of: Callable[[_T], str] = str) -> None:
    """Prints what other topics chose, how often and what it scores; then the mean over all topics.

    Args:
        what: what was validated.
        validation: the folds.
        text_of: the text of a choice.
    """
    folds: dict[str, list[Fold[_T]]] = {}
    for fold in validation.folds:
        folds.setdefault(text_of(fold.choice), []).append(fold)
    rows = []
    for choice, chosen in folds.items():
        values = [value for fold in chosen for value in fold.values.values()]
        mean = fmean(values) if values else None
        rows.append({"choice": choice, "folds": len(chosen), "topics": len(values), "mean": mean})
    show_records("chosen by other topics|folds|topics|mean", "{choice}|{folds}|{topics}|{mean:.3f}", rows)
    (low, high), topics = validation.interval, counted(len(validation.values), "topic")
    overall = f"{validation.mean:.3f} (95% interval {low:.3f} to {high:.3f})"
    click.echo(f"\n{what}: {overall} over {topics}, none of which had a say in its own choice")


def tell(line: str) -> None:
    """Says on standard error what is being done; nothing with --quiet."""
    if _log.isEnabledFor(logging.INFO):
        say(line)


def warn(*doubts: str, of: str = "") -> None:
    """Prints doubts about a result on standard error, also with --quiet.

    Args:
        doubts: a sentence each.
        of: what is in doubt, such as the baseline, unless the sentences name it.
    """
    for doubt in doubts:
        say(f"{of}: warning: {doubt}" if of else f"warning: {doubt}")


def print_records(kind: type[Any], rows: Iterable[Any], style: str) -> None:
    """Prints dataclass records as a JSON list or as CSV with a header; several values as ``a; b``."""
    if style == "json":
        click.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([field.name for field in fields(kind)])
        for row in rows:
            writer.writerow("; ".join(cell) if isinstance(cell, tuple) else cell for cell in astuple(row))


def counted(number: int, noun: str) -> str:
    """Such as ``1 run`` and ``2 runs``."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def command_line() -> str:
    """What was typed."""
    return shlex.join(["touche", *sys.argv[1:]])


def _is_number(cell: str) -> bool:
    return cell in ("", "–") or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
