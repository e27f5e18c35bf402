"""Runs programs until they end, also Docker and Podman, and checks whether these are available."""

import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from threading import Thread

from touche.containers.limits import PROGRAMS
from touche.errors import ToucheError

Log = Callable[[str], None]  # receives each line that a program writes
Process = subprocess.Popen[str]

_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 60.0  # for a short command of Docker or Podman
_GRACE_SECONDS = 3.0  # for a program to clean up, and for its last lines to arrive
# Waits until this process closes the pipe, then ends the process group $1, and runs the remaining arguments.
_WATCHER = f'read line; kill -s TERM -- -$1; sleep {_GRACE_SECONDS:g}; kill -s KILL -- -$1; shift; "$@"'
_POINTS_TO_HELP = re.compile("^(See|Run) '.* --help'")  # Docker's last line, below the reason


@dataclass(frozen=True)
class Ended:
    """The result of a program.

    Attributes:
        code: its exit code, negative if a signal ended it.
        last_line: its last line of output.
    """

    code: int
    last_line: str


def check_program(program: str) -> None:
    """Checks that Docker or Podman can be used.

    Raises:
        ToucheError: if it is not installed or not running; the message names the other program if that runs.
    """
    problem = _reason_unusable(program)
    if problem:
        others = [other for other in PROGRAMS if other != program and not _reason_unusable(other)]
        instead = f", or use {others[0]}" if others else ""
        raise ToucheError(f"{problem}{instead}")


def _reason_unusable(program: str) -> str:
    """Returns why a program cannot be used, and the remedy; empty if it can."""
    if shutil.which(program) is None:
        return f"{program} is not installed; install it"
    info = _run_briefly(program, "info")
    if info.returncode == 0:
        return ""
    lines = info.stderr.strip().splitlines()
    reason = lines[-1] if lines else "no reason stated"
    return f"{program} is installed, but its service is unreachable ({reason}); start it"


def succeeds(*command: str) -> bool:
    """Returns whether a command ends with exit code 0 within a minute; its output is dropped."""
    return _run_briefly(*command).returncode == 0


def output_of(*command: str) -> str:
    """Returns the standard output of a command; empty if it fails or takes more than a minute."""
    result = _run_briefly(*command)
    return result.stdout.strip() if result.returncode == 0 else ""


def _run_briefly(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command; one that takes more than a minute is stopped and fails."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_SECONDS
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr="no answer in a minute")


def execute(
    command: Sequence[str],
    log: Log,
    *,
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    if_killed: Sequence[str] = (),
    paths: Mapping[str, Path] | None = None,
) -> Ended:
    """Runs a program until it ends, and passes each of its lines to a log.

    The program leads its own process group. No process of this group outlives the program, an interrupt, the
    time limit, or the death of this process.

    Args:
        command: the program and its arguments.
        log: receives each line.
        seconds: the time limit.
        environment, folder: those of the program; by default those of this process.
        if_killed: a command that cleans up if this process is killed.
        paths: paths on this machine, by the paths in the container that they replace in the lines.

    Raises:
        TimeoutExpired: if the program exceeds the time limit.
        Exception: the first error of the log.
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
    reader = _Reader(process, log, paths or {})
    try:
        with _watched(process, if_killed):
            reader.start()
            process.wait(seconds)
    finally:
        _end_group(process)
        if reader.is_alive():  # else it has ended, or was interrupted before its start
            reader.join(_GRACE_SECONDS)
    if reader.fault is not None:
        raise reader.fault
    return Ended(process.returncode, reader.last)


class _Reader(Thread):
    """Passes the lines of a program to a log; ``last`` is the last line, ``fault`` the log's first error.

    All lines are read even if the log fails, because a program waits if nobody reads its output.
    """

    def __init__(self, process: Process, log: Log, paths: Mapping[str, Path]) -> None:
        super().__init__(daemon=True)
        assert process.stdout is not None
        self._pipe = process.stdout
        self._log = log
        self._paths = paths
        self.last = "no output"
        self.fault: Exception | None = None

    def run(self) -> None:
        with self._pipe as lines:
            for line in lines:
                printable = "".join(char for char in line if char.isprintable()).rstrip()
                if printable:
                    self._pass_on(printable)

    def _pass_on(self, line: str) -> None:
        """Passes a line to the log, with this machine's paths; after an error, the log gets no more lines."""
        for container_path, path in self._paths.items():
            # Also /input in /input/topics.xml, but not in /my/input or /input2. re.sub would interpret
            # backslashes in the path.
            texts_between = re.split(rf"(?<![\w/.]){re.escape(container_path)}\b", line)
            line = str(path).join(texts_between)
        if not _POINTS_TO_HELP.search(line):
            self.last = line.strip()
        try:
            if self.fault is None:
                self._log(line)
        except Exception as error:
            self.fault = error


@contextmanager
def _watched(process: Process, if_killed: Sequence[str]) -> Iterator[None]:
    """Starts a shell that ends the group if this process is killed, which closes the shell's input."""
    command = ["sh", "-c", _WATCHER, "sh", str(process.pid), *if_killed]
    null = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True
    ) as watcher:
        try:
            yield
        finally:
            watcher.kill()  # else it would act at the end of this block, which closes its input


def _end_group(process: Process) -> None:
    """Ends the whole group; a running program first gets SIGTERM, so that it can clean up."""
    try:
        if process.returncode is None:
            _signal(process, SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
    finally:  # also after a second interrupt
        _signal(process, SIGKILL)
        process.wait()


def _signal(process: Process, number: Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the group is empty; macOS raises another error
        os.killpg(process.pid, number)


def check_exit(step: str, ended: Ended) -> None:
    """Raises an error for an exit code that is not 0.

    Args:
        step: the beginning of the message, such as ``building IMAGE``, or the name of a baseline.
        ended: how the program ended.

    Raises:
        ToucheError: with the exit code and the last line of output.
    """
    if ended.code:
        raise ToucheError(f"{step}: exit code {ended.code}: {ended.last_line}; see its output above")
