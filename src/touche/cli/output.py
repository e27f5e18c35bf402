"""What the commands share: their options, tables, JSON and CSV on standard output, and what they tell."""

import csv
import json
import logging
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any, Literal

import click

from touche import tasks
from touche.cli.commands import TASK_ID
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated
from touche.progress import say

BROKEN, UNUSABLE = 1, 2  # exit codes: a score or a rule; an input
_NARROW = 24  # characters; a text column is folded to no less

RUNS = click.argument(
    "runs", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False), metavar="RUN..."
)
TASK = click.option(
    "--task",
    "task_id",
    type=TASK_ID,
    required=True,
    metavar="TASK",
    help=f"One of {', '.join(tasks.ids())}.",
)
GOOD, DOUBTFUL, BAD = "green", "yellow", "red"

_log = logging.getLogger("touche")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def style(*kinds: str) -> Decorator:
    """The option --format."""
    return click.option("--format", "style", type=click.Choice(kinds), default=kinds[0], show_default=True)


def show(
    header: Sequence[str], rows: Iterable[Sequence[str]], colours: Mapping[str, str] | None = None
) -> None:
    """Prints aligned columns, those of numbers to the right; on a terminal in colour, wrapped to its width.

    Args:
        header: the names of the columns.
        rows: their cells.
        colours: by the words that a cell begins with, up to a colon.
    """
    rows = list(rows)
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numeric = [all(map(_is_number, cells)) for _, *cells in columns]
    if sys.stdout.isatty():
        least = [
            width if right else min(width, _NARROW) for width, right in zip(widths, numeric, strict=True)
        ]
        _show_in_colour(header, rows, numeric, least, colours or {})
        return
    for line in (header, *rows):
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        click.echo("  ".join(cells).rstrip())


def paint(*parts: tuple[str, str]) -> None:
    """Prints a line of texts, on a terminal each in its colour."""
    if not sys.stdout.isatty():
        click.echo("".join(text for text, _ in parts))
        return
    from rich.console import Console  # here, for only terminals need it
    from rich.text import Text

    Console().print(Text.assemble(*parts), soft_wrap=True)


def _show_in_colour(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    least: Sequence[int],
    colours: Mapping[str, str],
) -> None:
    """A table in the width of the terminal, or that of its columns at the least: no number is ever broken."""
    from rich.console import Console  # here, for only terminals need it
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name, right, width in zip(header, numeric, least, strict=True):
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(Text(name), justify=justify, min_width=width, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, colours.get(cell.partition(":")[0], "")) for cell in row))
    console = Console()
    console.print(table, width=max(console.width, sum(least) + 2 * (len(least) - 1)), crop=False)


def tell(line: str) -> None:
    """Says on standard error what is being done; with --quiet, nothing but warnings."""
    if _log.isEnabledFor(logging.INFO) or "warning: " in line:
        say(line)


def print_records(kind: type[Any], rows: Iterable[Any], style: str) -> None:
    """Prints dataclass records as a JSON list or as CSV with a header; several values as ``a; b``."""
    if style == "json":
        click.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([field.name for field in fields(kind)])
        writer.writerows(map(_cell, astuple(row)) for row in rows)


def counted(number: int, noun: str) -> str:
    """Such as ``1 run`` and ``2 runs``."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def print_warnings(found: Sequence[Evaluated]) -> None:
    """Prints what puts scores in doubt on standard error."""
    for text in warnings_of(found):
        say(f"warning: {text}")


def command_line() -> str:
    """What was typed."""
    return shlex.join(["touche", *sys.argv[1:]])


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, tuple) else value


def _is_number(cell: str) -> bool:
    return cell in ("", "–") or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
