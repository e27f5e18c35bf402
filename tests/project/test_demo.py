"""What make demo prints: a line for each run, on one screen."""

from pathlib import Path

import pytest

from pages import type_in


@pytest.mark.xdist_group("demo")
def test_the_demo_fits_a_screen_and_says_what_to_do_next(after_demo: Path) -> None:
    lines = (after_demo / "demo.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    runs = sorted(after_demo.glob("build/demo/*/*/run.txt"))
    told = [line for line in lines if " to " in line and line.startswith("  ") and line.endswith(")")]
    assert len(told) == len(runs) >= 20
    assert not [line for line in told if " 0.000 (" in line]  # each finds something
    *_, report, compare, _, _ = lines
    type_in(after_demo, report)
    type_in(after_demo, compare)
    assert (after_demo / "build" / "report" / "index.html").is_file()
