"""Tests of a group run on one worker, as those that build images or install Spark count on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Write

TESTS = """
import os, pathlib, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(8))
def test(number):
    pathlib.Path(__file__).with_name(os.environ["PYTEST_XDIST_WORKER"]).touch()
"""


@pytest.mark.slow
def test_a_group_of_tests_stays_on_one_worker(write: Write, tmp_path: Path) -> None:
    """With some versions of pytest and pytest-xdist together, groups are ignored without a word."""
    for name in ("a", "b"):
        write(f"test_{name}.py", TESTS)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, tmp_path], cwd=tmp_path, env=ours, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert len(list(tmp_path.glob("gw*"))) == 1
