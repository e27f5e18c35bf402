"""The output of make demo: a line for each baseline, on one screen."""

import re
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, on_terminal
from pages import type_in


@pytest.mark.slow
def test_the_demo_fits_a_screen_and_says_what_to_do_next(after_demo: Path, tmp_path: Path) -> None:
    shutil.copytree(after_demo, folder := tmp_path / "clone")
    lines = (folder / "demo.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    intervals = re.findall(r"(\d\.\d{3}) \(\d\.\d{3} to \d\.\d{3}\)", "\n".join(lines))
    runs = [path.parts for path in folder.glob("build/demo/*/*/run.txt")]
    three_measures = [parts for parts in runs if "pairs" in parts or "images" in parts]
    assert len(intervals) == len(runs) + 2 * len(three_measures) >= 20
    assert "0.000" not in intervals  # each has results
    for command in lines[-4:-2]:
        type_in(folder, command)
    assert (folder / "build" / "report" / "index.html").is_file()


ONE_TABLE = """
import sys
from pathlib import Path
sys.path.insert(0, "docs/site")
import demo
demo.DELAY, demo.TABLES, demo.FOLDER = 0.1, (["images"],), Path(sys.argv[1])
demo.main()
"""


@pytest.mark.slow
def test_the_demo_shows_its_progress_next_to_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = on_terminal("-c", ONE_TABLE, str(tmp_path))
    assert re.search(r"running: +\d+%\|.*\d/\d", shown)
    assert re.search(r"\r +\r +random-images +0\.", shown)  # the bar makes way for the table
