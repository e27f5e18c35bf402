"""Runs on samples of official data, for test files that name this module in ``pytest_plugins``."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from conftest import OFFICIAL
from in_process import run_in_this_process
from touche.runners.container_runs import Job
from touche.runners.limits import Limits


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Returns the run.txt of a baseline on the sample of a task; it is made once.

    A test also needs the fixture ``official``, and is in the group "official", which shares a process.
    """
    if OFFICIAL is None:
        pytest.skip("needs official data")

    @cache
    def measure(command: str, task: str = "touche-2020-task-1") -> Path:
        name, *options = command.split()
        folder = tmp_path_factory.mktemp("run")
        run_in_this_process(Job(name, options, f"{task}/sample", folder), Limits(), print)
        return folder / "run.txt"

    return measure
