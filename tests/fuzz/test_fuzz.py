"""Every reader on arbitrary bytes, and tests that the long attack sees failures."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import REPAIR, outcome_of_command, outcome_of_reader
from readers import READERS

from conftest import Write
from texts import BYTES, damaged, is_read_or_refused


@pytest.mark.parametrize(
    ("code", "words", "output", "run", "outcome"),
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
    code: int, words: str, output: str, run: str | None, outcome: str, tmp_path: Path, write: Write
) -> None:
    if run is not None:
        write("run.txt", run)
    assert outcome_of_command(code, output, tmp_path / "run.txt", words.split()) == outcome


def test_a_message_of_several_lines_is_seen(tmp_path: Path) -> None:
    def warn(path: Path) -> None:
        logging.getLogger("touche").warning("a page\nof two lines")

    assert outcome_of_reader(warn, tmp_path) == "message of several lines"


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("run, linted", "baseline.py")])
@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    reader = READERS[name]
    folder = tmp_path_factory.mktemp("fuzz")

    def results(path: Path) -> Iterator[Any]:
        assert not isinstance(reader.read, str)
        records = reader.read(path)
        return iter(records if isinstance(records, list) else ())

    raw = data.draw(BYTES | damaged(reader.content))
    assert is_read_or_refused(results, folder / reader.file, raw)


def test_every_reader_reads_the_file_that_is_not_spoilt(write: Write) -> None:
    for name, reader in READERS.items():
        for file, content in {**reader.others, reader.file: reader.content}.items():
            path = write(f"{name}/{file}", content)
        assert not isinstance(reader.read, str) and reader.read(path), name
