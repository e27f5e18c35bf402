"""The notebooks in docs/ run unchanged and offline, with the stored outputs."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFICIAL, ROOT
from outputs import NOTEBOOKS, cells

OFFLINE = """
import sys
def refuse(event, _):
    if event in ("socket.connect", "socket.getaddrinfo"):
        sys.exit(f"error: {event}")
sys.addaudithook(refuse)
"""
every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.slow
@every_notebook
def test_its_outputs_are_those_of_its_code(notebook: Path, tmp_path: Path) -> None:
    needs_data = "TOUCHE_DATA" in notebook.read_text(encoding="utf-8")
    if needs_data and not OFFICIAL:
        pytest.skip("needs official data: set TOUCHE_DATA")
    copy = Path(shutil.copy(notebook, tmp_path))
    (tmp_path / "sitecustomize.py").write_text(OFFLINE)
    environment = {
        "PYTHONPATH": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
        "TOUCHE_DATA": str(OFFICIAL) if needs_data else "",
    }
    done = subprocess.run(
        [sys.executable, cells.__file__, copy], capture_output=True, text=True, env=environment, check=False
    )
    messages = re.sub(r"(?m)^\w+: .*\d+/\d+ .*\n", "", done.stderr)  # progress, on a slow machine
    assert (done.returncode, messages) == (0, "")
    advice = f"execute it again: make outputs PAGES={notebook.relative_to(ROOT)}"
    assert cells.shows_the_same(notebook, copy), advice


@every_notebook
def test_it_is_small_and_knows_no_machine(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    cells = code_cells(notebook)
    assert len(text) < 100_000 and not re.search("/tmp|/home|/work|/Users|site-packages|Error", text)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])
