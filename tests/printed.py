"""Reads the tables that commands print."""

import re
import xml.etree.ElementTree as ET


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
    symbols = {r"\textless{}": "<", r"\textgreater{}": ">", "--": "–"}
    for symbol, character in symbols.items():
        out = out.replace(symbol, character)
    lines = [line.removesuffix(r" \\") for line in out.splitlines()]
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in line.split(" & ")] for line in lines]
