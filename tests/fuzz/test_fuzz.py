"""A short form of ``make fuzz``: the same attack with fewer inputs, and a test that it finds failures."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from attack import Case, attack
from hypothesis import given
from hypothesis import strategies as st
from outcomes import REPAIR, ending
from readers import COMMANDS, READERS

from conftest import ROOT, Write
from texts import BYTES, damaged, is_read_or_refused

ENVIRONMENT = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}


@pytest.mark.nightly
def test_bad_inputs_end_in_a_result_or_in_one_line() -> None:
    command = [sys.executable, str(ROOT / "tests" / "fuzz" / "attack.py"), "--inputs", "150"]
    command += ["--commands", str(len(COMMANDS)), "--signals", "2"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "words", "said", "run", "ended"),
    [
        (0, "run bm25", "", "", "result"),
        (0, "run bm25", "", "1 Q0 a 1 1.5 t\n1 Q0 b", "run.txt not whole"),
        (2, "run bm25", "touche: in: no topics\n", None, "one line"),
        (2, "run bm25", "touche: in: no topics\n", "1 Q0 a 1 1.5 t\n", "run.txt not whole"),
        (2, "run bm25", "touche: in: \x1b no topics\n", None, "message of several lines"),
        (2, "run bm25", "touche: in:\nno topics\n", None, "exit code 2"),
        (1, "run a", f"Traceback\ntouche: a/baseline.py:3: KeyError{REPAIR}", None, "one line"),
        (1, "evaluate a", f"Traceback\ntouche: a/baseline.py:3: KeyError{REPAIR}", None, "traceback"),
        (1, "lint a.txt", "1 error\n", None, "result"),
        (1, "run bm25", "OutOfMemoryError\n", None, "exit code 1"),
    ],
)
def test_failures_are_seen(
    code: int, words: str, said: str, run: str | None, ended: str, tmp_path: Path, write: Write
) -> None:
    if run is not None:
        write("run.txt", run)
    assert ending(code, said, tmp_path / "run.txt", words.split()) == ended


def _spin(path: Path) -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "ended"),
    [
        (_spin, "longer than 1 s"),
        (lambda _: os.kill(os.getpid(), 9), "died with -9"),
        (lambda _: 1 / 0, "traceback"),
    ],
)
def test_a_reader_that_hangs_dies_or_raises_is_seen(
    read: Callable[[Path], None], ended: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attack.SECONDS", 1)
    monkeypatch.setattr("attack.KEPT", tmp_path / "kept")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setitem(READERS, "run", replace(READERS["run"], read=read))
    assert [outcome.ended for outcome in attack([Case(1, "run")])] == [ended]
    assert (tmp_path / "kept" / "run-1").is_dir()


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("run, linted", "baseline.py")])
@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    reader, folder = READERS[name], tmp_path_factory.mktemp("fuzz")

    def results(path: Path) -> Iterator[Any]:
        assert not isinstance(reader.read, str)
        found = reader.read(path)
        return iter(found if isinstance(found, list) else ())

    raw = data.draw(BYTES | damaged(reader.content))
    assert is_read_or_refused(results, folder / reader.file, raw)


def test_every_reader_reads_the_file_that_is_not_spoilt(write: Write) -> None:
    for name, reader in READERS.items():
        for file, content in {**reader.others, reader.file: reader.content}.items():
            path = write(f"{name}/{file}", content)
        assert not isinstance(reader.read, str) and reader.read(path), name
