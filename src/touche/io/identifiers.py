"""Ids, paths and tags, and how error messages quote values."""

import os
from collections.abc import Collection, Iterable
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias, TypeGuard
from unicodedata import category

from touche.errors import InputError, ParameterError

AnyPath: TypeAlias = str | PathLike[str]
LONGEST_WORD = 1000  # characters; real ids have about thirty, sentence pairs sixty
NO_ID = f"use up to {LONGEST_WORD:,} characters without white space and control characters"
NO_TEXT = "use a text without white space, or a whole number"  # remedy for ids of another type
_LONGEST_QUOTE = 60  # characters
NO_TAG = "is empty, too long, or has white space or control characters; use one word, such as my-team-run-1"


def quoted(value: object) -> str:
    """Returns a value as error messages show it: its repr, truncated."""
    try:
        text = repr(value)
    except ValueError:  # an integer with too many digits to print
        text = f"of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..."


def as_id(value: object) -> object:
    """Turns whole numbers into strings, even floats such as 1.0: pandas makes them when a column has gaps.

    Other values are returned unchanged, as are floats from 2^53 up, which are not exact.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return str(value) if is_whole or isinstance(value, str) else value  # str() also converts numpy's strings


def is_word(value: object) -> bool:
    """Returns whether a value can be a column of a run: not too long, no whitespace or control characters.

    Private-use characters are allowed, although Python calls them unprintable.
    """
    # The blank is the only whitespace that ``isprintable`` accepts.
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_WORD or " " in value:
        return False
    if value.isprintable():  # fast
        return True
    return all(char.isprintable() or category(char) == "Co" for char in value)


def in_order(number: str) -> tuple[int, str]:
    """Returns a sort key that puts topic 2 before topic 10."""
    return len(number), number


def is_path(value: object) -> TypeGuard[AnyPath]:
    """Returns whether a value is a path: a string, or an object that stands for one, but not for bytes."""
    return isinstance(value, str) or (isinstance(value, PathLike) and isinstance(fspath(value), str))


def expanded(path: AnyPath) -> str:
    """Returns the path as a string, with a leading ``~`` replaced by the home folder."""
    return os.path.expanduser(fspath(path))  # noqa: PTH111 (Path.expanduser raises without a home)


def name_or_path(parameter: str, value: object) -> str:
    """Returns a baseline's or dataset's name or path as a string. Errors start with ``parameter``."""
    if not is_path(value):
        raise ParameterError(f"{parameter} = {quoted(value)}; pass a name or a path")
    return expanded(value)


def check_text(parameter: str, value: object) -> None:
    """Checks that a parameter of a public function is a text."""
    if not isinstance(value, str):
        raise ParameterError(f"{parameter} = {quoted(value)} is not a text; pass a text")


def as_path(parameter: str, value: object) -> Path:
    """Returns a file or folder as a Path. Errors start with ``parameter``."""
    path = name_or_path(parameter, value)
    check_path(path)
    return Path(path)


def optional_path(parameter: str, value: object) -> Path | None:
    """Like ``as_path``, but accepts None."""
    return None if value is None else as_path(parameter, value)


def names_or_paths(parameter: str, values: object) -> list[str]:
    """Returns names or paths as a list of strings; a single one is accepted too.

    Args:
        parameter: what one of them is called in errors.
        values: a name or path, or several.
    """
    if is_path(values):
        return [expanded(values)]
    if not isinstance(values, Iterable) or isinstance(values, bytes):
        raise ParameterError(f"{parameter} = {quoted(values)}; pass a name or a path, or a list of them")
    return [name_or_path(parameter, value) for value in values]


def dataset_name(dataset: object) -> str:
    """Returns a dataset's id or path as a string. A relative Path gets ``./``, which tells it from an id."""
    text = name_or_path("dataset", dataset)
    return os.path.join(os.curdir, text) if isinstance(dataset, PathLike) else text  # noqa: PTH118 (keeps ./)


def check_path(path: AnyPath) -> None:
    """Raises an InputError if the path contains a NUL, or a character that file names can't encode."""
    try:
        is_possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise InputError(fspath(path), "no file can have this name", "remove its NUL or lone surrogate")


def check_tag(tag: object) -> None:
    """Checks a run's tag."""
    if not is_word(tag):
        raise ParameterError(f"the tag {quoted(tag)} {NO_TAG}")


def check_new_id(value: str, noun: str, seen: set[str], path: Path | str, line: int | None = None) -> str:
    """Checks that an id fits a run file and is new, adds it to ``seen``, and returns it.

    Args:
        noun: what it identifies, such as ``topic``.
        path, line: file and line, for errors.
    """
    if not is_word(value):
        problem = f"{noun} {quoted(value)} is empty, too long, or has white space or control characters"
        raise InputError(path, problem, "choose another id", line=line)
    if value in seen:
        raise InputError(path, f"{noun} {value!r} occurs a second time", "remove one of the two", line=line)
    seen.add(value)
    return value


def numbered(name: str, taken: Collection[str]) -> str:
    """Returns a name that isn't taken: the name itself, or ``NAME (2)`` or the like."""
    free = name
    number = 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
