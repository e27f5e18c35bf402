"""The commands of the workflows run here."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from workflows import steps
from workflows.steps import RERUNS, WORKFLOWS, default_shell


@pytest.mark.nightly  # builds, installs and tests everything, some of it several times
@pytest.mark.timeout(4 * 3600)
@pytest.mark.skipif("GITHUB_ACTIONS" in os.environ, reason="a workflow runs these tests")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_workflows_run_here(name: str) -> None:
    assert steps.main([name]) == 0


def test_nothing_that_the_check_of_rows_prints_is_a_command(tmp_path: Path) -> None:
    """GitHub's runner obeys ``::`` at the start of a line and ``##[`` anywhere, until it is told to stop."""
    [job] = yaml.safe_load(WORKFLOWS[RERUNS].read_text(encoding="utf-8"))["jobs"].values()
    program = tmp_path / ".venv/bin/touche"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho '##[error]a row'\nexit 1\n")
    program.chmod(0o755)
    tokens = set()
    for _ in range(2):
        script = ["bash", "-e", "-c", job["steps"][-1]["run"]]
        check = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True)
        first, *others = check.stdout.splitlines()
        assert (check.returncode, others) == (1, ["##[error]a row"])
        match = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first)
        assert match
        tokens.add(match[1])
    assert len(tokens) == 2


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_pipe_fails_if_any_of_its_commands_does(name: str) -> None:
    workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    scripts = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    pipes = [script for script in scripts if re.search(r"[^|]\|[^|]", script)]
    assert not pipes or default_shell(workflow) == "bash", pipes


def test_a_package_is_published_after_all_jobs_that_only_check() -> None:
    jobs = yaml.safe_load(WORKFLOWS["release.yml"].read_text(encoding="utf-8"))["jobs"]
    earlier = set[str]()
    waiting = ["publish"]
    while waiting:
        needs = jobs[waiting.pop()].get("needs", [])
        new = {*([needs] if isinstance(needs, str) else needs)} - earlier
        earlier |= new
        waiting += new
    checks = {name for name, job in jobs.items() if "write" not in job["permissions"].values()}
    assert checks and checks <= earlier
