"""What README and the guides promise: their commands work, in their order, and their examples run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pages import PAGES, commands, follow, reason, workspace


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
