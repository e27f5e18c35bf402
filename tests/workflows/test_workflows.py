"""The commands of the workflows run here."""

import os
from pathlib import Path

import pytest
import yaml

from workflows import steps
from workflows.steps import WORKFLOWS, Runner, without_expressions

SMALL = """
env: {GREETING: hello}
jobs:
  first:
    steps:
      - uses: actions/checkout@0
      - run: echo $GREETING-$OWN-$GITHUB_REPOSITORY > said
        env: {OWN: "${{ matrix.processor }}"}
      - {name: Fail, run: false; touch reached}
      - run: touch reached
      - if: always()
        run: touch last
  second:
    steps:
      - run: test "$(cat said)" = hello-amd64-touche/touche-baselines
      - run: sudo reboot
      - run: test ghcr.io = localhost:5
"""


@pytest.mark.parametrize(
    ("registry", "pushed"), [("localhost:5", "passed"), ("", "left out (it needs REGISTRY)")]
)
def test_steps_run_in_order_and_after_a_failure_only_those_that_always_run(
    tmp_path: Path, registry: str, pushed: str
) -> None:
    runner = Runner(tmp_path, registry)
    runner.workspace.mkdir()
    runner.run(yaml.safe_load(SMALL), "small.yml")
    assert [line.partition(", ")[0] for line in runner.report] == [
        "passed  small.yml:first",
        "FAILED (exit code 1)  small.yml:first",
        "passed  small.yml:first",
        "passed  small.yml:second",
        "left out (it changes the machine)  small.yml:second",
        f"{pushed}  small.yml:second",
    ]
    assert {path.name for path in runner.workspace.iterdir()} == {"said", "last"}
    only = Runner(tmp_path, registry)
    only.run(yaml.safe_load(SMALL), "small.yml", "second")
    assert only.report == runner.report[3:]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_expression_of_a_variable_has_a_value(name: str) -> None:
    workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get(
                "run", ""
            )  # a script reads variables, so that nobody can inject code
            for text in step.get("env", {}).values():
                assert "${{" not in without_expressions(text)


@pytest.mark.nightly  # builds, installs and tests everything, some of it several times
@pytest.mark.timeout(4 * 3600)
@pytest.mark.skipif("GITHUB_ACTIONS" in os.environ, reason="a workflow runs these tests")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_workflows_run_here(name: str) -> None:
    assert steps.main([name]) == 0
