"""Errors that are sentences: the command line prints them as its one line and exits with 2."""

from pathlib import Path


class ToucheError(Exception):
    """Something the user can put right; the message says what is wrong and what to do."""


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


class NotAtHandError(ToucheError):
    """A data file that is nowhere to be found."""
