"""Figures that several pages print, and README's table of baselines, have one source each."""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from pages import PAGES
from touche import baselines
from touche.regression.expected import PUBLISHED, ExpectedScore, read_expected

TABLES = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))
FIGURES = tomllib.loads((ROOT / "docs" / "site" / "figures.toml").read_text(encoding="utf-8"))["figure"]


def printed(pattern: str) -> dict[Path, list[str]]:
    """Returns what the last group of a pattern that takes part in a match matches, on each page."""
    texts = {page: " ".join(page.read_text(encoding="utf-8").split()) for page in PAGES}
    matches = {page: list(re.finditer(pattern, text)) for page, text in texts.items()}
    return {
        page: [match[match.lastindex or 0] for match in places] for page, places in matches.items() if places
    }


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["name"])
def test_a_figure_is_the_same_on_all_pages(figure: dict[str, str]) -> None:
    places = printed(figure["pattern"])
    assert sum(map(len, places.values())) > 1, "printed once: it needs no entry"
    wrong = {str(page): values for page, values in places.items() if {*values} != {figure["value"]}}
    assert not wrong


def test_readmes_table_has_all_baselines_with_their_methods_and_scores() -> None:
    assert TABLES["summary"]() in (ROOT / "README.md").read_text(encoding="utf-8")
    methods = {name: TABLES["method"](name) for name in baselines.names()}
    assert {name for name, method in methods.items() if not 1 < len(method.split()) <= 5} == set()


def test_readme_counts_the_published_scores_of_official_runs() -> None:
    entries = [entry for name in baselines.names() for entry in read_expected(name)]
    runs = [entry for entry in entries if isinstance(entry, ExpectedScore) and entry.run]
    count = sum(entry.kind == PUBLISHED for entry in runs)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"| published scores of official runs | reproduced: {count} of {count} |" in text


def test_tables_below_a_link_to_the_notebook_have_its_figures() -> None:
    page = (ROOT / "docs" / "explanation" / "why-bm25-wins.md").read_text(encoding="utf-8")
    cells = json.loads((ROOT / "docs" / "notebooks" / "lengths.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = [
        output.get("text") or output["data"]["text/plain"]
        for cell in cells
        for output in cell.get("outputs", [])
    ]
    known = [float(number) for number in re.findall(r"\d+\.?\d*", "\n".join(map("".join, texts)))]
    tables = re.findall(r"lengths\.ipynb\)[^|#]*\n\n((?:\|.*\n)+)", page)
    rows = [row for table in tables for row in table.splitlines()[2:] if "`dense`" not in row]
    assert len(tables) == 4
    for row in rows:
        for number, decimals, percent in re.findall(r"(?<== )?\b(\d[\d,]*(?:\.(\d+))?)(%?)(?= \|)", row):
            value = float(number.replace(",", ""))
            unit = 100 if percent else 1
            tolerance = 0.51 * 10 ** -len(decimals) / unit
            assert any(abs(value / unit - figure) <= tolerance for figure in known), (row, number)
