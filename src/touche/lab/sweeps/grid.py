"""A grid of settings: the values to try for each option of a baseline."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from inspect import Parameter
from itertools import product
from math import floor, isfinite, prod
from typing import Any

from touche.baselines.baseline_options import checked
from touche.errors import ParameterError
from touche.io.identifiers import quoted

MOST_SETTINGS = 10_000  # in one grid
_MAX_NUMBER = 10**18  # a user wouldn't type more
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def grid_settings(
    options: Mapping[str, Parameter], grid: Mapping[str, Iterable[Any]]
) -> list[dict[str, Any]]:
    """Returns a mapping of all options per cell of the grid. The last option varies fastest.

    Args:
        options: a baseline's options by name.
        grid: the values of some options by name; the others keep their defaults.

    Raises:
        ParameterError: if the grid isn't a dictionary, an option doesn't exist or has no value, a value has
            the wrong type or isn't finite, or there are too many settings.
    """
    if not isinstance(grid, Mapping):
        example = {
            name: [option.default] for name, option in [*options.items()][:1]
        }  # {} if there are no options
        raise ParameterError(
            f"the grid {quoted(grid)} is not a dictionary; pass lists of values by option, such as {example}"
        )
    distinct = {name: _distinct_values(options, name, values) for name, values in grid.items()}
    check_size(prod(map(len, distinct.values())))
    return [checked(options, dict(zip(distinct, cell, strict=True))) for cell in product(*distinct.values())]


def _distinct_values(options: Mapping[str, Parameter], name: str, values: Iterable[Any]) -> list[Any]:
    """Returns an option's values without duplicates."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(
            f"{name} = {values!r} is not a list of values; pass a list, such as [{values!r}]"
        )
    converted = [checked(options, {name: value})[name] for value in values]
    for value in converted:
        if isinstance(value, float) and not isfinite(value):
            raise ParameterError(f"{name} = {value}; use finite numbers")
    if not converted:
        raise ParameterError(f"{name} has no value; pass at least one, or omit the option")
    return list(dict.fromkeys(converted))


def check_size(number: int | Decimal) -> None:
    """Raises a ParameterError with the number of settings if a grid is too large."""
    if number >= MOST_SETTINGS + 1:
        # Python doesn't print numbers with more than 4,300 digits.
        size = f"{floor(number):,}" if number < _MAX_NUMBER else f"at least {_MAX_NUMBER:,}"
        raise ParameterError(
            f"the grid has {size} settings, but at most {MOST_SETTINGS:,} are allowed; use larger steps"
        )


def parse_values(option: Parameter, text: str) -> list[Any]:
    """Parses an option's values, such as ``0.2,0.4`` or ``0.6:1.6:0.2``, which includes both ends.

    Args:
        option: the option.
        text: values separated by commas; numbers can also be ranges ``FIRST:LAST:STEP``.

    Raises:
        ParameterError: if a value has the wrong type, or a range never reaches its end.
    """
    kind = _kind(option)
    if kind is tuple:
        raise ParameterError(f"{option.name} takes a tuple, which cannot be swept; omit it")
    parts = [part.strip() for part in text.split(",")]
    if kind in (int, float):
        return [kind(number) for part in parts for number in _numbers(option, part)]
    if kind is bool:
        for part in parts:
            if part.lower() not in _FLAGS:
                raise ParameterError(f"{option.name} = {quoted(part)}; choose among {', '.join(_FLAGS)}")
        return [_FLAGS[part.lower()] for part in parts]
    return parts  # the option is a string


def _kind(option: Parameter) -> type[Any]:
    """Returns the type of an option's values. A float's default may be written as 1."""
    return float if option.annotation is float else type(option.default)


def _numbers(option: Parameter, part: str) -> Iterator[Decimal]:
    """Yields a number, or a range's numbers, as decimals, so that 0.6 + 0.2 is 0.8.

    Raises:
        ParameterError: if the text is neither a number nor a range, the range is empty or too large, or the
            option needs whole numbers and gets others.
    """
    problem = f"{option.name} = {quoted(part)}"
    limits = part.split(":") if ":" in part else [part, part, "1"]  # a number is a range to itself
    try:
        first, last, step = map(Decimal, limits)
        is_range = all(number.is_finite() and abs(number) < _MAX_NUMBER for number in (first, last, step))
        steps_to_last = (last - first) / step
    except (ArithmeticError, ValueError):  # not a number, neither one nor three numbers, or a step of 0
        is_range = False
    if not is_range:
        remedy = "write a number, or a range as FIRST:LAST:STEP, such as 0.2:1:0.2"
        raise ParameterError(f"{problem} is neither a finite number nor a range of them; {remedy}")
    if steps_to_last < 0:
        raise ParameterError(f"{problem} is an empty range; write a STEP that leads from FIRST to LAST")
    check_size(steps_to_last + 1)
    for index in range(floor(steps_to_last) + 1):
        number = first + index * step
        if _kind(option) is int and number != number.to_integral_value():
            raise ParameterError(f"{problem} has the value {number}; write whole numbers")
        yield number
