"""Runs programs until they end, and checks whether Docker and Podman are available."""

import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from threading import Thread

from touche.errors import ToucheError
from touche.runners.limits import CONTAINER_PROGRAMS

Log = Callable[[str], None]  # receives each line that a program writes
Process = subprocess.Popen[str]

_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 60.0  # for a short command
_GRACE_SECONDS = 3.0  # to clean up, and for the last lines to arrive
_LONGEST_LINE = 4096  # characters of a program's output; the rest of a longer line is dropped
MOST_LINES = 5000  # of a program's output to keep, because it may write any number
_POINTS_TO_HELP = re.compile("^(See|Run) '.* --help'")  # Docker's last line, after the reason


@dataclass(frozen=True)
class ExitStatus:
    """How a program ended.

    Attributes:
        code: its exit code; 128 plus the signal's number if a signal ended it, like in shells.
        last_line: the last line of its output.
    """

    code: int
    last_line: str


def check_program(program: str) -> None:
    """Checks that you can use Docker or Podman."""
    problem = _reason_unusable(program)
    if problem:
        others = [other for other in CONTAINER_PROGRAMS if other != program and not _reason_unusable(other)]
        instead = f", or use: --runner {others[0]}" if others else ""
        raise ToucheError(f"{problem}{instead}")


def _reason_unusable(program: str) -> str:
    """Returns problem and remedy; empty if the program can be used."""
    if shutil.which(program) is None:
        return f"{program} is not installed; install it"
    info = _run_briefly(program, "info")
    if info.returncode == 0:
        return ""
    lines = info.stderr.strip().splitlines()
    reason = lines[-1] if lines else "no reason stated"
    return f"{program} is installed, but its service is unreachable ({reason}); start it"


def succeeds(*command: str) -> bool:
    """Returns whether a command exits with code 0 within a minute; its output is dropped."""
    return _run_briefly(*command).returncode == 0


def output_of(*command: str) -> str:
    """Returns a command's standard output; empty if it fails or takes more than a minute."""
    result = _run_briefly(*command)
    return result.stdout.strip() if result.returncode == 0 else ""


def _run_briefly(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command; stops it after a minute."""
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
    paths: Mapping[str, Path] | None = None,
) -> ExitStatus:
    """Runs a program until it ends, and passes each line of its output to a log.

    The program leads its own process group. No process in this group outlives the program, a signal that
    ends this process, or the time limit. Only after SIGKILL, or a second signal, they go on without limit.

    Args:
        environment, folder: the program's; by default this process's.
        paths: paths on this machine, by the container paths that they replace in the output.

    Raises:
        TimeoutExpired: if the program exceeds the time limit.
        Exception: the log's first error.
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
        reader.start()
        process.wait(seconds)
    except (KeyboardInterrupt, SystemExit):  # SystemExit: a signal, see touche.io.signals
        reader.is_muted = True  # touche says that it was interrupted; that the program was is no news
        raise
    finally:
        _end_group(process)
        if reader.is_alive():  # else it has ended, or an interrupt kept it from starting
            reader.join(_GRACE_SECONDS)
    if reader.fault is not None:
        raise reader.fault
    code = process.returncode  # negative if a signal ended the program
    return ExitStatus(code if code >= 0 else 128 - code, reader.last)


class _Reader(Thread):
    """Passes a program's lines to a log. Keeps the last line, and the log's first error in ``fault``.

    Long lines are cut. If ``is_muted``, lines are read but not passed on.

    Reads on even if the log fails, because a program blocks when nobody reads its output.
    """

    def __init__(self, process: Process, log: Log, paths: Mapping[str, Path]) -> None:
        super().__init__(daemon=True)
        assert process.stdout is not None
        self._pipe = process.stdout
        self._log = log
        self._paths = paths
        self.last = "no output"
        self.fault: Exception | None = None
        self.is_muted = False

    def run(self) -> None:
        with self._pipe as lines:
            is_rest = False  # of a line whose beginning was passed on
            while line := lines.readline(_LONGEST_LINE):
                was_rest, is_rest = is_rest, not line.endswith("\n")
                if was_rest:
                    continue
                printable = "".join(char for char in line if char.isprintable()).rstrip()
                if printable:
                    self._pass_on(printable)

    def _pass_on(self, line: str) -> None:
        """Logs a line with this machine's paths instead of the container's. After an error, logs nothing."""
        for container_path, path in self._paths.items():
            # Matches /input in /input/topics.xml, but not in /my/input or /input2. Not re.sub, which
            # would interpret backslashes in the path.
            texts_between = re.split(rf"(?<![\w/.]){re.escape(container_path)}\b", line)
            line = str(path).join(texts_between)
        if not _POINTS_TO_HELP.search(line):
            self.last = line.strip()
        try:
            if self.fault is None and not self.is_muted:
                self._log(line)
        except Exception as error:
            self.fault = error


def _end_group(process: Process) -> None:
    """Ends the whole group. A running program gets SIGTERM first, so that it can clean up."""
    try:
        if process.returncode is None:
            _signal(process, SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
    finally:  # even after a second KeyboardInterrupt, in a notebook
        _signal(process, SIGKILL)
        process.wait()


def _signal(process: Process, number: Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the group is empty; macOS raises another error
        os.killpg(process.pid, number)


def check_exit(step: str, status: ExitStatus) -> None:
    """Raises a ToucheError with exit code and last line if the exit code is not 0.

    ``step`` starts the message, such as ``building IMAGE``, or a baseline's name.
    """
    if status.code:
        raise ToucheError(f"{step}: exit code {status.code}: {status.last_line}; see its output above")
