"""Outcomes of a bad input or a difficult call: a result, an error of one line, or a failure."""

import contextlib
import logging
import signal
import unicodedata
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from touche.errors import ToucheError
from touche.trec.runs import read_run

SECONDS = 20  # of processor time
MEMORY = 2 << 30  # bytes
PATIENCE = 4 * SECONDS  # wall time, because the machine may be loaded
RESULT = "result"
REFUSED = "one line"
ANSWERS = {"lint", "regress", "verify"}  # with exit code 1: a rule is broken, or something differs
REPAIR = "; repair it, or see all frames with --verbose\n"  # for a baseline whose code fails


def outcome_of_reader(read: Callable[[Path], Any], path: Path) -> str:
    """Reads a file; returns the outcome. An error that is not for users is raised."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("touche").addHandler(handler)
    outcome = RESULT
    try:
        read(path)
    except ToucheError as error:
        outcome = REFUSED
        messages.append(str(error))
    finally:
        logging.getLogger("touche").removeHandler(handler)
    return "message of several lines" if any(map(is_broken, messages)) else outcome


def is_broken(message: str) -> bool:
    """Returns whether a message would leave its line, or control the terminal."""
    return any(unicodedata.category(character) == "Cc" for character in message)


def outcome_of_command(code: int, output: str, run: Path, words: Collection[str] = ()) -> str:
    """Returns how a command ended, from its exit code, output and run.

    Exit code 1 is a result of some commands, and follows the frames of a faulty baseline. Otherwise Python or
    Java itself has ended.
    """
    lines = output.split("\n")[:-1]
    is_faulty = code == 1 and "run" in words and output.endswith(REPAIR)
    if "Traceback" in output and not is_faulty:
        return "traceback"
    if code in (137, -signal.SIGKILL):
        return f"longer than {PATIENCE} s"
    expected = {0: True, 1: is_faulty or not ANSWERS.isdisjoint(words), 2: _is_error(lines[-1:])}
    if not expected.get(code):
        return f"exit code {code}"
    if any(map(is_broken, lines)):
        return "message of several lines"
    if run.exists() and not (code == 0 and _is_whole(run)):
        return "run.txt not whole"
    return REFUSED if code == 2 or is_faulty else RESULT


def _is_whole(run: Path) -> bool:
    """Returns whether a file is a run, also without lines."""
    with contextlib.suppress(ToucheError):
        return not run.stat().st_size or bool(read_run(run))
    return False


def _is_error(lines: list[str]) -> bool:
    """Returns whether a line states the problem and, except for errors of the command line, the remedy."""
    return any(line.startswith("touche: ") or ("; " in line and ": " in line) for line in lines)
