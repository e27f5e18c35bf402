"""What the commands share: their options, and tables, JSON and CSV on standard output."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from touche import tasks

RUNS = click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
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


def print_records(records: Sequence[Mapping[str, Any]], style: str) -> None:
    """Prints records as a JSON list or as CSV with a header."""
    if style == "json":
        click.echo(json.dumps(records, indent=2, ensure_ascii=False))
    elif records:
        writer = csv.DictWriter(sys.stdout, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


def _is_number(cell: str) -> bool:
    return cell in ("", "–") or cell.lstrip("<+- ").replace(".", "", 1).isdigit()
