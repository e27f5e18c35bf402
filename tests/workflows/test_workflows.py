"""The workflows run here, and what runs them does as GitHub does."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflows import actions
from workflows.actions import WORKFLOWS, Runner, UnknownExpressionError, combinations_of, evaluated

CONTEXT = {
    "github": {"ref_name": "v1"},
    "steps": {"name": {"outputs": {"images": "[1, 2]"}}},
    "vars": {},
    "matrix": {"python": "3.11"},
    "fromJSON": yaml.safe_load,
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("github.ref_name == 'v1'", True),
        ("github.ref_name != 'v1' || 'it''s'", "it's"),
        ("steps.name.outputs.other != 'true' && matrix.python", "3.11"),
        ("vars.UNSET != ''", False),
        ("fromJSON(steps.name.outputs.images)", [1, 2]),
    ],
)
def test_expressions_have_the_values_that_github_gives_them(expression: str, value: Any) -> None:
    assert evaluated(expression, CONTEXT) == value


@pytest.mark.parametrize(
    "expression",
    [
        "github.sha",
        "steps.nam.outputs.x",
        "toJSON(github)",
        "1 < 2",
        "github.ref_name 'a'",
        "!vars.UNSET",
        "",
    ],
)
def test_an_unknown_expression_is_an_error(expression: str) -> None:
    with pytest.raises(UnknownExpressionError):
        evaluated(expression, CONTEXT)


def test_a_matrix_is_crossed_and_included_combinations_are_further_ones() -> None:
    crossed = combinations_of({"a": [1, 2], "b": [3], "include": [{"a": 9}]})
    assert crossed == [{"a": 1, "b": 3}, {"a": 2, "b": 3}, {"a": 9}] and combinations_of({}) == [{}]


class _Anything(dict[str, Any]):
    """A context that has every name."""

    def __missing__(self, name: str) -> Any:
        return self


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_expression_and_action_of_a_workflow_is_known(name: str) -> None:
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    context = {each: _Anything() for each in ("github", "matrix", "env", "steps", "vars", "needs")}
    functions = {each: lambda *_: "" for each in ("hashFiles", "fromJSON", "always")}
    for expression in re.findall(r"\$\{\{(.*?)\}\}|^ +(?:- )?if: (.*)$", text, re.MULTILINE):
        evaluated("".join(expression), context | functions)
    for job in yaml.safe_load(text)["jobs"].values():
        used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
        assert {*used} & {*actions.NOT_HERE} or {*used} <= {*actions.ACTIONS}


SMALL = """
env: {GREETING: hello}
jobs:
  first:
    runs-on: ubuntu-latest
    strategy: {matrix: {word: [a, b]}}
    outputs: {said: "${{ steps.say.outputs.said }}"}
    steps:
      - uses: actions/cache/restore@0
        id: cache
        with: {path: kept, key: "key-${{ matrix.word }}"}
      - id: say
        run: echo "said=$GREETING-$OWN" >> "$GITHUB_OUTPUT"; mkdir out; echo $OWN > out/$OWN.txt
        env: {OWN: "${{ matrix.word }}"}
      - if: steps.say.outputs.said == 'hello-b' && steps.cache.outputs.cache-hit != 'true'
        run: exit 3
      - run: touch reached
      - if: always()
        uses: actions/upload-artifact@0
        with: {name: "out-${{ matrix.word }}", path: out/*}
  second:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/download-artifact@0
        with: {pattern: out-*, merge-multiple: true, path: all}
      - run: test "$(echo $(cat all/*))" = "a b"
      - run: sudo reboot
  third:
    needs: first
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
  fourth:
    strategy: {matrix: {runner: [ubuntu-24.04-arm, ubuntu-24.04]}}
    runs-on: ${{ matrix.runner }}
    outputs: {words: "${{ steps.words.outputs.words }}"}
    steps: [{id: words, run: 'echo "words=[1, 2]" >> "$GITHUB_OUTPUT"'}]
  fifth:
    needs: [second, fourth]
    strategy: {matrix: {word: "${{ fromJSON(needs.fourth.outputs.words) }}"}}
    runs-on: macos-15
    steps: [{run: "false"}]
  sixth:
    needs: fifth
    runs-on: ubuntu-latest
    steps: [{run: "false"}]
"""


def test_a_workflow_runs_as_on_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.yml").write_text(SMALL)
    monkeypatch.setitem(WORKFLOWS, "small.yml", tmp_path / "small.yml")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    (runner := Runner(tmp_path)).run("small.yml")
    assert [re.sub(r"\d+ s$", "n s", each) for each in runner.report] == [
        "passed    small.yml:first (a): n s",
        "FAILED    small.yml:first (b): step 3, exit 3: exit code 3",
        "left out  small.yml:second, step 3, sudo reboot: changes the machine",
        "passed    small.yml:second: n s",
        "left out  small.yml:third: needs first",
        "left out  small.yml:fourth (ubuntu-24.04-arm): needs the runner ubuntu-24.04-arm",
        "passed    small.yml:fourth (ubuntu-24.04): n s",
        "left out  small.yml:fifth (1): needs the runner macos-15",
        "left out  small.yml:fifth (2): needs the runner macos-15",
        "left out  small.yml:sixth: needs fifth",
    ]
    assert len(list(tmp_path.glob("*/workspace/reached"))) == 1
    (alone := Runner(tmp_path)).run("small.yml", "fifth")
    assert alone.report == ["left out  small.yml:fifth: needs an output of second, fourth"]


def test_a_registry_on_loopback_replaces_that_of_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = {"runs-on": "ubuntu-latest", "steps": [{"run": "test ghcr.io = $LOOPBACK"}]}
    (tmp_path / "small.yml").write_text(
        yaml.safe_dump({"env": {"LOOPBACK": "localhost:5"}, "jobs": {"push": job}})
    )
    monkeypatch.setitem(WORKFLOWS, "small.yml", tmp_path / "small.yml")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for address, report in {"localhost:5": "passed", "ghcr.io": "left out"}.items():
        (runner := Runner(tmp_path, address)).run("small.yml")
        assert runner.report[0].startswith(report)


@pytest.mark.nightly  # builds, installs and tests everything, some of it several times
@pytest.mark.timeout(4 * 3600)
@pytest.mark.skipif("GITHUB_ACTIONS" in os.environ, reason="a workflow runs these tests")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_workflows_run_here(name: str) -> None:
    assert actions.main([name]) == 0
