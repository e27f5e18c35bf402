"""The entries of an expected.toml, checked."""

import tomllib
from pathlib import Path
from typing import Any

from touche.baselines.loader import folder_of
from touche.errors import InputError
from touche.io.opening import decoded_lines
from touche.regression.checks import is_number
from touche.regression.kinds import GIVEN, KINDS, LARGEST, PINNED, Expected
from touche.tasks import datasets

EXPECTED_FILE = "expected.toml"
_REMEDY = "write entries like those in docs/organizer.md, section Expected scores"


def read_expected(baseline: str) -> list[Expected]:
    """The entries of a baseline's expected.toml, kind by kind.

    Args:
        baseline: its name, or the path of its folder.

    Raises:
        InputError: if the file is missing or broken, or an entry is incomplete or names what there is not.
    """
    path = folder_of(baseline) / EXPECTED_FILE
    if not path.is_file():
        raise InputError(path, "no such file", _REMEDY)
    try:
        content = tomllib.loads("".join(decoded_lines(path)))
    except ValueError as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error
    if not content or not content.keys() <= KINDS.keys() or not all(map(_is_table, content.values())):
        known = ", ".join(f"[[{name}]]" for name in KINDS)
        raise InputError(path, f"it does not hold entries ({known}) and nothing else", _REMEDY)
    return [
        _expected_of(kind, baseline, number, entry, path)
        for name, kind in KINDS.items()
        for number, entry in enumerate(content.get(name, ()))
    ]


def _expected_of(kind: type[Expected], baseline: str, number: int, entry: Any, path: Path) -> Expected:
    if problem := _problem(kind, entry):
        raise InputError(path, f"[[{kind.TABLE}]] number {number + 1} {problem}", _REMEDY)
    values = {name: value for name, value in entry.items() if name not in (*GIVEN, "digest")}
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in entry.get("options", {}).items()
    }
    how = next((each for each in GIVEN if each in entry), PINNED)
    key = kind.PINNED_AS if how == PINNED else how
    given = entry[key] if isinstance(entry[key], str) else float(entry[key])
    return kind(**values | {"options": options}, baseline=baseline, entry=number, kind=how, value=given)


def _problem(kind: type[Expected], entry: Any) -> str:
    """What is wrong with an entry, or nothing; a check that can never fail, or never pass, is no check."""
    if not isinstance(entry, dict):
        return "is no table"
    if unknown := entry.keys() - {"dataset", "options", *kind.KEYS}:
        return f"has an unknown key, {min(unknown)!r}"
    if entry.get("dataset") not in datasets():
        return f"names an unknown dataset, {entry.get('dataset')!r}"
    if not isinstance(options := entry.get("options", {}), dict) or not all(
        map(_are_options, options.values())
    ):
        return "needs options such as { k1 = 1.2 }"
    if "tolerance" in kind.KEYS and not is_number(entry.get("tolerance"), 1e-9, 1):
        return "needs a number above 0, and at most 1, as its tolerance"
    return kind.problem(entry)


def _are_options(value: Any) -> bool:
    return all(map(_is_option, value)) and bool(value) if isinstance(value, list) else _is_option(value)


def _is_option(value: Any) -> bool:
    """Whether it can be a word of the command line, and in JSON: no date, no nan, no number without end."""
    return isinstance(value, str | bool) or is_number(value, -LARGEST, LARGEST)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value)
