"""The tests as pytest-xdist sees them: their names, and their groups."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import LONGEST_ID, ROOT, Write

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
GROUP = """
import os, pathlib, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(8))
def test(number):
    pathlib.Path(__file__).with_name(os.environ["PYTEST_XDIST_WORKER"]).touch()
"""


@pytest.mark.slow
def test_names_depend_on_neither_time_nor_hash_seed() -> None:
    """All processes of pytest-xdist have to know the same ones."""
    collecting = []
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [*PYTEST, "--collect-only"]
        collecting.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        )
        time.sleep(2)  # archives and gzip files contain the second in which they are made
    names, again = (process.communicate()[0].split("\n\n")[0].splitlines() for process in collecting)
    assert len(names) > 1000 and names == again


def test_names_are_short(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        for value in item.name.partition("[")[2].rstrip("]").split("-"):
            assert len(value) <= LONGEST_ID, item.nodeid


@pytest.mark.slow
def test_a_group_of_tests_stays_on_one_worker(write: Write, tmp_path: Path) -> None:
    """With some versions of pytest and pytest-xdist together, groups are ignored without a word."""
    for name in ("a", "b"):
        write(f"test_{name}.py", GROUP)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [*PYTEST, "-n", "2", "--dist", "loadgroup", tmp_path]
    subprocess.run(command, cwd=tmp_path, env=ours, capture_output=True, check=True)
    assert len(list(tmp_path.glob("gw*"))) == 1
