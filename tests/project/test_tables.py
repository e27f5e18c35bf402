"""The tables in README and the replication guide are made by docs/tables.py."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from conftest import ROOT
from touche import baselines
from touche.regression.expected import PUBLISHED, read_expected

PAGES = ("README.md", "docs/replication.md")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # of git, in every clone

_spec = spec_from_file_location("tables", ROOT / "docs" / "tables.py")
assert _spec and _spec.loader
sys.modules["tables"] = tables = module_from_spec(_spec)
_spec.loader.exec_module(tables)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the pages, and of what their tables are made from."""
    for part in ("baselines", "docs", "topics"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    return tmp_path


def made(clone: Path) -> list[list[str]]:
    """The lines of both pages, as the script leaves them."""
    environment = os.environ | {"PYTHONPATH": str(clone / "src")}
    script = [sys.executable, "docs/tables.py"]
    done = subprocess.run(script, capture_output=True, text=True, cwd=clone, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [(clone / page).read_text(encoding="utf-8").splitlines() for page in PAGES]


def test_the_pages_hold_what_the_script_makes(clone: Path) -> None:
    for page, lines in zip(PAGES, made(clone), strict=True):
        assert (ROOT / page).read_text(encoding="utf-8").splitlines() == lines, "run make docs"


@pytest.mark.slow
def test_another_expected_value_changes_its_row_and_no_other(clone: Path) -> None:
    before = made(clone)
    path = clone / "baselines" / "bm25" / "expected.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("published = 0.469", "published = 0.987"), encoding="utf-8")
    for old, new in zip(before, made(clone), strict=True):
        ((was, becomes),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        assert was.startswith("| [bm25]")
        assert becomes == was.replace("0.469", "0.987")


def test_every_baseline_has_a_row_in_readme(clone: Path) -> None:
    readme, guide = made(clone)
    rows = {_name(row[0]): row for line in readme if line.startswith("| [") if (row := line.split(" | "))}
    assert sorted(filter(None, rows)) == baselines.names()
    assert rows["dirichletlm"][2].split("<br>") == [
        "2020 task 1: uncorrected&nbsp;0.756",
        "2020 task 1, version 1: uncorrected&nbsp;0.769",
        "2021 task 1: relevance&nbsp;0.626, quality&nbsp;0.796",
    ]
    assert rows["dirichletlm-variants"][2] == "2021 task 1: relevance&nbsp;0.705, quality&nbsp;0.798"
    assert rows["sentence-coherence"][2:4] == ["–", "no original exists"]
    headings = [line[3:].partition(":")[0] for line in guide if line.startswith("## ")]
    assert sorted(headings[:-2]) == baselines.names()
    assert headings[-2:] == ["Held against official runs", "What made this run?"]


def test_the_guide_has_a_row_for_each_task_and_options(clone: Path) -> None:
    cells = [line.split(" | ") for line in made(clone)[1] if line.startswith(("| [", "|  |"))]
    starts = {name: number for number, row in enumerate(cells) if (name := _name(row[0]))}
    assert sorted(starts) == baselines.names()
    rows = {name: cells[start:][: _length(cells[start + 1 :])] for name, start in starts.items()}
    quality = "relevance&nbsp;0.626<br>quality&nbsp;0.796"
    assert [row[1:5] for row in rows["dirichletlm"]] == [
        ["2020 task 1", "uncorrected&nbsp;0.756", "relevance&nbsp;0.771<br>uncorrected&nbsp;0.684", "0.87"],
        ["2020 task 1, version 1", "uncorrected&nbsp;0.769", "–", "–"],
        ["2021 task 1", quality, "relevance&nbsp;0.253<br>quality&nbsp;0.317", "0.36"],
        ["2022 task 2", "–", "relevance&nbsp;0.333<br>quality&nbsp;0.333", "0.78"],
    ]
    assert [row[1] for row in rows["chatnoir-bm25f"]][-1] == "2022 task 2<br>`--match 30%`"
    assert [row[1:5] for row in rows["sentence-coherence"]] == [["–", "–", "–", "–"]]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs git's history")
def test_code_that_changed_since_the_images_were_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "baselines/bm25/baseline.py" in tables.changed_since(EMPTY_TREE)
    assert tables.changed_since("0" * 40) == []
    monkeypatch.setenv("PATH", "")
    assert tables.changed_since(EMPTY_TREE) == []


def test_the_guide_tells_how_to_try_every_published_value() -> None:
    guide = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`touche regress\s+(\S+)\s+--dataset\s+([^`\s]+)`", guide))
    expected = [each for name in baselines.names() for each in read_expected(name)]
    assert told == {(each.baseline, each.dataset) for each in expected if each.kind == PUBLISHED}


def _name(cell: str) -> str:
    """The baseline that a cell links to; empty where it links to none."""
    match = re.search(r"\[(.*)\]", cell)
    return match[1] if match else ""


def _length(after: list[list[str]]) -> int:
    """How many rows a baseline has: up to the next one with a name."""
    return next((number for number, row in enumerate(after, 1) if _name(row[0])), len(after) + 1)
