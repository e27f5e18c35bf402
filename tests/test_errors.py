import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import ROOT, Touche, Write
from spotcheck import run_text
from touche.errors import one_line
from touche.io import optional, origin
from touche.io.formats import FORMATS, csv_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("café 😀", "café 😀"),
        ("a\nb\r", "a\\nb\\r"),
        ("\x1b[31m\x07\x9b", "\\x1b[31m\\x07\\x9b"),
        ("\u2028\u202e\udcff", "\\u2028\\u202e\\udcff"),
    ],
)
def test_signs_that_would_break_a_line_or_steer_a_terminal_are_written_out(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("command", ["evaluate", "lint"])
def test_no_tag_and_no_name_of_a_file_reaches_the_terminal_as_it_is(
    touche: Touche, write: Write, command: str, style: str
) -> None:
    path = write("a\nb\x1b[31m.txt", run_text(tag="\x1b[2Jteam\u2028"))

    code, out, err = touche(command, path, "--task", "spot-check/passages", "--format", style)
    assert code in (0, 1) and "\x1b" not in out + err and (style == "csv" or "a\nb" not in out + err)


STRANGER = """
from typing import Literal
from touche import baseline
@baseline
def b(topics, documents, *, a: Literal["\\x1b[1m", "b"] = "\\x1b[1m", c: str = "\\x1b[2m"):
    '''Ranks \x1b[3m documents.

    a: is \x1b[4m raw.
    '''
    return 1 / 0  # \x1b[5m
"""


@pytest.mark.parametrize(
    "command",
    ["run ./{} --help", "run ./{}", "run ./{} -i spot-check/pages -o o --verbose", "new ./{}", "new {}-b"],
)
def test_a_strangers_baseline_cannot_control_the_terminal(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write("x\x1b[6mx/baseline.py", STRANGER)
    _, out, err = touche(*(word.format("x\x1b[6mx") for word in command.split()))
    assert out + err and "\x1b" not in out + err


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@a", "'@a"),
        ("\ta", "'\\ta"),
        ("\ra", "'\\ra"),
        (-1.5, "-1.5"),
        ("-1", "-1"),
        ((-1, 2), "-1; 2"),
        (("-a", "b"), "'-a; b"),
        ("a-b", "a-b"),
        ("\x1b[31mnoir\u200cé", "\\x1b[31mnoir\u200cé"),
        (None, '""'),
    ],
)
def test_a_cell_of_csv_is_no_formula_and_no_escape_code(value: object, cell: str) -> None:
    assert csv_text(SimpleNamespace(rows=[{"x": value}], names=[])) == f"x\n{cell}\n"


def test_an_extra_is_installed_from_the_clone_or_where_there_is_none_by_the_name_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert shlex.split(optional.installing("analysis"))[-1] == f"{ROOT}[analysis]"
    monkeypatch.setattr(origin, "__file__", str(tmp_path / "src" / "touche" / "io" / "origin.py"))
    (tmp_path / "pyproject.toml").touch()  # of the project that has the package among its files
    assert optional.installing("analysis") == "pip install 'touche-baselines[analysis]'"


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://x-token:SECRET@example.org/o/r", "https://example.org/o/r"),
        ("/home/somebody/clone", "unknown"),
    ],
)
def test_neither_paths_nor_tokens_are_told(monkeypatch: pytest.MonkeyPatch, url: str, source: str) -> None:
    answers = {"config": "local\0core.bare", "rev-parse": "abc", "status": "## main\n M a.py", "remote": url}
    monkeypatch.setattr(origin, "_git", lambda folder, command, *options: answers.get(command, ""))
    assert origin.origin(Path(), has_run=False) == {"revision": "abc-dirty", "source": source}
