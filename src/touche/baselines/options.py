"""A baseline's own options, as words of the command line."""

from collections.abc import Mapping
from typing import Any


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of the command line; a flag that is off becomes ``--no-``."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return [
        word
        for name, value in given.items()
        for word in (f"--{'no-' if value is False else ''}{name}", *_words(value))
    ]


def _words(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [str(each) for each in value]
    return [] if isinstance(value, bool) else [str(value)]
