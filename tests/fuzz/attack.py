"""Throws bad inputs at every reader and at every command, and counts what becomes of them.

make fuzz    # all of it; writes the tables in docs/internals.md

Each input ends in a result, or in an error of one line. What fails is kept in build/fuzz/.
"""

import argparse
import json
import logging
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from pathlib import Path
from random import Random

import outcomes
import surroundings
from inputs import ODD_NAMES, misplace, spoilt
from outcomes import MEMORY, PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, SECONDS, Outcome, ending, is_broken
from readers import COMMANDS, READERS, Target

from conftest import left_in
from touche.errors import ToucheError

KEPT = ROOT / "build" / "fuzz"


@dataclass(frozen=True)
class Case:
    """A bad input: what is to read it, and the number that it is made from."""

    number: int
    name: str

    @property
    def target(self) -> Target:
        return READERS.get(self.name) or COMMANDS[self.name]

    @property
    def place(self) -> Path:
        kind = "reader" if self.name in READERS else "command"  # which are numbered alike, and tried at once
        return Path(tempfile.gettempdir()) / f"{kind}-{self.number}"

    @cached_property
    def prepared(self) -> tuple[Path, str]:
        """The folder of the files, once they are written, and what is wrong with one of them."""
        random, target = Random(f"{self.name} {self.number}"), self.target
        shutil.rmtree(self.place, ignore_errors=True)
        content, mutations = spoilt(target.content, random)
        odd = random.random() < 0.05
        folder = self.place / (random.choice(ODD_NAMES) if odd else "in")
        for name, each in {**target.others, target.file: content}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(each)
        if random.random() < 0.03:
            mutations = misplace(path, random)
        return folder, f"{mutations}, an odd name" if odd else mutations

    @property
    def words(self) -> list[str]:
        """The arguments of a command; none of a reader."""
        folders = {"IN": self.prepared[0], "OUT": self.place / "out"}
        words = self.target.read.split() if isinstance(self.target.read, str) else []
        for name, folder in folders.items():
            words = [word.replace(name, str(folder)) for word in words]
        return words


def attack(cases: Iterable[Case]) -> Iterator[Outcome]:
    """Tries each case in a process of its own, several at once."""
    running: dict[int, Case] = {}
    for case in cases:
        if len(running) == PROCESSES:
            yield _ended(running)
        case.prepared  # noqa: B018 - here, so that children share what is made once
        running[_start(case)] = case
    while running:
        yield _ended(running)


def _start(case: Case) -> int:
    """Returns the id of a process that tries a case, and leaves what it says in a file."""
    if child := os.fork():
        return child
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        folder, target = case.prepared[0], case.target
        if not isinstance(target.read, str):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            (case.place / "said").write_text(json.dumps(_read(target, folder / target.file)))
            os._exit(0)
        (temporary := case.place / "tmp").mkdir()
        said = os.open(case.place / "said", os.O_RDWR | os.O_CREAT)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
            os.dup2(file, number)
        os.chdir(ROOT)
        os.environ |= {
            "TMPDIR": str(temporary), "TOUCHE_DATA": str(folder), "XDG_CACHE_HOME": str(case.place / "out"),
        }  # fmt: skip
        command = ["timeout", "--signal=KILL", str(PATIENCE), sys.executable, "-m", "touche", *case.words]
        os.execvp(command[0], command)
    finally:
        os._exit(1)


def _read(target: Target, path: Path) -> tuple[str, str]:
    """Returns how a reader ended, and its error or traceback."""
    logged = _Logged()
    logging.getLogger("touche").addHandler(logged)
    try:
        target.read(path)
        ended, message = RESULT, ""
    except ToucheError as error:
        ended, message = REFUSED, str(error)
    except BaseException:
        return "traceback", traceback.format_exc()
    if bad := next(filter(is_broken, [message, *logged.lines]), None):
        return "message of several lines", repr(bad)
    return ended, message


class _Logged(logging.Handler):
    """The lines that were logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _ended(running: dict[int, Case]) -> Outcome:
    """Waits for one of the processes; returns what became of its case."""
    waits = (os.wait4(each, os.WNOHANG) for each in cycle(running))
    child, status, usage = next(each for each in waits if each[0] or time.sleep(0.002))
    case, code = running.pop(child), os.waitstatus_to_exitcode(status)
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    said = case.place / "said"
    message = said.read_bytes().decode("utf-8", "surrogateescape") if said.exists() else ""
    if case.words:
        ended = ending(code, message, case.place / "out" / "run.txt", case.words, memory, seconds)
        if ended in (RESULT, REFUSED) and (left := left_in(case.place / "tmp")):
            ended = f"left {left[0].name}"
    elif code == 0:
        ended, message = json.loads(message)
    else:
        ended = f"longer than {SECONDS} s" if code == -signal.SIGPROF else f"died with {code}"
    mutations = case.prepared[1]
    outcome = Outcome(case.name, case.number, mutations, ended, message[-2000:], round(seconds, 2), memory)
    if outcome.failed:
        kept = KEPT / f"{case.name}-{case.number}".replace("/", "-")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(case.place, kept, symlinks=True)
    shutil.rmtree(case.place, ignore_errors=True)
    return outcome


def cases_of(inputs: int, commands: int, seed: int) -> Iterator[Case]:
    """Yields so many inputs for the commands in turn, and so many for the readers."""
    for names, count in ((list(COMMANDS), commands), (list(READERS), inputs)):
        for number in range(count):
            yield Case(seed * 1_000_000 + number, names[number % len(names)])


def trouble(tried: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yields the same outcomes; those that failed are shown as they come."""
    for outcome in tried:
        if outcome.failed:
            last = outcome.message.strip().splitlines()[-1:]
            print(
                f"{outcome.name} {outcome.number}: {outcome.ended} {last} [{outcome.mutations}]", flush=True
            )
        yield outcome


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=9_700, help="for the readers")
    parser.add_argument("--commands", type=int, default=300, help="for the commands")
    parser.add_argument("--signals", type=int, default=100, help="moments for each signal")
    parser.add_argument("--surroundings", action="store_true", help="disks, users, locales and so on")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--write", action="store_true", help="write the tables in docs/internals.md")
    options = parser.parse_args()
    cases = cases_of(options.inputs, options.commands, options.seed)
    with tempfile.TemporaryDirectory(prefix="touche fuzz ") as tempfile.tempdir:  # another attack has its own
        read = list(trouble(attack(cases)))
    tempfile.tempdir = None
    around = list(trouble(surroundings.tried())) if options.surroundings else []
    around += trouble(surroundings.killed(options.signals, options.seed))
    page = outcomes.page_of(read, around, options.seed)
    print(page)
    if options.write:
        outcomes.write(page)
    sys.exit(any(each.failed for each in read + around))


if __name__ == "__main__":
    main()
