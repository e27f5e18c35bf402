"""A short form of ``make fuzz``: the same attack with fewer inputs, and that it sees what it is to see."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from outcomes import REPAIR, ending
from readers import COMMANDS, READERS

from conftest import ROOT

ATTACK = [sys.executable, str(ROOT / "tests" / "fuzz" / "attack.py")]
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}


def attacked(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ATTACK, *options], capture_output=True, text=True, env=ENVIRONMENT)


@pytest.mark.nightly
def test_bad_inputs_end_in_a_result_or_in_one_line() -> None:
    done = attacked("--inputs", "150", "--commands", str(len(COMMANDS)), "--signals", "2")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "words", "said", "run", "ended"),
    [
        (0, "run bm25", "bm25: wrote run.txt\n", "1 Q0 a 1 1.5 t\n", "result"),
        (0, "run bm25", "", "", "result"),
        (0, "run bm25", "", "1 Q0 a 1 1.5 t\n1 Q0 b", "run.txt not whole"),
        (2, "run bm25", "touche: in: no topics\n", None, "one line"),
        (2, "run bm25", "touche: in: no topics\n", "1 Q0 a 1 1.5 t\n", "run.txt not whole"),
        (2, "run bm25", "touche: in: \x1b no topics\n", None, "message of several lines"),
        (2, "run bm25", "touche: in:\nno topics\n", None, "exit code 2"),
        (1, "run bm25", "OutOfMemoryError\n", None, "exit code 1"),
        (1, "run a", f"Traceback\ntouche: a/baseline.py:3: KeyError{REPAIR}", None, "one line"),
        (1, "evaluate a", f"Traceback\ntouche: a/baseline.py:3: KeyError{REPAIR}", None, "traceback"),
        (1, "lint a.txt", "1 error\n", None, "result"),
        (1, "lint a.txt", "Traceback (most recent call last):\n", None, "traceback"),
        (3, "run bm25", "", None, "exit code 3"),
    ],
)
def test_failures_are_seen(
    code: int,
    words: str,
    said: str,
    run: str | None,
    ended: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "fuzz")

    if run is not None:
        (tmp_path / "run.txt").write_text(run)
    assert ending(code, said, tmp_path / "run.txt", words.split()) == ended


def test_every_reader_reads_the_file_that_is_not_spoilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "fuzz")

    for name, reader in READERS.items():
        for file, content in {**reader.beside, reader.file: reader.content}.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        assert reader.read(path), name
