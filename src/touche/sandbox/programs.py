"""Docker and Podman as programs: whether they run, and programs that are watched until they end."""

import logging
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread

from touche.errors import ToucheError

ENGINES = ("docker", "podman")
Log = Callable[[str], None]  # is given each line that a program writes
Process = subprocess.Popen[str]

_log = logging.getLogger(__name__)

_PATIENCE = 60.0  # seconds that an engine may take to answer a question
_POINTS_TO_HELP = re.compile("^(See|Run) '.* --help'")  # what Docker adds below the reason


def check_engine(engine: str) -> None:
    """Makes sure that an engine can be used.

    Raises:
        ToucheError: if it is not installed or not running; it names an engine that is.
    """
    if problem := _problem(engine):
        others = [each for each in ENGINES if each != engine and not _problem(each)]
        instead = f", or use {others[0]}, which is at hand" if others else ""
        raise ToucheError(f"{problem}{instead}")


def _problem(engine: str) -> str:
    if shutil.which(engine) is None:
        return f"{engine} is not installed; install it"
    try:
        told = subprocess.run([engine, "info"], capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{engine} does not answer; start its engine again"
    if told.returncode == 0:
        return ""
    reason = (told.stderr.strip().splitlines() or ["it does not say why"])[-1]
    return f"{engine} is installed, but its engine cannot be reached ({reason}); start it"


def succeeds(*command: str) -> bool:
    """Whether a command ends with exit code 0 in a minute; what it writes is dropped."""
    try:
        return subprocess.run(command, capture_output=True, timeout=_PATIENCE).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def answer(*command: str) -> str:
    """What a command writes to standard output, or nothing if it fails or takes more than a minute."""
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


@contextmanager
def started(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, folder: str | None = None
) -> Iterator[Process]:
    """A program whose output and errors are one stream of lines; it is gone when the block is left."""
    _log.debug("calling: %s", shlex.join(command))
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def follow(process: Process, log: Log) -> str:
    """Hands every line that a program writes to a log, until it writes no more; returns the last one.

    All is read even if the log fails, as a program waits when nobody reads what it writes.

    Raises:
        Exception: what the log raised first.
    """
    last, fault = "it wrote nothing", None
    for line in process.stdout or ():
        if printable := "".join(each for each in line if each.isprintable()).strip():
            last = last if _POINTS_TO_HELP.search(printable) else printable
            try:
                if fault is None:
                    log(printable)
            except Exception as error:
                fault = error
    if fault is not None:
        raise fault
    return last


def watch(process: Process, seconds: float, log: Log) -> tuple[int, str]:
    """Follows a program until it ends.

    Returns:
        Its exit code, and the last line that it wrote.

    Raises:
        TimeoutExpired: if it does not end in time.
        Exception: what the log raised first.
    """
    lasts: list[str] = []
    faults: list[Exception] = []

    def read() -> None:
        try:
            lasts.append(follow(process, log))
        except Exception as fault:
            faults.append(fault)

    reader = Thread(target=read, daemon=True)
    reader.start()
    code = process.wait(seconds)
    reader.join()
    for fault in faults:
        raise fault
    return code, lasts[0]


def check_exit(what: str, code: int, last_line: str) -> None:
    """Raises an error for an exit code that is not 0.

    Raises:
        ToucheError: with the code and the last line of the log.
    """
    if code:
        raise ToucheError(f"{what}: exit code {code}: {last_line}; see the lines above")
