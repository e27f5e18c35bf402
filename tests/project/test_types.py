"""Type checkers know what the public functions return."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SCRIPT = Path(__file__).with_name("typed_script.py")
PYRIGHT = shutil.which("pyright", path=Path(sys.executable).parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "--no-incremental", "--follow-imports=silent"],
        pytest.param(
            ["pyright"], marks=pytest.mark.skipif(PYRIGHT is None, reason="needs: pip install pyright")
        ),
    ],
    ids=lambda command: command[0],
)
def test_a_script_of_a_user_has_precise_types(tmp_path: Path, command: list[str]) -> None:
    for text, errors in (
        (SCRIPT.read_text(encoding="utf-8"), 0),
        ("import touche\ntouche.published() + 1\n", 1),
    ):
        script = tmp_path / "script.py"
        script.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", *command, script], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == errors, done.stdout + done.stderr
