"""Each public function documents its arguments, result and errors, with an example that runs."""

import doctest
import inspect
from pathlib import Path

import pytest

import touche
from touche.cli import FIRST, MORE

FUNCTIONS = [name for name in touche.__all__ if inspect.isfunction(getattr(touche, name))]
WITHOUT_ERRORS = {
    *("baseline", "check_cards", "list_tasks", "watched", "with_unmatched"),
    *("as_page", "bar", "first_of_each"),
    *("conclusion_of", "discussion_of", "page_of", "premises_of"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "pyterrier":
        pytest.importorskip("pyterrier")
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder().find(getattr(touche, name), name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example) == (0, len(example.examples))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_documents_its_arguments_result_and_errors(name: str) -> None:
    function = getattr(touche, name)
    signature = inspect.signature(function)
    headings = {
        "Args": bool(signature.parameters),
        "Returns": signature.return_annotation is not None,
        "Raises": name not in WITHOUT_ERRORS,
        "Examples": True,
    }
    lines = inspect.getdoc(function).splitlines()
    assert {heading: f"{heading}:" in lines for heading in headings} == headings


def test_the_help_of_the_library_has_a_line_for_each_command() -> None:
    text = touche.__doc__ or ""
    commands = {line.split()[2].rstrip(":") for line in text.splitlines() if line.startswith("* touche ")}
    assert commands == {*FIRST, *MORE} - {"new", "completion"}  # which are only for the command line
