"""What README promises: its example baselines run, and its commands are commands."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from touche import baselines, cli, data

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
EXAMPLES = [code for code in PYTHON if "@baseline" in code]
COMMANDS = [
    command
    for command in re.findall(
        r"^    (touche (?:run|evaluate|compare|overlap|report|lint|tasks|regress|data list|images).*?)"
        r"(?:  +#.*)?$",
        README,
        flags=re.MULTILINE,
    )
    # With official data, with an engine (tests/test_containers.py), or too long.
    if "$TOUCHE_DATA" not in command and not re.search("docker|images|--twice", command)
]


def test_there_is_something_to_try() -> None:
    assert (len(PYTHON), len(EXAMPLES), len(COMMANDS)) == (3, 2, 11)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_baselines_run(tmp_path: Path, example: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "baseline.py").write_text(example, encoding="utf-8")
    baseline = baselines.load(str(tmp_path / "mine"))
    options = {name: each.default for name, each in baseline.options.items()}
    dataset, begin = (
        ("spot-check/pairs", "1 ") if "pairs" in example else ("spot-check/passages", "11 Q0 spot")
    )
    assert baselines.run(baseline, data.open_dataset(dataset), tmp_path / "out", options) == []
    assert (tmp_path / "out" / "run.txt").read_text().startswith(begin)


def test_the_commands_work_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the lines of Python that read what they wrote."""
    for command in COMMANDS:
        arguments = [
            str(tmp_path / word) if word.startswith("out") else word for word in shlex.split(command)
        ]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        assert not exit_info.value.code, command
    (analysis,) = (code for code in PYTHON if code not in EXAMPLES)
    names: dict[str, Any] = {}
    exec(analysis.replace('"out/', f'"{tmp_path}/out/'), names)
    assert [len(names[name]) for name in ("scores", "tests", "leaderboard")] == [4, 1, 33]
