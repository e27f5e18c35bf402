"""The benchmark page, compared with what was measured."""

import sys

import pytest

from conftest import ROOT

FOLDER = ROOT / "benchmarks"


def test_tables_and_picture_are_those_of_the_measured_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import speed_page

    timings = speed_page.read(FOLDER / "speed.toml")
    page = (FOLDER / "RESULTS.md").read_text(encoding="utf-8")
    assert speed_page.replaced(page, timings) == page
    assert page.count("<!-- end -->") == 2
    drawn = (FOLDER / "speed.svg").read_text(encoding="utf-8")
    for rounds in timings.values():
        assert speed_page.label(rounds) in drawn
