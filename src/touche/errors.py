"""Errors and warnings with one-sentence messages.

The command line prints the message on one line; after an error, its exit code is 2.
"""

import logging
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from textwrap import shorten
from typing import Any

_log = logging.getLogger(__name__)


class ToucheError(Exception):
    """An error that users can fix. The message states the problem, then the remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

    def __reduce__(self) -> Any:
        """Tells pickle to restore an error without calling ``__init__``, because its parameters differ
        between subclasses.
        """
        return Exception.__new__, (type(self), *self.args), vars(self)


class ToucheWarning(UserWarning):
    """A warning about data or results that can be used, but may not be what the user wanted."""


class InputError(ToucheError):
    """A file or folder can't be used. The message reads ``FILE:LINE: problem; remedy``.

    ``:LINE`` is left out if the problem concerns the whole file.

    Attributes:
        path: the file or folder.
        problem: the problem, without the file.
        remedy: what to do about it.
        line: the line number; None for the whole file.
    """

    def __init__(self, path: Path | str, problem: str, remedy: str, line: int | None = None) -> None:
        self.path = path
        self.problem = problem
        self.remedy = remedy
        self.line = line
        position = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{position}: {problem}; {remedy}")


class ParameterError(ToucheError):
    """A parameter is outside the range for which its formula is defined."""


class UnsuitableInputError(ToucheError):
    """A baseline can't rank this kind of input, for example because the documents aren't images.

    ``touche run all`` then says that the baseline doesn't fit the input, instead of reporting a failure.
    """


class NotInstalledError(ToucheError):
    """An optional dependency is not installed."""


class MissingDataError(ToucheError):
    """A data file is in none of the folders that were searched."""


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Checks that a baseline's option is within its range.

    Args:
        name: the option's name.
        value: its value.
        least: the smallest valid value.
        most: the largest valid value.

    Raises:
        ParameterError: if the value is not a number, or out of range.

    Examples:
        >>> import touche
        >>> touche.check_range("b", 0.4, 0, 1)
        >>> touche.check_range("b", 2, 0, 1)
        Traceback (most recent call last):
        touche.errors.ParameterError: b = 2 is out of range; choose a number from 0 to 1
    """
    for bound in (least, most):
        if not isinstance(bound, Real):
            raise ParameterError(f"the range of {name} ends at {bound!r}; pass a number")
    remedy = f"choose a number from {least:g} to {most:g}"
    if not isinstance(value, Real):
        raise ParameterError(f"{name} = {value!r} is not a number; {remedy}")
    if not least <= value <= most:
        raise ParameterError(f"{name} = {value:g} is out of range; {remedy}")


def check_whole(name: str, value: int, least: int, most: int) -> None:
    """Like ``check_range``, but also rejects numbers that are not whole."""
    check_range(name, value, least, most)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ParameterError(f"{name} = {value!r} is not a whole number; choose one from {least} to {most}")


def one_line(text: str) -> str:
    """Escapes line breaks and control characters, which file names may contain."""
    # The repr of a line break is \n in quotes.
    return "".join(char if char.isprintable() else repr(char).strip("'") for char in text)


def described(error: Exception) -> str:
    """Returns an error's message. If the error is a bug, its type is put before the message, and its
    traceback is logged, which --verbose shows.
    """
    if isinstance(error, ToucheError):
        return str(error)
    _log.debug("%s", "".join(traceback.format_exception(error)))
    return one_line(f"{type(error).__name__}: {' '.join(str(error).split())}")


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun, such as ``1 run`` or ``2,000 runs``."""
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def listed(names: Sequence[str]) -> str:
    """Returns names as they are listed in a sentence, such as ``a, b and c``."""
    beginning = [", ".join(names[:-1])] if len(names) > 1 else []
    return " and ".join([*beginning, *names[-1:]])


def check_choice(what: str, name: object, known: Iterable[str]) -> None:
    """Raises a ParameterError if a name is not known. ``what`` says what kind of thing is named, such as
    ``method``.
    """
    if not isinstance(name, str) or name not in known:
        # If it isn't a string, use an empty one, so that no similar name is suggested.
        text = name if isinstance(name, str) else ""
        raise ParameterError(f"there is no {what} {shorten(repr(name), 60)}; {choice(text, known)}")


def choice(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Returns a suggestion for an unknown name: a known name that starts with it, or else a similar name. If
    there is none, returns ``otherwise``, or, if that is empty, a list of all known names.
    """
    known = list(known)
    completions = [other for other in known if name and other.lower().startswith(name.lower())]
    # 0.7: about seven of ten letters agree.
    suggestions = completions or get_close_matches(name, known, n=1, cutoff=0.7)
    if suggestions:
        return f"did you mean {suggestions[0]}?"
    return otherwise or f"choose among {', '.join(known)}."


def warn(text: str) -> None:
    """Issues a warning that points to the user's line that called touche. Frames in touche and in ``logging``
    are skipped.
    """
    frame = sys._getframe()
    level = 1  # 1 stands for this function, and each skipped frame adds 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("touche", "logging"):
        frame = frame.f_back
        level += 1
    warnings.warn(one_line(text), ToucheWarning, stacklevel=level)


class _AsWarnings(logging.Handler):
    """Turns log messages into Python warnings. The command line replaces this handler with its own."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


logging.getLogger("touche").addHandler(_AsWarnings(logging.WARNING))
