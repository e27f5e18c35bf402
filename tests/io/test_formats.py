"""The formats of results: texts survive their escaping, and a new format is one entry."""

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from io import StringIO

import pytest

from conftest import Touche, Write
from printed import rows_of
from spotcheck import run_text
from touche import Table
from touche.errors import listed
from touche.io import formats
from touche.io.formats import FORMATS, FORMATS_FOR_PAPERS, csv_text, json_text
from touche.io.plain import plain_text
from touche.io.tables import Cell, Column, Sheet, is_number

ODD = "a_b|c&d<b>"
COLUMNS = [Column("run <x>", "name"), Column("mean", "mean", "{:.1f}".format, missing="there is no topic")]


RECORDS = ("csv", "json")  # formats of records, which have no table


@dataclass(frozen=True)
class Row:
    name: str
    mean: float | None


ROWS = (Row(ODD, 1.5),)


def test_html_contains_the_texts_of_cells_and_notes() -> None:
    sheet = Sheet(COLUMNS, ROWS, notes=["p < 0.05", ""], above=["<title>"])
    tree = ET.fromstring(f"<div>{formats.HTML.sheet(sheet)}</div>")
    cells = ["".join(cell.itertext()) for row in tree.iter("tr") for cell in row]
    assert cells == ["run <x>", "mean", ODD, "1.5"]
    assert [line.text for line in tree.iter("p")] == ["<title>", "p < 0.05"]
    assert ["style" in cell.attrib for cell in tree.iter("td")] == [False, True]


def test_numbers_are_aligned_right_and_notes_are_below_the_table() -> None:
    sheet = Sheet(COLUMNS, ROWS, notes=["one", "two"], above=["a | b"])
    assert formats.MARKDOWN.sheet(sheet).splitlines() == [
        r"a \| b",
        "",
        r"| run \<x> | mean |",
        "| --- | ---: |",
        r"| a_b\|c\&d\<b> | 1.5 |",
        "",
        "one",
        "",
        "two",
    ]
    odd = Sheet(COLUMNS, [Row("[a]", 1.0), Row("*", 1.0)])
    assert formats.LATEX.sheet(odd).splitlines()[4:6] == [r"{}[a] & 1.0 \\", r"{}* & 1.0 \\"]
    lines = formats.LATEX.sheet(sheet).splitlines()
    assert lines[:2] == ["% a | b", r"\begin{tabular}{lr}"]
    assert lines[5] == r"a\_b\textbar{}c\&d\textless{}b\textgreater{} & 1.5 \\"
    assert lines[-3:] == [r"\end{tabular}", "% one", "% two"]
    assert plain_text([sheet]).splitlines() == [
        "a | b",
        "run <x>     mean",
        f"{ODD}   1.5",
        "",
        "one",
        "two",
    ]


@pytest.mark.parametrize("number", ["7", "1.5", "+0.125", "< 0.0001", "1,234", "12,345,678", "–", ""])
def test_a_column_of_numbers_is_aligned_right(number: str) -> None:
    assert is_number(number)


@pytest.mark.parametrize("text", ["6, 1, 3", "1,2,3", "1,23", "1234,567", "0.5 to 0.6", "1.2.3", "bm25", ","])
def test_a_column_with_other_texts_is_aligned_left(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in RECORDS])
def test_a_missing_value_is_a_dash_and_its_reason_is_below_the_table(name: str) -> None:
    text = FORMATS[name].write(Table(Row, ()), [Sheet(COLUMNS, [Row("a", None)])])
    assert ["a", "–"] in rows_of(text, name) and "– in mean: there is no topic" in text
    assert "there is no topic" not in FORMATS[name].write(Table(Row, ()), [Sheet(COLUMNS, ROWS)])


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_passes_control_characters_on(name: str) -> None:
    evil = Row("\x1b[31mred\x07\r", 1.0)
    sheet = Sheet(
        [Column("\x1b[1m", "name"), *COLUMNS],
        [evil],
        notes=["\x1b[0m"],
        above=["\x07"],
    )
    text = FORMATS[name].write(Table(Row, (evil,)), [sheet])
    assert all(char.isprintable() or char == "\n" for char in text) and "[31mred" in text


def test_csv_and_json_contain_all_fields_and_a_header_even_without_records() -> None:
    table = Table(Row, (*ROWS, Row("é", None)))
    assert json.loads(json_text(table)) == [{"name": ODD, "mean": 1.5}, {"name": "é", "mean": None}]
    assert [*csv.reader(StringIO(csv_text(table)))] == [["name", "mean"], [ODD, "1.5"], ["é", ""]]
    assert csv_text(Table(Row, ())) == "name,mean\n" and json_text(Table(Row, ())) == "[]\n"


def test_bold_cells_and_marks_have_markup() -> None:
    cell = Cell("0.5", is_bold=True, marks="a,†")
    sheet = Sheet([Column("mean", "mean", lambda _: cell)], ROWS)
    assert "| **0.5**<sup>a,†</sup> |" in formats.MARKDOWN.sheet(sheet)
    assert r"\textbf{0.5}$^{a,\dagger}$ \\" in formats.LATEX.sheet(sheet)
    assert "<b>0.5</b><sup>a,†</sup></td>" in formats.HTML.sheet(sheet)
    assert plain_text([sheet]) == "mean\n0.5a,†\n"


WITH_A_NEW_FORMAT = """
from touche.io.formats import FORMATS, Format

def headings(_, sheets):
    return " ".join(column.heading for sheet in sheets for column in sheet.columns)


FORMATS["headings"] = Format(headings)
from touche.__main__ import main

main()
"""


def test_a_new_format_is_one_entry() -> None:
    def printed(*arguments: str) -> str:
        command = [sys.executable, "-c", WITH_A_NEW_FORMAT, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert printed("tasks", "--format", "headings") == "task title ranked dimensions published values"
    assert f"[{'|'.join(FORMATS)}|headings]" in printed("tasks", "--help")


def test_refusals_name_the_formats_for_papers(touche: Touche, write: Write) -> None:
    run = write("run.txt", run_text())
    for name, format in FORMATS.items():
        arguments = ("evaluate", run, "--task", "spot-check/passages", "--per-topic", "--format", name)
        code, _, err = touche(*arguments)
        assert (code == 2) == format.is_for_papers
        assert not format.is_for_papers or f"--reference, {FORMATS_FOR_PAPERS} print one row" in err
    assert listed([name for name in FORMATS if FORMATS[name].is_for_papers]) == FORMATS_FOR_PAPERS
