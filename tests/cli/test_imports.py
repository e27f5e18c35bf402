"""The modules that a command loads and the files that it opens, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import ROOT
from touche.io.formats import FORMATS

TASK = "spot-check/arguments"
SCORING = {"cli", "data", "errors", "evaluation", "io", "tasks", "tira", "trec"}
QRELS = ROOT / "qrels" / "spot-check-arguments-relevance.qrels"
OBSERVED = """
import json, os, sys
from collections import Counter

opened = Counter()

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        opened[os.path.basename(arguments[0])] += 1

sys.addaudithook(note)
from touche import cli

try:
    cli.main()
finally:
    print(json.dumps([[name for name in sys.modules if name.startswith("touche.")], opened]), file=sys.stderr)
"""


class Observed(NamedTuple):
    """The modules of touche that a command loads, and how often it opens each file."""

    modules: list[str]
    opened: Mapping[str, int]

    @property
    def packages(self) -> set[str]:
        return {module.split(".")[1] for module in self.modules}


def observed(*arguments: str | Path) -> Observed:
    command = [sys.executable, "-c", OBSERVED, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode in (0, 1), result.stderr  # 1 is that of a broken rule
    return Observed(*json.loads(result.stderr.splitlines()[-1]))


def evaluation(folder: Path, document: str, *options: str) -> Observed:
    """Evaluates a run of one line."""
    (folder / "run.txt").write_text(f"1 Q0 {document} 1 1.0 made-up\n")
    return observed("evaluate", folder / "run.txt", "--task", TASK, *options)


@pytest.fixture
def judged() -> str:
    """A document that is judged for topic 1."""
    return next(line.split()[2] for line in QRELS.read_text().splitlines() if line.startswith("1 "))


@pytest.mark.parametrize("style", FORMATS)
def test_evaluation_loads_no_collection_and_no_engine(tmp_path: Path, judged: str, style: str) -> None:
    packages = evaluation(tmp_path, judged, "--format", style).packages
    assert packages == SCORING


def test_evaluation_opens_each_file_once(tmp_path: Path, judged: str) -> None:
    opened = evaluation(tmp_path, judged).opened
    for name in ("run.txt", "arguments.toml", QRELS.name):
        assert opened[name] == 1
    assert "args-me.json" not in opened


def test_a_run_on_arguments_loads_no_cluster_and_no_parser_of_pages(tmp_path: Path) -> None:
    run = observed("run", "bm25", "-i", TASK, "-o", tmp_path)
    others = {"evaluation", "lucene", "pairs", "regression", "reports"}
    assert not run.packages & others
    runners = {name for name in run.modules if name.startswith("touche.runners.")}
    assert runners == {"touche.runners.baseline_runs", "touche.runners.limits"}
    assert not any(name.startswith("touche.documents.html.") for name in run.modules)
    assert run.opened["arguments.toml"] == 1
