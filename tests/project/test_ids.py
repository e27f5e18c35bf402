"""The names of the tests, which pytest-xdist compares between processes."""

import os
import subprocess
import sys
import time

import pytest

from conftest import LONGEST_ID, ROOT


def collecting(hash_seed: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_names_depend_on_neither_time_nor_hash_seed() -> None:
    first = collecting("1")
    time.sleep(2)  # archives and gzip files contain the second in which they are made
    second = collecting("2")
    names, again = (
        [line for line in process.communicate()[0].splitlines() if "::" in line]
        for process in (first, second)
    )
    assert len(names) > 1000 and names == again


def test_names_are_short(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        for value in item.name.partition("[")[2].rstrip("]").split("-"):
            assert len(value) <= LONGEST_ID, item.nodeid
