"""Writes a new baseline's folder: ``my-team/``, with some files from ``my-pairs/`` for pairs.

In a clone's folder ``baselines/``, it writes ``my-method/``, as CONTRIBUTING asks for.
"""

import builtins
import re
from keyword import kwlist
from pathlib import Path

from touche.errors import InputError, ToucheError
from touche.io.origin import clone

_EXAMPLE = "my-team"  # in all files, the new name replaces it, also in the function's name, my_team
_CONTRIBUTED = "my-method"  # an example in the form of this repository's baselines
_PAIRS = "my-pairs"  # its files replace the example's, for a baseline that ranks pairs of sentences
_METHOD = "BM25 with English stems, the same as in\nthe baseline `bm25`."  # in the example's README
_METHOD_OF_PAIRS = "DirichletLM's pairs of sentences,\nthose with a short sentence last."
ARGUMENTS = "arguments"
PARTS = (ARGUMENTS, "passages", "pairs")
"""The parts of the toy collection that a new baseline can be for."""
_BASE = "touche/base"
_FILES = (
    "Dockerfile",
    "README.md",
    "expected.toml",
    "test_baseline.py",
    "ruff.toml",
    ".github/workflows/check.yml",
    ".gitignore",
    "baseline.py",  # last: without it, the folder is no baseline yet
)
_CONTRIBUTED_TEST = "test_my_method.py"
_CONTRIBUTED_FILES = ("Dockerfile", "README.md", "expected.toml", "baseline.py")
# Names that the function can't have: Python's, and those in baseline.py (without capitals).
_OF_BASELINE = (
    "baseline check_range conclusion_of likelihood np pairs premises_of scan short_ones_last".split()
)
_TAKEN = {*_OF_BASELINE, *dir(builtins), *kwlist}


def is_contributed(folder: Path) -> bool:
    """Returns whether a new folder is among the baselines of the clone that touche was installed from."""
    root = clone()
    return root is not None and folder.resolve().parent == root / "baselines"


def test_file(folder: Path) -> Path:
    """Returns the test file for a baseline that is contributed to the clone."""
    return folder.resolve().parents[1] / "tests" / "baselines" / f"test_{_function_name(folder)}.py"


def _function_name(folder: Path) -> str:
    return re.sub(r"\W", "_", folder.resolve().name)


def write_baseline(folder: Path, base: str = _BASE, team: str = "", part: str = ARGUMENTS) -> None:
    """Writes a new baseline into a missing or empty folder, which gives image and function their name.

    baseline.py is written last. If it is missing after an error, empty the folder and try again. A baseline
    in the clone's folder ``baselines/`` gets a test in ``tests/baselines/``, and doesn't need a team.

    Args:
        team: the team that submits runs; empty for none.
        part: one of ``PARTS``, for the texts; ``pairs`` for a baseline that ranks pairs of sentences.

    Raises:
        InputError: if the folder can't be used, or its name is not a valid function name.
        ToucheError: if the team is blank or not printable.
    """
    is_blank = team != "" and not team.strip()
    if is_blank or not team.isprintable():
        raise ToucheError(f"--team {team!r} is blank or not printable; write the name of your team at TIRA")
    _check_new(folder)
    target = folder.resolve()
    example = _EXAMPLE
    paths = {name: target / name for name in _FILES}
    if is_contributed(target):
        if team or part != ARGUMENTS:
            problem = "a baseline of this repository has no team and no part"
            raise ToucheError(f"{problem}; omit --team and --part, or name a folder outside of baselines/")
        test = test_file(target)
        if test.exists():
            raise InputError(test, "this file exists already", "choose another name, or remove it")
        example = _CONTRIBUTED
        paths = {_CONTRIBUTED_TEST: test} | {name: target / name for name in _CONTRIBUTED_FILES}
    new_names = {example: target.name, example.replace("-", "_"): _function_name(folder)}
    try:
        for name, path in paths.items():
            # Both at once, because a new name may contain the other example's.
            text = re.sub("|".join(new_names), lambda match: new_names[match[0]], _text(example, name, part))
            if name == "Dockerfile":
                text = text.replace(f"ARG BASE={_BASE}\n", f"ARG BASE={base}\n")
                text = text.replace("ARG TEAM=\n", f"ARG TEAM={_quoted_for_dockerfile(team)}\n")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise InputError(folder, problem, "choose another place") from error


def _check_new(folder: Path) -> None:
    """Checks that a new baseline's folder can be made, and that its name can become a function's."""
    target = folder.resolve()
    function = _function_name(folder)
    if not function.isidentifier() or function in _TAKEN:
        problem = f"{function} is not a valid name of its Python function"
        raise InputError(folder, problem, "choose another name that begins with a letter")
    if not target.parent.is_dir():
        raise InputError(folder, f"the folder {folder.parent} does not exist", "make it first")
    is_empty_folder = target.is_dir() and not any(target.iterdir())
    if target.exists() and not is_empty_folder:
        raise InputError(folder, "this path exists already", "choose another name, or remove it")


def _text(example: str, name: str, part: str) -> str:
    """Returns the text of an example's file for a part of the toy collection."""
    source = Path(__file__).parent / _PAIRS / name
    if part != "pairs" or not source.exists():
        source = Path(__file__).parent / example / name
    text = source.read_text(encoding="utf-8")
    if name.endswith((".md", ".yml")):  # the other files are for several parts
        text = text.replace(f"spot-check/{ARGUMENTS}", f"spot-check/{part}")
    if part == "pairs":
        text = text.replace(_METHOD, _METHOD_OF_PAIRS).replace("--b 0.75", "--shortest 20")
    return text


def _quoted_for_dockerfile(value: str) -> str:
    """Quotes a printable value for a Dockerfile if necessary; there, a dollar sign would start a variable."""
    if re.fullmatch(r"[\w.-]*", value, re.ASCII):
        return value
    escaped = re.sub(r'([\\"$])', r"\\\1", value)
    return f'"{escaped}"'
