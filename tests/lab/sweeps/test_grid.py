from inspect import Parameter
from typing import Any, Literal

import numpy as np
import pytest

from random_examples import given, st
from touche.errors import ParameterError
from touche.lab.sweeps import grid


def option(default: Any, annotation: Any = Parameter.empty, name: str = "x") -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


OPTIONS = {
    parameter.name: parameter
    for parameter in (
        option(0.9, name="k1"),
        option(1000, name="depth"),
        option(False, name="multifield"),
        option("NO", Literal["NO", "FIRST"], name="stance"),
    )
}


@pytest.mark.parametrize(
    ("default", "text", "values"),
    [
        (0.9, "0.6:1.6:0.2", [0.6, 0.8, 1.0, 1.2, 1.4, 1.6]),
        (0.9, "0.2,0.4, 0.75", [0.2, 0.4, 0.75]),
        (0.9, "3,1:0.5:-0.25", [3.0, 1.0, 0.75, 0.5]),
        (0.9, "0:1:0.3", [0.0, 0.3, 0.6, 0.9]),  # the end is not on the way
        (0.9, "1e-2", [0.01]),
        (5, "1:10:3", [1, 4, 7, 10]),
        (5, "2.0", [2]),
        (True, "yes,FALSE", [True, False]),
        ("a", "b, c d", ["b", "c d"]),
    ],
)
def test_values_are_those_that_are_written(default: Any, text: str, values: list[Any]) -> None:
    values_found = grid.parse_values(option(default), text)
    assert values_found == values and {type(value) for value in values_found} == {type(default)}


@given(st.integers(-500, 500), st.integers(0, 60), st.integers(1, 500))
def test_a_range_has_both_ends_and_its_numbers_are_those_that_one_types(
    first: int, steps: int, step: int
) -> None:
    text = f"{first / 100}:{(first + steps * step) / 100}:{step / 100}"
    assert grid.parse_values(option(0.5), text) == [(first + n * step) / 100 for n in range(steps + 1)]


NO_NUMBERS = "x 1:2 1:2:3:4 1:2:0 1:0.9:0.2 2:1:0.5 nan inf 0:inf:1 sNaN:1:1 1e400 1,,2 0x10 1:2:nan".split()
TOO_MANY = "the grid has at least 1,000,000,000,000,000,000 settings"


@pytest.mark.parametrize(
    ("default", "text", "problem"),
    [
        *((0.5, text, "x = '.*; ") for text in ["", *NO_NUMBERS, "0:-1:1e-99999", "0:1:1e-99999999"]),
        (0.5, "0:1:1e-9", "the grid has 1,000,000,001 settings, but at most 10,000"),
        *((0.5, text, TOO_MANY) for text in ("0:1e17:1e-300", "0:1:1e-5000", "0:1:1e-999999")),
        *((0.5, text, f"x = '{text}' is an empty range; .*STEP") for text in ("1:0:0.2", "0:1:-0.2")),
        (5, "1.5", "x "),
        (5, "1:2:0.5", "x "),
        (True, "2", "x "),
        ((1.0, 2.0), "1", "x "),
    ],
)
def test_what_is_no_number_no_range_too_many_or_of_another_type_is_refused(
    default: Any, text: str, problem: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{problem}"):
        grid.parse_values(option(default), text)


def test_a_grid_with_more_settings_than_python_prints_is_refused() -> None:
    with pytest.raises(ParameterError, match=f"^{TOO_MANY}"):
        grid.check_size(10**5000)


def test_settings_are_all_combinations_each_once() -> None:
    settings = grid.grid_settings(OPTIONS, {"depth": [10, 20, 10], "k1": (1, 2.5)})
    assert [(setting["depth"], setting["k1"]) for setting in settings] == [
        (10, 1.0),
        (10, 2.5),
        (20, 1.0),
        (20, 2.5),
    ]
    assert all(isinstance(setting["k1"], float) for setting in settings)
    (numpy,) = grid.grid_settings(OPTIONS, {"k1": np.array([1.5]), "depth": np.array([5])})
    assert (type(numpy["k1"]), type(numpy["depth"])) == (float, int)  # as metadata can write them
    assert all((setting["multifield"], setting["stance"]) == (False, "NO") for setting in settings)
    assert grid.grid_settings(OPTIONS, {}) == [{name: setting.default for name, setting in OPTIONS.items()}]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        *((values, r"not a dictionary; .*\{'k1': \[0\.9\]\}") for values in (None, [{"k1": [1.0]}], "k1")),
        ({"k2": [1.0]}, "k2"),
        ({"k1": []}, "k1"),
        ({"k1": 1.0}, "k1"),
        ({"stance": "NO"}, "stance"),
        ({"k1": ["1"]}, "k1"),
        ({"k1": [[1.0]]}, "k1"),
        ({"k1": [float("nan")]}, "k1"),
        ({"k1": [1.0, float("inf")]}, "k1"),
        ({"depth": [True]}, "depth"),
        ({"multifield": [1]}, "multifield"),
        ({"stance": ["SECOND"]}, "stance"),
        ({"k1": map(float, range(101)), "depth": range(1, 101)}, "10,100 settings"),
    ],
)
def test_a_grid_that_no_baseline_can_run_is_refused(values: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        grid.grid_settings(OPTIONS, values)
