"""The formats of ``--format``. A new format is one entry of ``FORMATS``; help texts, errors and tests derive
from it.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from touche.errors import listed, one_line
from touche.io.plain import plain_text
from touche.io.tables import Cell, Sheet, is_number

# How a spreadsheet formula starts. A number, such as topic -1, isn't one.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d+(\.\d+)?$)")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but line breaks, which are quoted

# LaTeX's commands for special characters.
_LATEX_COMMANDS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "–": "--",
    }
)


class Records(Protocol):
    """Records with named fields, such as a ``touche.Table``.

    Attributes:
        rows: the values of each record by column name.
        names: the names of the columns that exist even without records.
    """

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def names(self) -> Sequence[str]: ...


def json_text(records: Records) -> str:
    """Returns records as a JSON list of objects."""
    return json.dumps(records.rows, indent=2, ensure_ascii=False, default=str) + "\n"


def csv_text(records: Records) -> str:
    """Returns records as CSV with a header (several values: ``a; b``; nested records: as JSON).

    Control characters are escaped, because they can control a terminal. Text that a spreadsheet would take
    for a formula starts with an apostrophe, as OWASP recommends; numbers never do.
    """
    text = StringIO()
    rows = records.rows
    header = dict.fromkeys(chain(records.names, *rows))  # each name once; iterating a row yields its names
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Returns a value as a CSV cell."""
    has_several = isinstance(value, tuple | list)
    parts = value if has_several else [value]
    if any(isinstance(part, Mapping) for part in parts):
        return json.dumps(value, ensure_ascii=False, default=str)
    if not any(isinstance(part, str | Path) for part in parts):
        return "; ".join(map(str, parts)) if has_several else value
    text = "; ".join(map(str, parts))
    apostrophe = "'" if _FORMULA.match(text) else ""
    return apostrophe + _CONTROL.sub(lambda char: one_line(char[0]), text)


@dataclass(frozen=True)
class Markup:
    """A markup language.

    Attributes:
        text: escapes a text.
        bold: pattern for bold text.
        superscript: formats a cell's marks.
        line: formats a plain text as a line above a table.
        table: joins the parts of a table: its header and rows with markup, whether each column is aligned
            right, and the notes below it as plain texts.
    """

    text: Callable[[str], str]
    bold: str
    superscript: Callable[[str], str]
    line: Callable[[str], str]
    table: Callable[[Sequence[str], Sequence[Sequence[str]], Sequence[bool], Sequence[str]], str]

    def cell(self, cell: Cell) -> str:
        """Returns a cell with markup."""
        text = self.text(cell.text)
        if cell.is_bold:
            text = self.bold.format(text)
        return f"{text}{self.superscript(cell.marks)}" if cell.marks else text

    def sheet(self, sheet: Sheet) -> str:
        """Returns a table with the lines above and below it."""
        lines = [self.line(one_line(line)) for line in sheet.above if line]
        rows = sheet.rows()
        notes = [note for note in sheet.all_notes(rows) if note]
        if rows or notes or not lines:  # notes are parts of tables, so they need one even if it has no rows
            header = [self.text(one_line(column.heading)) for column in sheet.columns]
            cells = [[self.cell(cell) for cell in row] for row in rows]
            is_numeric = [all(is_number(cell.text) for cell in column) for column in zip(*rows, strict=True)]
            lines.append(self.table(header, cells, is_numeric or [True] * len(header), notes))
        return "\n".join(lines)


def markdown_text(text: str) -> str:
    """Escapes Markdown, except underscores within a word and < before a blank, which are no markup."""
    return re.sub(r"[\\`*&|\[\]]|<(?! )|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], is_numeric: Sequence[bool], notes: Sequence[str]
) -> str:
    """Returns a table in Markdown. Arguments as in ``Markup.table``."""
    rule = ["---:" if numeric else "---" for numeric in is_numeric]
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
    return "\n".join([*lines, *(f"\n{markdown_text(note)}" for note in notes)])


def latex_text(text: str) -> str:
    """Escapes LaTeX."""
    return text.translate(_LATEX_COMMANDS)


def latex_superscript(text: str) -> str:
    """Returns a superscript in LaTeX, which needs a command for the dagger."""
    with_commands = text.replace("†", "\\dagger")
    return f"$^{{{with_commands}}}$"


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], is_numeric: Sequence[bool], notes: Sequence[str]
) -> str:
    """Returns a table in LaTeX using booktabs, with notes as comments. Arguments as in ``Markup.table``."""
    columns = "".join("r" if numeric else "l" for numeric in is_numeric)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", f"{' & '.join(header)} \\\\", "\\midrule"]
    for row in rows:
        # After the end of a row, LaTeX would take a bracket or star for an argument of the command.
        braces = "{}" if row[0].startswith(("[", "*")) else ""
        lines.append(f"{braces}{' & '.join(row)} \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in notes)])


def html_superscript(text: str) -> str:
    """Returns a superscript in HTML, which Markdown understands too."""
    return f"<sup>{text}</sup>"


def html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], is_numeric: Sequence[bool], notes: Sequence[str]
) -> str:
    """Returns a table in HTML, with notes as paragraphs. Arguments as in ``Markup.table``."""
    cell_tags = ['<td style="text-align: right">' if numeric else "<td>" for numeric in is_numeric]
    lines = ["<table>", "<thead>", f"<tr>{''.join(f'<th>{name}</th>' for name in header)}</tr>", "</thead>"]
    lines.append("<tbody>")
    for row in rows:
        cells = (f"{tag}{cell}</td>" for tag, cell in zip(cell_tags, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    return "\n".join([*lines, *(f"<p>{escape(note)}</p>" for note in notes)])


MARKDOWN = Markup(
    text=markdown_text,
    bold="**{}**",
    superscript=html_superscript,
    line=lambda text: f"{markdown_text(text)}\n",  # a paragraph
    table=markdown_table,
)
LATEX = Markup(
    text=latex_text,
    bold="\\textbf{{{}}}",
    superscript=latex_superscript,
    line="% {}".format,  # a comment
    table=latex_table,
)
HTML = Markup(
    text=escape,
    bold="<b>{}</b>",
    superscript=html_superscript,
    line=lambda text: f"<p>{escape(text)}</p>",
    table=html_table,
)


@dataclass(frozen=True)
class Format:
    """A format of results.

    Attributes:
        write: returns a result's text, from its records and its sheets.
        is_for_papers: whether ``evaluate`` and ``compare`` print one row for each run, as papers do.
    """

    write: Callable[[Records, Iterable[Sheet]], str]
    is_for_papers: bool = False


def _markup_format(markup: Markup) -> Format:
    """Returns the format of a markup language, with blank lines between sheets."""

    def write(_: Records, sheets: Iterable[Sheet]) -> str:
        return "\n\n".join(map(markup.sheet, sheets)) + "\n"

    return Format(write, is_for_papers=True)


FORMATS = {
    "table": Format(lambda _, sheets: plain_text(sheets, is_terminal=sys.stdout.isatty())),
    "csv": Format(lambda records, _: csv_text(records)),
    "json": Format(lambda records, _: json_text(records)),
    "markdown": _markup_format(MARKDOWN),
    "latex": _markup_format(LATEX),
    "html": _markup_format(HTML),
}
FORMATS_FOR_PAPERS = listed([name for name, format in FORMATS.items() if format.is_for_papers])
