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

    page = (FOLDER / "RESULTS.md").read_text(encoding="utf-8")
    assert speed_page.replaced(page) == page
    assert page.count("<!-- end -->") == 4
    drawn = (FOLDER / "speed.svg").read_text(encoding="utf-8")
    for rounds in speed_page.read_timings().values():
        assert speed_page.label(rounds) in drawn
