"""Docker and Podman as programs: whether they run, and programs that are watched until they end."""

import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from signal import SIGKILL, SIGTERM, Signals
from threading import Thread

from touche.errors import ToucheError
from touche.sandbox.limits import PROGRAMS

Log = Callable[[str], None]  # is given each line that a program writes
Process = subprocess.Popen[str]

_log = logging.getLogger(__name__)

_PATIENCE = 60.0  # seconds that Docker or Podman may take to answer a question
_LAST_WORDS = 3.0  # seconds that a program has to tidy up, and its last lines to arrive
_WATCHER = f'read line; kill -s TERM -- -$1; sleep {_LAST_WORDS:g}; kill -s KILL -- -$1; shift; "$@"'
_POINTS_TO_HELP = re.compile("^(See|Run) '.* --help'")  # what Docker adds below the reason


@dataclass(frozen=True)
class Ended:
    """What is left of a program.

    Attributes:
        code: its exit code, negative if a signal ended it.
        last_line: what it wrote last.
    """

    code: int
    last_line: str


def check_program(program: str) -> None:
    """Makes sure that Docker or Podman can be used.

    Raises:
        ToucheError: if it is not installed or not running; it names the other if that is.
    """
    if problem := _problem(program):
        others = [each for each in PROGRAMS if each != program and not _problem(each)]
        instead = f", or use {others[0]}, which is at hand" if others else ""
        raise ToucheError(f"{problem}{instead}")


def _problem(program: str) -> str:
    if shutil.which(program) is None:
        return f"{program} is not installed; install it"
    info = _asked(program, "info")
    if info.returncode == 0:
        return ""
    reason = (info.stderr.strip().splitlines() or ["it does not say why"])[-1]
    return f"{program} is installed, but its service cannot be reached ({reason}); start it"


def succeeds(*command: str) -> bool:
    """Whether a command ends with exit code 0 in a minute; what it writes is dropped."""
    return _asked(*command).returncode == 0


def answer(*command: str) -> str:
    """What a command writes to standard output, or nothing if it fails or takes more than a minute."""
    done = _asked(*command)
    return done.stdout.strip() if done.returncode == 0 else ""


def _asked(*command: str) -> subprocess.CompletedProcess[str]:
    """A command that has ended; one that takes more than a minute is stopped and has failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "it does not answer")


def execute(
    command: Sequence[str],
    log: Log,
    *,
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    if_killed: Sequence[str] = (),
) -> Ended:
    """Runs a program until it ends; a log is given every line that it writes.

    It leads a group of processes of its own, and none of them outlives it: neither one that it leaves behind
    when it ends, nor any when its time is up or this program is interrupted or killed.

    Args:
        command: the program and its arguments.
        log: gets each line.
        seconds: the limit of time.
        environment, folder: those of the program; by default those of this one.
        if_killed: a command that tidies up if this program is killed, which cannot do it then.

    Raises:
        TimeoutExpired: if it does not end in so many seconds.
        Exception: what the log raised first.
    """
    _log.debug("calling: %s", shlex.join(command))
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    reader = _Reader(process, log)
    try:
        with _watched(process, if_killed):
            reader.start()
            process.wait(seconds)
    finally:
        _end(process)
        reader.finish()
    if reader.fault is not None:
        raise reader.fault
    return Ended(process.returncode, reader.last)


class _Reader(Thread):
    """Hands the lines of a program to a log until no process holds the pipe; ``last`` is the last one.

    All is read even if the log fails, as a program waits when nobody reads what it writes.
    """

    def __init__(self, process: Process, log: Log) -> None:
        super().__init__(daemon=True)
        self._pipe, self._log = process.stdout or nullcontext(()), log
        self.last = "it wrote nothing"
        self.fault: Exception | None = None

    def finish(self) -> None:
        """Waits for the last lines, unless it has never begun."""
        if self.is_alive():
            self.join(_LAST_WORDS)

    def run(self) -> None:
        with self._pipe as lines:
            for line in lines:
                if printable := "".join(each for each in line if each.isprintable()).rstrip():
                    self._take(printable)

    def _take(self, line: str) -> None:
        self.last = self.last if _POINTS_TO_HELP.search(line) else line.strip()
        try:
            if self.fault is None:
                self._log(line)
        except Exception as error:
            self.fault = error


@contextmanager
def _watched(process: Process, if_killed: Sequence[str]) -> Iterator[None]:
    """Has a shell end the group of a process when this program is killed, as then its standard input ends."""
    command = ["sh", "-c", _WATCHER, "sh", str(process.pid), *if_killed]
    null = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True
    ) as watcher:
        try:
            yield
        finally:
            watcher.kill()


def _end(process: Process) -> None:
    """Ends its whole group; a program that still runs is asked to first, so that it can tidy up."""
    try:
        if process.returncode is None:
            _signal(process, SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_WORDS)
    finally:  # even if this program is interrupted a second time
        _signal(process, SIGKILL)
        process.wait()


def _signal(process: Process, number: Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left in the group, or macOS says so
        os.killpg(process.pid, number)


def check_exit(what: str, ended: Ended) -> None:
    """Raises an error for an exit code that is not 0.

    Raises:
        ToucheError: with the code and the last line of the log.
    """
    if ended.code:
        raise ToucheError(f"{what}: exit code {ended.code}: {ended.last_line}; see the lines above")
