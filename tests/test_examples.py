"""Each public function documents its arguments, result and errors, with an example that runs."""

import doctest
import inspect
from pathlib import Path

import pytest

import touche

ENGINES = ("lucene", "pairs", "scan")  # modules, and Lucene may be missing
FUNCTIONS = [
    name for name in touche.__all__ if name not in ENGINES and inspect.isfunction(getattr(touche, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "pyterrier":
        pytest.importorskip("pyterrier")
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder().find(getattr(touche, name), name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example) == (0, len(example.examples))
