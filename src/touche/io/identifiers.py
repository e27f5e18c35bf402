"""Identifiers, and values in error messages."""

import os
from collections.abc import Iterable
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from unicodedata import category

from touche.errors import InputError, ParameterError

LONGEST_WORD = 1000  # characters; real ids have about thirty, ids of sentence pairs sixty
NO_ID = f"use up to {LONGEST_WORD:,} characters without white space and control characters"
NO_TEXT = "use a text without white space, or a whole number"  # what to do about an id of another type
_LONGEST_QUOTE = 60  # characters of a value in an error
NO_TAG = "is empty, too long, or has white space or control characters; use one word, such as my-team-run-1"


def quoted(value: object) -> str:
    """Returns a value as errors show it: quoted and truncated."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..."


def as_id(value: object) -> object:
    """Returns a whole number as a text, also a float such as 1.0, which pandas makes of a column with gaps.

    Any other value is returned unchanged; larger floats are not exact.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return str(value) if is_whole or isinstance(value, str) else value  # text of numpy becomes Python's


def is_word(value: object) -> bool:
    """Returns whether a value fits a column of a run file: not too long, without white space and controls.

    Characters for private use are allowed, although Python does not print them.
    """
    # The blank is the only white space that ``isprintable`` accepts.
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_WORD or " " in value:
        return False
    if value.isprintable():  # fast
        return True
    return all(char.isprintable() or category(char) == "Co" for char in value)


def expanded(path: str | PathLike[str]) -> str:
    """Returns a path as text; ``~`` at its beginning becomes the user's home folder."""
    return os.path.expanduser(fspath(path))  # noqa: PTH111 (Path.expanduser raises without a home)


def name_or_path(parameter: str, value: object) -> str:
    """Returns the name or path of a baseline or dataset as text; errors name the parameter.

    Raises:
        ParameterError: if it is neither.
    """
    if not isinstance(value, str | PathLike):
        raise ParameterError(f"{parameter} = {quoted(value)}; pass a name or a path")
    return expanded(value)


def as_path(parameter: str, value: object) -> Path:
    """Returns the path of a file or folder; errors name the parameter.

    Raises:
        ParameterError: if it is not a path.
    """
    return Path(name_or_path(parameter, value))


def optional_path(parameter: str, value: object) -> Path | None:
    """Returns the path of a file or folder, or None for None, as ``as_path`` does."""
    return None if value is None else as_path(parameter, value)


def baseline_names(baselines: str | PathLike[str] | Iterable[object]) -> list[str]:
    """Returns the name or path of one baseline, or of several, as texts.

    Raises:
        ParameterError: if one is neither.
    """
    if isinstance(baselines, str | PathLike):
        baselines = [baselines]
    return [name_or_path("baseline", baseline) for baseline in baselines]


def dataset_name(dataset: object) -> str:
    """Returns the path or id of a dataset as text; a relative path object begins with ``./``, unlike an id.

    Raises:
        ParameterError: if it is neither.
    """
    text = name_or_path("dataset", dataset)
    return os.path.join(os.curdir, text) if isinstance(dataset, PathLike) else text  # noqa: PTH118 (keeps ./)


def check_path(path: str | PathLike[str]) -> None:
    """Checks that a file can have this path.

    Raises:
        InputError: if the path has a NUL or a character that file names cannot encode.
    """
    try:
        is_possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise InputError(fspath(path), "no file can have this name", "remove its NUL or lone surrogate")


def check_tag(tag: object) -> None:
    """Checks the last column of a run.

    Raises:
        ParameterError: if it is not one word.
    """
    if not is_word(tag):
        raise ParameterError(f"the tag {quoted(tag)} {NO_TAG}")


def check_new_id(value: str, noun: str, seen: set[str], path: Path | str, line: int | None = None) -> str:
    """Returns an id that fits a run file (printable, without white space) and is new; adds it to ``seen``.

    Args:
        value: the id.
        noun: the noun for what it identifies, such as ``topic``.
        seen: earlier ids.
        path, line: file and line, for errors.

    Raises:
        InputError: if it does not fit, or is not new.
    """
    if not is_word(value):
        problem = f"{noun} {quoted(value)} is empty, too long, or has white space or control characters"
        raise InputError(path, problem, "choose another id", line=line)
    if value in seen:
        raise InputError(path, f"{noun} {value!r} occurs a second time", "remove one of the two", line=line)
    seen.add(value)
    return value
