"""Names and groups of the tests, as pytest-xdist sees them."""

import os
import subprocess
import sys
import time

import pytest

from conftest import LONGEST_ID, ROOT

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]


@pytest.mark.slow
def test_names_depend_on_neither_time_nor_hash_seed() -> None:
    """All processes of pytest-xdist need the same names."""
    collecting = []
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [*PYTEST, "--collect-only"]
        collecting.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        )
        time.sleep(2)  # archives and gzip files contain the current second
    names, again = (process.communicate()[0].split("\n\n")[0].splitlines() for process in collecting)
    assert len(names) > 1000 and names == again


def test_names_are_short(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        for value in item.name.partition("[")[2].rstrip("]").split("-"):
            assert len(value) <= LONGEST_ID, item.nodeid
