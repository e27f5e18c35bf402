"""What becomes of an input or of a call: a result, an error of one line, or a failure."""

import contextlib
import os
import signal
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from touche.errors import ToucheError
from touche.formats.runs import read_run

ROOT = Path(__file__).parents[2]
SECONDS, MEMORY = 20, 2 << 30  # of a processor, and bytes
PATIENCE = 4 * SECONDS  # by the clock, as the machine may have other things to do
RESULT, REFUSED = "result", "one line"
ANSWERS = {"lint", "regress", "verify"}  # with 1, where a rule is broken or something differs
REPAIR = "; repair it, or see all frames with --verbose\n"  # of a baseline whose code fails
PROCESSES = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Outcome:
    """What became of an input.

    Attributes:
        name: what read it.
        number: of the case.
        mutations: what was wrong with it.
        ended: ``result``, ``one line``, or how it failed.
        message: the error, or the end of what was said.
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
    """Whether a message would not stay on its line, or would do something to a terminal."""
    return any(unicodedata.category(each) == "Cc" for each in message)


def ending(code: int, said: str, run: Path, words: Collection[str] = ()) -> str:
    """How a command ended, by its exit code, what it said, and the run that it left.

    Exit code 1 is an answer of some commands, and what follows the frames of a faulty baseline; else it is
    Python or Java that ended.
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
    """Whether it is a run; one without a line is one, too."""
    with contextlib.suppress(ToucheError):
        return not run.stat().st_size or bool(read_run(run))
    return False


def _is_error(lines: list[str]) -> bool:
    """Whether a line says what is wrong and, unless it is about the command line, what to do."""
    return any(line.startswith("touche: ") or ("; " in line and ": " in line) for line in lines)
