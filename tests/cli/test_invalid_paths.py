"""Paths that no file can have, and names of bytes that are not UTF-8."""

from collections.abc import Callable
from pathlib import Path

import pytest

import touche
from conftest import Write
from touche.errors import ToucheError

DATASET = "spot-check/arguments"
CALLS: dict[str, Callable[[str, Path, str], object]] = {
    "run a baseline": lambda path, run, out: touche.run(path, DATASET),
    "run on a folder": lambda path, run, out: touche.run("bm25", path),
    "sweep a baseline": lambda path, run, out: touche.sweep(path, DATASET, {}),
    "sweep into": lambda path, run, out: touche.sweep("bm25", DATASET, {}, output=out + path),
    "evaluate": lambda path, run, out: touche.evaluate(path, DATASET),
    "qrels": lambda path, run, out: touche.evaluate(run, qrels=path),
    "compare": lambda path, run, out: touche.compare([run, path], DATASET),
    "run_of": lambda path, run, out: touche.run_of(path),
    "qrels_of": lambda path, run, out: touche.qrels_of(path),
    "overlap": lambda path, run, out: touche.overlap([run, path]),
    "fuse": lambda path, run, out: touche.fuse([run, path]),
    "lint": lambda path, run, out: touche.lint(path, DATASET),
    "identify": lambda path, run, out: touche.identify(path, DATASET),
    "report": lambda path, run, out: touche.report(path, DATASET, output=out),
    "report into": lambda path, run, out: touche.report(run, DATASET, output=out + path),
    "regress": lambda path, run, out: touche.regress(path),
}


@pytest.mark.parametrize("name", ["/a\0b", "/a\ud800", f"/{'a' * 300}"], ids=["nul", "surrogate", "long"])
@pytest.mark.parametrize("call", CALLS)
def test_a_path_that_no_file_can_have_is_an_error(tmp_path: Path, write: Write, call: str, name: str) -> None:
    run = write("run.txt", "1 Q0 a 1 1.0 t\n")
    with pytest.raises(ToucheError) as caught:
        CALLS[call](name, run, str(tmp_path / "out"))
    assert str(caught.value).isprintable()
