"""The guide to the house: every module is in it."""

import runpy
from pathlib import Path

from conftest import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs" / "house.py"))


def test_the_guide_holds_what_the_script_makes() -> None:
    guide = (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")
    assert SCRIPT["table"]() in guide, "make docs writes it again"


def test_no_module_is_missing() -> None:
    table, rooms = SCRIPT["table"](), ROOT / "src" / "touche"
    modules = [path for path in rooms.rglob("*.py") if "my-team" not in path.parts]
    named = [path for path in modules if not path.name.startswith("__")]
    assert len(named) > 60 and all(f"\n| `{path.name}` | " in table for path in named)
    for package in {path.parent for path in modules} - {rooms}:
        assert f"(../src/touche/{package.relative_to(rooms)}/)" in table


def test_a_module_that_does_not_say_what_it_is_for_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text("x = 1\n")
    try:
        SCRIPT["_purpose"](tmp_path / "mute.py")
    except SystemExit as end:
        assert "mute.py does not say what it is for" in str(end)
    else:
        raise AssertionError
