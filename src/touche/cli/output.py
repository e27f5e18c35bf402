"""How commands print: results in a format of ``--format``, and messages."""

import logging
import sys
from collections.abc import Iterable
from typing import Any

import click

from touche.errors import counted as counted
from touche.errors import one_line
from touche.io.formats import FORMATS, Records
from touche.io.progress import say
from touche.io.tables import Sheet

BROKEN, UNUSABLE = 1, 2  # exit codes: a wrong score or broken rule; unusable input
GOOD, DOUBTFUL, BAD = "green", "yellow", "red"

_log = logging.getLogger("touche")


def echo(*lines: str) -> None:
    """Prints lines, or a blank line. Other people's names and texts can't control the terminal."""
    for line in lines or ("",):
        click.echo(one_line(line))


def render(result: Records, format: str, sheets: Iterable[Sheet]) -> None:
    """Prints a result: its records in CSV and JSON, its sheets in the other formats.

    Args:
        result: what the command's function returned.
        format: the format's name.
        sheets: the tables to print.
    """
    click.echo(FORMATS[format].write(result, sheets), nl=False)


def paint(*parts: tuple[str, str]) -> None:
    """Prints texts as one line, in their colours if it's a terminal."""
    if not sys.stdout.isatty():
        echo("".join(text for text, _ in parts))
        return
    from rich.console import Console  # imported late: takes 60 ms, and a pipe needs no colours
    from rich.text import Text

    line = Text.assemble(*((one_line(text), colour) for text, colour in parts))
    Console().print(line, soft_wrap=True)


def explain(result: Any, format: str) -> None:
    """Prints a result's warnings and notes. Unless the format is ``table``, notes go to standard error.

    Args:
        result: a result with warnings and notes.
        format: the format the result was printed in.
    """
    warn(*result.warnings)
    for note in result.notes:
        if format == "table":
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
