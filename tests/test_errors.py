import shlex
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write
from spotcheck import run_text
from touche.errors import one_line
from touche.io import optional, origin


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


def test_no_tag_and_no_name_of_a_file_reaches_the_terminal_as_it_is(touche: Touche, write: Write) -> None:
    path = write("a\nb.txt", run_text(tag="\x1b[2Jteam\u2028"))
    for command in ("evaluate", "lint"):
        code, out, err = touche(command, path, "--task", "spot-check/passages")
        assert code in (0, 1) and "\x1b" not in out + err and "a\nb" not in out + err


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
    assert origin.origin(Path()) == {"revision": "abc-dirty", "source": source}
