"""A baseline's options, as words on the command line and as Python values."""

from collections.abc import Mapping
from inspect import Parameter
from typing import Any, Literal, get_args, get_origin

from touche.errors import ParameterError, choice
from touche.io.identifiers import quoted


def as_arguments(options: Mapping[str, Any]) -> list[str]:
    """Returns options as words on the command line; a flag that is off becomes ``--no-NAME``."""
    words: list[str] = []
    for name, value in options.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, tuple):
            words += [f"--{option}", *map(str, value)]
        else:
            words += [f"--{option}", str(value)]
    return words


def checked(options: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of all options: those that were passed, and defaults for the others.

    Floats can be passed as int, and NumPy's numbers become Python's.

    Raises:
        ParameterError: if an option is unknown, or its value's type differs from its default's.
    """
    if not isinstance(values, Mapping):
        raise ParameterError(f"options = {quoted(values)}; pass a dictionary of values by option")
    unknown = sorted(values.keys() - options.keys(), key=str)
    if unknown:
        raise ParameterError(f"there is no option {unknown[0]!r}; {choice(str(unknown[0]), options)}")
    defaults = {name: option.default for name, option in options.items()}
    return defaults | {name: _checked_value(options[name], value) for name, value in values.items()}


def _checked_value(option: Parameter, value: Any) -> Any:
    if getattr(value, "ndim", None) == 0:  # a NumPy number
        value = value.item()
    if get_origin(option.annotation) is Literal:
        choices = get_args(option.annotation)
        if value not in choices:
            known = ", ".join(map(str, choices))
            raise ParameterError(f"{option.name} = {quoted(value)}; choose among {known}")
        return value
    kind = type(option.default)
    if option.annotation in (int, float):  # e.g. a float whose default is written as 1
        kind = option.annotation
    if kind is float and type(value) is int:
        return float(value)
    is_unwanted_bool = isinstance(value, bool) and kind is not bool  # isinstance considers a bool an int
    if is_unwanted_bool or not isinstance(value, kind):
        raise ParameterError(f"{option.name} = {quoted(value)}; pass a value of type {kind.__name__}")
    return value
