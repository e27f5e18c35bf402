"""Commands and figures for official data in the documentation."""

import shutil
from pathlib import Path

import pytest

import pages
from conftest import ROOT

LONG = [
    ROOT / "docs" / "how-to" / "evaluate.md",
    ROOT / "docs" / "how-to" / "check-a-reproduction.md",
    ROOT / "docs" / "explanation" / "why-bm25-wins.md",
]
WITH_DATA = [
    pytest.param(page, marks=[pytest.mark.nightly] if page in LONG else [])
    for page in pages.PAGES
    if pages.OFFICIAL in map(pages.reason, pages.commands(page))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_DATA, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_says_about_official_data_works(
    official: Path, after_demo: Path, tmp_path: Path, page: Path
) -> None:
    folder = pages.with_public_runs(Path(shutil.copytree(after_demo, tmp_path / "clone")), official)
    tried = pages.follow(page, folder, but=pages.OFFICIAL, TOUCHE_DATA=str(official))
    assert tried == [
        command for command in pages.commands(page) if pages.reason(command) in ("", pages.OFFICIAL)
    ]
