"""Type checkers know what the public functions take and return."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SCRIPT = Path(__file__).with_name("typed_script.py")
PYRIGHT = shutil.which("pyright", path=Path(sys.executable).parent)


BEGIN = """import touche
from collections.abc import Iterator
from typing import NamedTuple
class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float
def scored() -> Iterator[Scored]:
    yield Scored("1", "a", 1.0)
run = touche.run("bm25", "spot-check/arguments")
"""
REJECTED = (  # a type error each
    "touche.published() + 1",
    "touche.evaluate(3)",
    "touche.evaluate(None)",
    "touche.evaluate(b'run.txt')",
    "touche.evaluate(open('run.txt'))",
    "touche.evaluate([open('run.txt')])",
    "touche.evaluate(scored())",
    "touche.evaluate([Scored('1', 'a', 1.0)])",
    "touche.evaluate([['1', 'a', 1.0]])",
    "touche.evaluate({'1': {'a': 'high'}})",
    "touche.evaluate({'mine': 3})",
    "touche.evaluate(run, qrels=3)",
    "touche.evaluate(run, qrels=[Scored('1', 'a', 1.0)])",
    "touche.run_of([run])",
    "touche.qrels_of(open('qrels.txt'))",
    "touche.compare(run)",
    "touche.compare([run, run], reference=3)",
    "touche.overlap(run)",
    "touche.fuse([run, 3])",
    "touche.lint(3, 'spot-check/arguments')",
    "touche.report(3, output='page')",
    "touche.identify(3, 'spot-check/arguments')",
    "touche.run('bm25', topics=5)",
    "touche.run('bm25', topics=iter([touche.Topic('1', 'coal')]))",
    "touche.run('bm25', topics=[{'qid': '1', 'query': 'coal'}])",
    "touche.run('bm25', topics={'1': 3})",
    "touche.run('bm25', documents='documents.jsonl')",
    "touche.run('bm25', documents={'a': 3})",
    "touche.evaluate(run)['mean']",
    "touche.evaluate(run).to_csv()",
    "run['docno']",
    "run.to_csv()",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "--follow-imports=silent"],
        pytest.param(
            ["pyright"], marks=pytest.mark.skipif(PYRIGHT is None, reason="needs: pip install pyright")
        ),
    ],
    ids=lambda command: command[0],
)
def test_a_script_of_a_user_has_precise_types(tmp_path: Path, command: list[str]) -> None:
    script = tmp_path / "script.py"
    for text, lines_with_errors in (
        (SCRIPT.read_text(encoding="utf-8"), set[str]()),
        (BEGIN + "\n".join(REJECTED), {*REJECTED}),
    ):
        script.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", *command, script],
            cwd=ROOT, env=os.environ | {"MYPY_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True, text=True,
        )  # fmt: skip
        lines = text.splitlines()
        errors = re.findall(r"script\.py:(\d+)(?::\d+)?(?: -|:) error", done.stdout)
        assert {lines[int(line) - 1] for line in errors} == lines_with_errors, done.stdout + done.stderr
        assert done.returncode == (1 if lines_with_errors else 0), done.stdout + done.stderr
