"""Arguments that name runs: standard input, and files that a pattern names beside them."""

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import Touche, Write
from spotcheck import run_text

TASK = "spot-check/passages"


@pytest.fixture
def runs(write: Write) -> list[Path]:
    return [write("a/run.txt", run_text(tag="a")), write("b/run.txt", run_text(["11", "12"], tag="b"))]


def piped(content: bytes) -> str:
    """Returns the name of a pipe with this content, as <(cat FILE) makes it."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return f"/dev/fd/{reading}"


def test_qrels_of_a_pipe_are_read_once(touche: Touche, runs: list[Path], write: Write) -> None:
    qrels = write("qrels", "11 0 d1 1\n11 0 d2 0\n")
    outputs = []
    for name in (str(qrels), piped(qrels.read_bytes())):
        _, out, _ = touche("evaluate", runs[0], "--qrels", name, "--measure", "AP,P@5", "--format", "csv")
        outputs.append(out.replace(name, "qrels"))
    assert outputs[0] == outputs[1] and "AP" in outputs[0]
    for name in (str(broken := write("qrels", "11 0 d1 x\n")), piped(broken.read_bytes())):
        code, _, err = touche("evaluate", runs[0], "--qrels", name, "--measure", "AP")
        assert code == 2 and f"{name}:1: grade 'x' is not a whole number" in err


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "{}", "--task", TASK),
        ("evaluate", "{}", "--task", TASK, "--measure", "AP,nDCG@5"),
        ("compare", "{}", "b/run.txt", "--task", TASK),
        ("compare", "{}", "b/run.txt", "--task", TASK, "--reference", "{}"),
        ("lint", "{}", "--task", TASK),
        ("overlap", "{}", "b/run.txt"),
        ("overlap", "b/run.txt", "b/run.txt", "--task", TASK, "--baseline", "{}", "b/run.txt"),
        ("fuse", "{}", "b/run.txt", "-o", "fused"),
        ("report", "{}", "--task", TASK, "-o", "report"),
        ("identify", "{}", "--task", TASK),
    ],
)
def test_a_run_on_standard_input_or_a_pipe_is_the_run_of_its_file(
    touche: Touche,
    runs: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = []
    files = []
    for name in ("a/run.txt", "-", piped(runs[0].read_bytes())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(runs[0].read_bytes())))
        code, out, _ = touche(*(part.format(name) for part in command))
        assert code == 0
        outputs.append([line.split() for line in out.replace(name, "-").splitlines()])
        files.append(sorted(path for path in tmp_path.rglob("*") if path.is_file()))
    assert outputs[0] == outputs[1] == outputs[2] and files[0] == files[1] == files[2]
    if "fused" in command:
        written = (tmp_path / "fused" / "run.txt").read_bytes()
        touche("fuse", *runs, "-o", tmp_path / "again")
        assert written == (tmp_path / "again" / "run.txt").read_bytes()


def test_standard_input_that_is_no_run_is_an_error(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for stdin, files, message in (
        (None, ["-"], "-: standard input is closed; pass a file"),
        (SimpleNamespace(buffer=io.BytesIO(b"")), ["-"], "-: the run is empty"),
        (SimpleNamespace(buffer=io.BytesIO(b"1 2 3\n")), ["-"], "-:1: 3 columns instead of 6"),
        (SimpleNamespace(buffer=io.BytesIO(b"")), ["-", "-"], "-: standard input, passed twice"),
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        code, _, err = touche("evaluate", *files, "--task", TASK)
        assert code == 2 and err.startswith(f"touche: {message}")


@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_all_files_that_are_no_runs_are_listed_in_one_line(
    touche: Touche, write: Write, runs: list[Path], tmp_path: Path, command: str
) -> None:
    others = [
        write("a/ir-metadata.yml", "schema version: '0.2'\n"),
        write("a/notes.txt", "\n# six words that are not a run\n"),
        write("a/picture.png", b"\x89PNG\r\n\xff"),
        tmp_path / "a" / "folder",
    ]
    others[-1].mkdir()
    options = ["--task", TASK, *(["-o", tmp_path / "report"] if command == "report" else [])]
    code, out, err = touche(command, *runs, *others, *options)
    named = ", ".join(map(str, others))
    assert (code, out) == (
        2,
        "",
    ) and err == f"touche: {named} are not runs; pass only runs, such as run.txt\n"
    code, _, err = touche(command, *runs, others[0], *options)
    assert code == 2 and err.startswith(f"touche: {others[0]} is not a run; ")


@pytest.mark.parametrize("command", ["evaluate", "compare", "report", "overlap", "fuse"])
@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("x Q0 a 1", ":1: 4 columns instead of 6; write: topic Q0 document rank score tag\n"),
        ("qid q0 docno rank score tag", ":1: line 1 is a header; delete it\n"),
        ("1 Q0 a one 1 t", ":1: rank 'one' is not a whole number; "),
    ],
)
def test_a_broken_first_line_is_named_among_several_runs(
    touche: Touche, write: Write, runs: list[Path], tmp_path: Path, command: str, first: str, message: str
) -> None:
    broken = write("broken.txt", f"{first}\n1 Q0 b 2 1 t\n")
    options = ["--task", TASK] if command != "fuse" else []
    options += ["-o", tmp_path / "out"] if command in ("report", "fuse") else []
    code, _, err = touche(command, *runs, broken, *options)
    assert code == 2 and f"touche: {broken}{message}" in err
    only = write("only.txt", f"{first}\n")
    code, _, err = touche(command, *runs, only, *options)
    assert code == 2 and f"{only} is not a run; pass only runs, such as run.txt (line 1: " in err
