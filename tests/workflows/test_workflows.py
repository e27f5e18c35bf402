"""The commands of the workflows run here."""

import os

import pytest

from workflows import steps
from workflows.steps import WORKFLOWS


@pytest.mark.nightly  # builds, installs and tests everything, some of it several times
@pytest.mark.timeout(4 * 3600)
@pytest.mark.skipif("GITHUB_ACTIONS" in os.environ, reason="a workflow runs these tests")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_workflows_run_here(name: str) -> None:
    assert steps.main([name]) == 0
