"""Sends bad inputs to every reader and every command, and counts the outcomes.

make fuzz    # all of it

Each input ends in a result, or in an error of one line. Inputs that fail are saved in build/fuzz/.
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
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

import surroundings
from inputs import ODD_NAMES, misplace, spoilt
from outcomes import MEMORY, PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, SECONDS, Outcome, ending, is_broken
from readers import COMMANDS, READERS, Target

from conftest import left_in
from touche.errors import ToucheError

KEPT = ROOT / "build" / "fuzz"


@dataclass(frozen=True)
class Case:
    """A bad input: its reader, and the number from which it is made."""

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
        """The folder of the files, after they are written, and what is wrong with one of them."""
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
        """The arguments of a command; empty for a reader."""
        words = self.target.read.split() if isinstance(self.target.read, str) else []
        folder, out = str(self.prepared[0]), str(self.place / "out")
        return [word.replace("IN", folder).replace("OUT", out) for word in words]


def attack(cases: Iterable[Case]) -> Iterator[Outcome]:
    """Tries each case in its own process, several at once."""
    running: dict[int, Case] = {}
    for case in cases:
        if len(running) == PROCESSES:
            yield _ended(running)
        case.prepared  # noqa: B018 - here, so that children share what is made once
        running[_start(case)] = case
    while running:
        yield _ended(running)


def _start(case: Case) -> int:
    """Starts a process that tries a case and writes its output to a file; returns the process's id."""
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
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("touche").addHandler(handler)
    ended, message = RESULT, ""
    try:
        target.read(path)  # type: ignore[operator]
    except ToucheError as error:
        ended, message = REFUSED, str(error)
    except BaseException:
        return "traceback", traceback.format_exc()
    if bad := next(filter(is_broken, [message, *lines]), None):
        return "message of several lines", repr(bad)
    return ended, message


def _ended(running: dict[int, Case]) -> Outcome:
    """Waits for a process; returns the outcome of its case."""
    child, status = os.wait()
    case, code = running.pop(child), os.waitstatus_to_exitcode(status)
    said = case.place / "said"
    message = said.read_bytes().decode("utf-8", "surrogateescape") if said.exists() else ""
    if case.words:
        ended = ending(code, message, case.place / "out" / "run.txt", case.words)
        if ended in (RESULT, REFUSED) and (left := left_in(case.place / "tmp")):
            ended = f"left {left[0].name}"
    elif code == 0:
        ended, message = json.loads(message)
    else:
        ended = f"longer than {SECONDS} s" if code == -signal.SIGPROF else f"died with {code}"
    outcome = Outcome(case.name, case.number, case.prepared[1], ended, message[-2000:])
    if outcome.failed:
        kept = KEPT / f"{case.name}-{case.number}".replace("/", "-")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(case.place, kept, symlinks=True)
    shutil.rmtree(case.place, ignore_errors=True)
    return outcome


def cases_of(inputs: int, commands: int, seed: int) -> Iterator[Case]:
    """Yields this many inputs for commands and readers, each in turn."""
    for names, count in ((list(COMMANDS), commands), (list(READERS), inputs)):
        for number in range(count):
            yield Case(seed * 1_000_000 + number, names[number % len(names)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=9_700, help="for the readers")
    parser.add_argument("--commands", type=int, default=300, help="for the commands")
    parser.add_argument("--signals", type=int, default=100, help="moments for each signal")
    parser.add_argument("--surroundings", action="store_true", help="disks, users, locales and so on")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    counts = Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory(
        prefix="touche fuzz "
    ) as tempfile.tempdir:  # other attacks have their own
        counts += _counted(attack(cases_of(options.inputs, options.commands, options.seed)))
    tempfile.tempdir = None
    if options.surroundings:
        counts += _counted(surroundings.tried())
    counts += _counted(surroundings.killed(options.signals, options.seed))
    for (name, ended), count in sorted(counts.items()):
        print(f"{count:5} {name}: {ended}")
    sys.exit("failed" in {ended for _, ended in counts})


def _counted(outcomes: Iterable[Outcome]) -> Counter[tuple[str, str]]:
    """Counts the outcomes; prints failures at once."""
    counts = Counter[tuple[str, str]]()
    for outcome in outcomes:
        counts[outcome.name, "failed" if outcome.failed else outcome.ended] += 1
        if outcome.failed:
            print(f"{outcome.name} {outcome.number}: {outcome.ended} [{outcome.mutations}]", flush=True)
            print(outcome.message, flush=True)
    return counts


if __name__ == "__main__":
    main()
