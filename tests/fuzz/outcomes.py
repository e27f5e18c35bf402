"""Outcomes of an input or a call: a result, an error of one line, or a failure."""

import contextlib
import os
import signal
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from touche.errors import ToucheError
from touche.trec.runs import read_run

ROOT = Path(__file__).parents[2]
SECONDS, MEMORY = 20, 2 << 30  # of processor time, and bytes
PATIENCE = 4 * SECONDS  # wall time, because the machine may be loaded
RESULT, REFUSED = "result", "one line"
ANSWERS = {"lint", "regress", "verify"}  # with exit code 1: a rule is broken, or something differs
REPAIR = "; repair it, or see all frames with --verbose\n"  # for a baseline whose code fails
PROCESSES = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input.

    Attributes:
        name: the reader or command.
        number: the number of the case.
        mutations: the mutations of the input.
        ended: ``result``, ``one line``, or the kind of failure.
        message: the error, or the end of the output.
    """

    name: str
    number: int
    mutations: str
    ended: str
    message: str = ""

    @property
    def failed(self) -> bool:
        return self.ended not in (RESULT, REFUSED, "skipped")


def is_broken(message: str) -> bool:
    """Returns whether a message would leave its line, or control the terminal."""
    return any(unicodedata.category(each) == "Cc" for each in message)


def ending(code: int, said: str, run: Path, words: Collection[str] = ()) -> str:
    """Returns how a command ended, from its exit code, output and run.

    Exit code 1 is a result of some commands, and follows the frames of a faulty baseline. Otherwise Python or
    Java itself has ended.
    """
    lines = said.split("\n")[:-1]
    faulty = code == 1 and "run" in words and said.endswith(REPAIR)
    if "Traceback" in said and not faulty:
        return "traceback"
    if code in (137, -signal.SIGKILL):
        return f"longer than {PATIENCE} s"
    expected = {0: True, 1: faulty or not ANSWERS.isdisjoint(words), 2: _is_error(lines[-1:])}
    if not expected.get(code):
        return f"exit code {code}"
    if any(map(is_broken, lines)):
        return "message of several lines"
    if run.exists() and not (code == 0 and _is_whole(run)):
        return "run.txt not whole"
    return REFUSED if code == 2 or faulty else RESULT


def _is_whole(run: Path) -> bool:
    """Returns whether a file is a run, also without lines."""
    with contextlib.suppress(ToucheError):
        return not run.stat().st_size or bool(read_run(run))
    return False


def _is_error(lines: list[str]) -> bool:
    """Returns whether a line states the problem and, except for errors of the command line, the remedy."""
    return any(line.startswith("touche: ") or ("; " in line and ": " in line) for line in lines)
