"""What the commands share: their options, and tables, JSON and CSV on standard output."""

import csv
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any

import click

from touche import tasks
from touche.notes import grouped, shared_tags, warnings_of
from touche.scores import ScoredRun

BROKEN = 1  # exit code: a score or a rule

RUNS = click.argument(
    "runs", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False), metavar="RUN..."
)
TASK = click.option(
    "--task", "task_id", required=True, metavar="TASK", help=f"One of {', '.join(tasks.all_tasks())}."
)
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def style(*kinds: str) -> Decorator:
    """The option --format."""
    return click.option("--format", "style", type=click.Choice(kinds), default=kinds[0], show_default=True)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Aligned columns; those of numbers to the right."""
    lines = [header, *rows]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numeric = [all(map(_is_number, column[1:])) for column in columns]
    cells = (
        [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        for line in lines
    )
    return "\n".join("  ".join(line).rstrip() for line in cells)


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


def print_warnings(scored: Sequence[ScoredRun]) -> None:
    """Prints what puts scores in doubt on standard error."""
    for text in shared_tags(scored):
        click.echo(f"warning: {text}", err=True)
    for text in grouped(note for each in scored for note in warnings_of(each)):
        click.echo(f"warning: {text}", err=True)


def command_line() -> str:
    """What was typed."""
    return shlex.join(["touche", *sys.argv[1:]])


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, tuple) else value


def _is_number(cell: str) -> bool:
    return cell in ("", "–") or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
