"""No code of the current folder runs, in this process or in one that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Write


@pytest.mark.parametrize(
    "command",
    ["regress bm25 --dataset spot-check/arguments", "run chatnoir-bm25f -i spot-check/pages -o out"],
)
def test_modules_in_the_current_folder_are_not_imported(write: Write, tmp_path: Path, command: str) -> None:
    for name in ("orjson", "multiprocessing"):
        write(f"here/{name}.py", f"open({str(tmp_path / 'imported')!r}, 'w')\nraise ImportError\n")
    program = [Path(sys.executable).parent / "touche", *command.split()]
    unset = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(program, cwd=tmp_path / "here", env=unset, capture_output=True, text=True)
    assert (done.returncode, (tmp_path / "imported").exists()) == (0, False), done.stderr
