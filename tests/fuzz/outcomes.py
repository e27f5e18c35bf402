"""What becomes of an input or of a call: a result, an error of one line, or a failure; and tables of it."""

import contextlib
import os
import platform
import signal
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from touche.errors import ToucheError
from touche.formats.runs import read_run

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "internals.md"
BEGIN, END = "<!-- what was tried: made by make fuzz -->\n", "<!-- end of what was tried -->"
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
        seconds: of a processor that it took.
        memory: the peak, bytes.
    """

    name: str
    number: int
    mutations: str
    ended: str
    message: str = ""
    seconds: float = 0
    memory: int = 0

    @property
    def failed(self) -> bool:
        return self.ended not in (RESULT, REFUSED, "skipped")


def is_broken(message: str) -> bool:
    """Whether a message would not stay on its line, or would do something to a terminal."""
    return any(unicodedata.category(each) == "Cc" for each in message)


def ending(
    code: int, said: str, run: Path, words: Collection[str] = (), memory: int = 0, seconds: float = 0
) -> str:
    """How a command ended, by its exit code, what it said, the run that it left and what it took.

    Exit code 1 is an answer of some commands, and what follows the frames of a faulty baseline; else it is
    Python or Java that ended.
    """
    lines = said.split("\n")[:-1]
    faulty = code == 1 and "run" in words and said.endswith(REPAIR)
    if "Traceback" in said and not faulty:
        return "traceback"
    if seconds > SECONDS or code in (137, -signal.SIGKILL):
        return f"longer than {SECONDS} s"
    if memory > MEMORY:
        return "memory"
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


def page_of(read: Sequence[Outcome], around: Sequence[Outcome], seed: int) -> str:
    """Returns tables of what bad inputs and bad surroundings led to, with when and where they were made."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT
    )
    machine = f"{PROCESSES} processors, {platform.system()}, Python {platform.python_version()}"
    counts = Counter(name for each in read for name in each.mutations.split(", "))
    return "\n".join(
        [
            f"Made on {datetime.now(UTC):%Y-%m-%d} from commit {commit.stdout.strip() or 'unknown'}, "
            f"with seed {seed}, on {machine}.\n",
            *(_table(first, outcomes) for first, outcomes in (("read by", read), ("around a run", around))),
            f"Each is to end in a result or in an error of one line within {SECONDS} s of a processor and "
            f"{MEMORY >> 30} GiB; the peak of a reader includes the process that it is forked from.",
            "What was wrong with the inputs, one to three things each: "
            f"{', '.join(f'{name} {count}' for name, count in counts.most_common())}.\n",
        ]
    )


def write(page: str) -> None:
    """Puts the tables between their marks in the guide."""
    before, begin, rest = GUIDE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"{GUIDE} has no place for the tables: {BEGIN.strip()} and {END}"
    GUIDE.write_text(f"{before}{begin}\n{page}\n{end}{after}", encoding="utf-8")


def _table(first: str, outcomes: Sequence[Outcome]) -> str:
    header = (first, "tried", "a result", "one line", "failed", "skipped", "slowest", "largest")
    lines = [header, ["---"] * len(header)] if outcomes else []
    for name in dict.fromkeys(each.name for each in outcomes):
        lines.append(_row(name, [each for each in outcomes if each.name == name]))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    ends = [each.ended for each in outcomes]
    counts = len(ends), ends.count(RESULT), ends.count(REFUSED), sum(each.failed for each in outcomes)
    seconds, memory = max(each.seconds for each in outcomes), max(each.memory for each in outcomes)
    measured = [f"{seconds:.1f} s" if seconds else "", f"{memory / 1e6:.0f} MB" if memory else ""]
    return [name, *map(str, counts), str(ends.count("skipped")), *measured]
