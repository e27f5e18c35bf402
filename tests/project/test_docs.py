"""What README and the guides promise: their commands work, in their order, and their examples run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pages import ELSEWHERE, PAGES, commands, follow, reason, steps, workspace
from touche import baselines
from touche.cli import FIRST, MORE
from touche.data import datasets

EXAMPLES = [
    (page.name, step.text)
    for page in PAGES
    for step in steps(page)
    if step.kind == "python" and "@baseline" in step.text
]


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


def test_there_is_something_to_try_of_every_command_and_each_reason_has_a_command() -> None:
    everything = [command for page in PAGES for command in commands(page)]
    assert {command.split()[1] for command in everything if command.startswith("touche ")} == {*FIRST, *MORE}
    assert {reason(command) for command in everything} == {"", *ELSEWHERE.values()} and len(EXAMPLES) == 3
    for name in (
        "docs/tutorial/first-run.md",
        "docs/tutorial/write-a-baseline.md",
        "docs/how-to/evaluate.md",
        "docs/how-to/large-collections.md",
    ):
        assert sum(not reason(command) for command in commands(ROOT / name)) >= 10


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_the_example_baselines_run(tmp_path: Path, page: str, example: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "baseline.py").write_text(example, encoding="utf-8")
    baseline = baselines.load(str(tmp_path / "mine"))
    options = {name: command.default for name, command in baseline.options.items()}
    dataset, begin = (
        ("spot-check/pairs", "1 ") if "pairs" in example else ("spot-check/passages", "11 Q0 spot")
    )
    assert baselines.run(baseline, datasets.open_dataset(dataset), tmp_path / "out", options) == []
    assert (tmp_path / "out" / "run.txt").read_text().startswith(begin)
