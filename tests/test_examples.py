"""Each public function has a docstring with an example, which runs."""

import doctest

import pytest

import touche

FUNCTIONS = "evaluate compare wide overlap fuse lint".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_runs(name: str) -> None:
    function = getattr(touche, name)
    (example,) = doctest.DocTestFinder().find(function, name, globs=dict(vars(touche.api)))
    assert example.examples
    assert doctest.DocTestRunner().run(example) == (0, len(example.examples))
    for heading in ("Args:", "Returns:", "Raises:", "Examples:"):
        assert heading in function.__doc__
