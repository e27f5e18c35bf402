"""A baseline's own options: as words of the command line, and as values that Python gives."""

from collections.abc import Mapping
from inspect import Parameter
from typing import Any, Literal, get_args, get_origin

from touche.errors import ParameterError, choice
from touche.io.identifiers import quoted


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of the command line; a flag that is off becomes ``--no-``."""
    words: list[str] = []
    for name, value in options.items():
        words.append(f"--{'no-' if value is False else ''}{name.replace('_', '-')}")
        if not isinstance(value, bool):
            words += map(str, value if isinstance(value, tuple) else [value])
    return words


def checked(options: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for all options: those given, and the defaults of the others.

    Args:
        options: what there is.
        given: values by name; a whole number will do where the default is a float.

    Raises:
        ParameterError: if there is no such option, or its value is not of the kind of its default.
    """
    for name in given.keys() - options.keys():
        raise ParameterError(f"there is no option {name!r}; {choice(name, options)}")
    defaults = {name: each.default for name, each in options.items()}
    return defaults | {name: _value(options[name], value) for name, value in given.items()}


def _value(option: Parameter, value: Any) -> Any:
    kind, choices = type(option.default), get_args(option.annotation)
    if get_origin(option.annotation) is Literal:
        if value not in choices:
            known = ", ".join(map(str, choices))
            raise ParameterError(f"{option.name} = {quoted(value)}; choose among {known}")
        return value
    if kind is float and type(value) is int:
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ParameterError(f"{option.name} = {quoted(value)}; give it a value of type {kind.__name__}")
    return value
