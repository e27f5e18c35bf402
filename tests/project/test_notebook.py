"""The notebook in docs/ runs unchanged, with the stored output."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import notebooks
from conftest import ROOT

NOTEBOOK = ROOT / "docs" / "evaluate.ipynb"
AGAIN = (
    "execute it again: COLUMNS=100 jupyter nbconvert --to notebook --execute --inplace docs/evaluate.ipynb"
)


@pytest.mark.slow
def test_its_outputs_are_those_of_its_code(tmp_path: Path) -> None:
    """In docs/, where Jupyter runs it, from the first cell to the last."""
    environment = os.environ | {"MPLBACKEND": "agg", "TMPDIR": str(tmp_path), "COLUMNS": "100"}
    command = [sys.executable, notebooks.__file__, NOTEBOOK]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=NOTEBOOK.parent, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    cells = notebooks.code_cells(NOTEBOOK)
    for cell, shown in zip(cells, json.loads(done.stdout), strict=True):
        assert notebooks.stored(cell) == shown, AGAIN
    assert not done.stderr


def test_it_is_small_shows_tables_and_figures_and_knows_no_machine() -> None:
    text, cells = NOTEBOOK.read_text(encoding="utf-8"), notebooks.code_cells(NOTEBOOK)
    assert len(text) < 150_000 and not re.search("/tmp|/home|/work|/Users|site-packages", text)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = [notebooks.stored(cell) for cell in cells]
    assert [sum(len(each[kind]) for each in shown) for kind in ("printed", "value", "figures")] == [0, 6, 3]
