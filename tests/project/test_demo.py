"""What make demo prints: a line for each baseline, on one screen."""

import re
from pathlib import Path

import pytest

from pages import type_in


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_the_demo_fits_a_screen_and_says_what_to_do_next(after_demo: Path) -> None:
    lines = (after_demo / "demo.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    runs = sorted(after_demo.glob("build/demo/*/*/run.txt"))
    intervals = re.findall(r"(\d\.\d{3}) \(\d\.\d{3} to \d\.\d{3}\)", "\n".join(lines))
    pairs = len([path for path in runs if "pairs" in path.parts])
    assert len(intervals) == len(runs) + 2 * pairs >= 20  # of which each has three dimensions
    assert "0.000" not in intervals  # each finds something
    *_, report, compare, _, _ = lines
    type_in(after_demo, report)
    type_in(after_demo, compare)
    assert (after_demo / "build" / "report" / "index.html").is_file()
