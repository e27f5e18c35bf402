"""Reads the tables that commands print."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

Placed = tuple[int, int, str]  # where a cell begins and ends, and its text


def rows_below(out: str, style: str, headings: Iterable[str]) -> list[dict[str, str]]:
    """Returns the rows of the printed tables that have these columns, each as cells by heading.

    Of several columns with one heading, the first counts.
    """
    wanted = {heading for heading in headings if heading}
    columns: list[Placed] = []
    rows: list[dict[str, str]] = []
    for cells in _placed(out, style):
        if wanted <= {text for _, _, text in cells}:
            columns = cells
        elif not cells:  # the end of the table
            columns = []
        elif columns:
            rows.append(_by_heading(cells, columns))
    return rows


def _placed(out: str, style: str) -> list[list[Placed]]:
    """Returns the cells of each line with their signs, or in markup with the number of their column."""
    if style == "table":
        lines = [re.finditer(r"\S+(?: \S+)*", line) for line in out.splitlines()]
        return [[(cell.start(), cell.end(), cell[0]) for cell in line] for line in lines]
    return [[(at, at + 1, text) for at, text in enumerate(row)] for row in rows_of(out, style)]


def _by_heading(cells: Iterable[Placed], columns: Iterable[Placed]) -> dict[str, str]:
    """Finds each cell's heading: in a plain table, both begin or end at the same place."""
    row = {heading: "" for _, _, heading in columns}
    for begin, end, text in cells:
        heading = next((name for left, right, name in columns if left < end and begin < right), "")
        row[heading] = row.get(heading) or text
    return row


def rows_of(out: str, style: str) -> list[list[str]]:
    """Returns the cells of printed tables without their markup."""
    if style == "table":
        return [re.split("  +", line.strip()) for line in out.splitlines()]
    if style == "html":
        tree = ET.fromstring(f"<div>{out}</div>")
        return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]
    if style == "markdown":
        lines = [line.removeprefix("| ").removesuffix(" |") for line in out.splitlines()]
        return [[re.sub(r"\\(.)", r"\1", cell) for cell in line.split(" | ")] for line in lines]
    assert style == "latex", f"say here how to read tables in {style}"
    symbols = {r"\textless{}": "<", r"\textgreater{}": ">"}
    for symbol, character in symbols.items():
        out = out.replace(symbol, character)
    lines = [line.removesuffix(r" \\") for line in out.splitlines()]
    return [
        ["–" if cell == "--" else re.sub(r"\\(.)", r"\1", cell) for cell in line.split(" & ")]
        for line in lines
    ]
