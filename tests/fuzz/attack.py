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
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import surroundings
import tables
from inputs import MISPLACED, ODD_NAMES, spoilt
from outcomes import MEMORY, PATIENCE, PROCESSES, REFUSED, RESULT, ROOT, SECONDS, Outcome, ending, is_broken
from readers import COMMANDS, READERS, Called, Reader

from conftest import left_in
from touche.errors import ToucheError

KEPT = ROOT / "build" / "fuzz"


@dataclass(frozen=True)
class Case:
    """A bad input: what is to read it, and the number that it is made from."""

    number: int
    name: str

    @property
    def target(self) -> Reader | Called:
        return READERS.get(self.name) or COMMANDS[self.name]

    @property
    def random(self) -> Random:
        return Random(f"{self.name} {self.number}")


def attack(cases: Sequence[Case], processes: int = PROCESSES) -> Iterator[Outcome]:
    """Tries all cases, on several processes; one that dies of a case is replaced by another."""
    shares = [list(cases[start::processes]) for start in range(processes)]
    read, write = os.pipe()
    keepers = [_fork(lambda share=share: _keep_trying(share, write)) for share in shares if share]
    os.close(write)
    with os.fdopen(read) as lines:
        for line in lines:
            yield Outcome(**json.loads(line))
    for keeper in keepers:
        os.waitpid(keeper, 0)


def _keep_trying(cases: list[Case], to: int) -> None:
    """Has a child try the cases one after the other; goes on with another where it dies."""
    left = cases
    while left:
        read, write = os.pipe()
        child = _fork(lambda cases=left, write=write: _try_all(cases, write))
        os.close(write)
        with os.fdopen(read) as lines:
            for line in lines:
                os.write(to, line.encode())
                left = left[1:]
        _, status = os.waitpid(child, 0)
        if left and os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            ended = f"longer than {SECONDS} s" if name == "SIGPROF" else f"died of {name}"
            os.write(to, _line(Outcome(left[0].name, left[0].number, prepare(left[0])[1], ended)))
            _clean(left[0])
            left = left[1:]


def _try_all(cases: list[Case], to: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for case in cases:
        os.write(to, _line(_try(case)))


def _line(outcome: Outcome) -> bytes:
    return (json.dumps(asdict(outcome)) + "\n").encode()


def _try(case: Case) -> Outcome:
    target, (folder, mutations) = case.target, prepare(case)
    began = _processor_seconds()
    if isinstance(target, Reader):
        ended, message, memory = _read(target, folder / target.file)
    else:
        ended, message, memory = _call(target, folder)
    outcome = Outcome(
        case.name,
        case.number,
        mutations,
        ended,
        message[-2000:],
        round(_processor_seconds() - began, 2),
        memory,
    )
    _clean(case, keep=outcome.failed)
    return outcome


def prepare(case: Case) -> tuple[Path, str]:
    """Writes the files of a case; returns their folder and what is wrong with one of them."""
    random, target = case.random, case.target
    shutil.rmtree(_place(case), ignore_errors=True)
    content, mutations = spoilt(target.content, random)
    odd = random.random() < 0.05
    folder = _place(case) / (random.choice(ODD_NAMES) if odd else "in")
    for name, each in {**target.beside, target.file: content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each)
    if random.random() < 0.03:
        misplace = random.choice(MISPLACED)
        misplace(path, random)
        mutations = misplace.__name__
    return folder, f"{mutations}, an_odd_name" if odd else mutations


def _place(case: Case) -> Path:
    kind = "reader" if case.name in READERS else "command"  # which are numbered alike, and tried at once
    return Path(tempfile.gettempdir()) / f"{kind}-{case.number}"


def _clean(case: Case, keep: bool = True) -> None:
    """Takes the files of a case away, or where others can look at them."""
    kept = KEPT / f"{case.name}-{case.number}".replace("/", "-")
    if keep and _place(case).exists():
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(_place(case), kept, symlinks=True)
    shutil.rmtree(_place(case), ignore_errors=True)


def _read(reader: Reader, path: Path) -> tuple[str, str, int]:
    said = _Said()
    logging.getLogger("touche").addHandler(said)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader.read(path)
        ended, message = RESULT, ""
    except ToucheError as error:
        ended, message = REFUSED, str(error)
    except BaseException:
        ended, message = "traceback", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        logging.getLogger("touche").removeHandler(said)
    if ended != "traceback" and (bad := next(filter(is_broken, [message, *said.lines]), None)):
        ended, message = "message of several lines", repr(bad)
    return ended, message, _peak(resource.RUSAGE_SELF)


class _Said(logging.Handler):
    """What was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _call(called: Called, folder: Path) -> tuple[str, str, int]:
    """Calls a command as a process of its own, with a folder for temporary files of its own."""
    out, temporary = folder.parent / "out", folder.parent / "tmp"
    temporary.mkdir()
    words = [word.replace("IN", str(folder)).replace("OUT", str(out)) for word in called.arguments.split()]
    command = ["timeout", "--signal=KILL", str(PATIENCE), sys.executable, "-m", "touche", *words]
    environment = os.environ | {
        "TMPDIR": str(temporary),
        "TOUCHE_DATA": str(folder),
        "XDG_CACHE_HOME": str(out),
    }
    with (folder.parent / "said").open("w+b") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, cwd=ROOT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode("utf-8", "surrogateescape")
    seconds = usage.ru_utime + usage.ru_stime
    ended = ending(process.returncode, text, out / "run.txt", words, usage.ru_maxrss * 1024, seconds)
    if ended in (RESULT, REFUSED) and (left := left_in(temporary)):
        ended = f"left {left[0].name}"
    return ended, text, usage.ru_maxrss * 1024


def _processor_seconds() -> float:
    """That this process and those that it has waited for have taken."""
    return sum(os.times()[:4])


def _peak(who: int) -> int:
    return resource.getrusage(who).ru_maxrss * 1024


def _fork(work) -> int:
    """A child that does some work and ends; returns its process id."""
    if child := os.fork():
        return child
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def cases_of(inputs: int, commands: int, seed: int) -> list[Case]:
    """So many inputs for the readers in turn, and so many for the commands."""
    return [
        Case(seed * 1_000_000 + number, list(names)[number % len(names)])
        for names, count in ((COMMANDS, commands), (READERS, inputs))
        for number in range(count)
    ]


def trouble(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The same outcomes; those that failed are shown as they come."""
    for outcome in outcomes:
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
    page = tables.of(read, around, options.seed)
    print(page)
    if options.write:
        tables.write(page)
    sys.exit(any(each.failed for each in read + around))


if __name__ == "__main__":
    main()
