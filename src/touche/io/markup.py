"""Tables in Markdown, LaTeX and HTML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

Row = Sequence[str]  # cells with markup

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


def markdown_table(header: Row, rows: Sequence[Row], numeric: Sequence[bool], notes: Sequence[str]) -> str:
    """Returns a table in Markdown.

    Args:
        numeric: for each column, whether it is aligned right.
        notes: plain texts below the table; empty ones are skipped.
    """
    rule = ["---:" if is_numeric else "---" for is_numeric in numeric]
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
    paragraphs = (f"\n{markdown_text(note)}" for note in notes if note)
    return "\n".join([*lines, *paragraphs])


def latex_table(header: Row, rows: Sequence[Row], numeric: Sequence[bool], notes: Sequence[str]) -> str:
    """Returns a table in LaTeX using booktabs, with notes as comments. Arguments as in ``markdown_table``."""
    columns = "".join("r" if is_numeric else "l" for is_numeric in numeric)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", f"{' & '.join(header)} \\\\", "\\midrule"]
    lines += [f"{' & '.join(row)} \\\\" for row in rows]
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in notes if note)])


def html_table(header: Row, rows: Sequence[Row], numeric: Sequence[bool], notes: Sequence[str]) -> str:
    """Returns a table in HTML, with notes as paragraphs. Arguments as in ``markdown_table``."""
    cell_tags = ['<td style="text-align: right">' if is_numeric else "<td>" for is_numeric in numeric]
    lines = ["<table>", "<thead>", f"<tr>{''.join(f'<th>{name}</th>' for name in header)}</tr>", "</thead>"]
    lines.append("<tbody>")
    for row in rows:
        cells = (f"{tag}{cell}</td>" for tag, cell in zip(cell_tags, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    return "\n".join([*lines, *(f"<p>{escape(note)}</p>" for note in notes if note)])


def markdown_text(text: str) -> str:
    """Escapes Markdown, except underscores within a word and < before a blank, which are no markup."""
    return re.sub(r"[\\`*&|\[\]]|<(?! )|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def latex_text(text: str) -> str:
    return text.translate(_LATEX_COMMANDS)


def latex_superscript(text: str) -> str:
    """LaTeX needs a command for the dagger."""
    with_commands = text.replace("†", "\\dagger")
    return f"$^{{{with_commands}}}$"


def html_superscript(text: str) -> str:
    """Works in Markdown too."""
    return f"<sup>{text}</sup>"


@dataclass(frozen=True)
class Markup:
    """A markup language.

    Attributes:
        table: formats a table from header, rows, numeric columns and notes.
        text: escapes a text.
        bold: pattern for bold text.
        superscript: formats a superscript.
    """

    table: Callable[[Row, Sequence[Row], Sequence[bool], Sequence[str]], str]
    text: Callable[[str], str]
    bold: str
    superscript: Callable[[str], str]


MARKUP = {
    "markdown": Markup(markdown_table, markdown_text, bold="**{}**", superscript=html_superscript),
    "latex": Markup(latex_table, latex_text, bold="\\textbf{{{}}}", superscript=latex_superscript),
    "html": Markup(html_table, escape, bold="<b>{}</b>", superscript=html_superscript),
}
"""The markup languages by their names."""
