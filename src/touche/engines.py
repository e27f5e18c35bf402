"""Docker and Podman as programs: whether they run, and processes whose output is read line by line."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from touche.errors import ToucheError

ENGINES = ("docker", "podman")
Log = Callable[[str], None]  # is given each line that a program writes


def check_engine(engine: str) -> None:
    """Makes sure that an engine can be used.

    Raises:
        ToucheError: if it is not installed or not running.
    """
    if shutil.which(engine) is None:
        raise ToucheError(f"{engine} is not installed; install it, or choose another runner")
    if not succeeds(engine, "info"):
        problem = f"{engine} is installed, but its engine is not running"
        raise ToucheError(f"{problem}; start it, or choose another runner")


def succeeds(*command: str) -> bool:
    """Whether a command ends with exit code 0; what it writes is dropped."""
    return subprocess.run(command, capture_output=True).returncode == 0


def answer(*command: str) -> str:
    """What a command writes to standard output, or nothing if it fails."""
    told = subprocess.run(command, capture_output=True, text=True)
    return told.stdout.strip() if told.returncode == 0 else ""


@contextmanager
def process(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, folder: str | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A process whose output and errors are one stream of lines; it is gone when the block is left."""
    started = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
            started.wait()
        if started.stdout:
            started.stdout.close()


def follow(running: "subprocess.Popen[str]", log: Log) -> str:
    """Hands every line that a process writes to a log, until it writes no more; returns the last one."""
    last = "it wrote nothing"
    for line in running.stdout or ():
        if printable := "".join(each for each in line if each.isprintable()).strip():
            last = printable
            log(printable)
    return last


def check_exit(what: str, code: int, last_line: str) -> None:
    """Raises an error for an exit code that is not 0.

    Raises:
        ToucheError: with the code and the last line of the log.
    """
    if code:
        raise ToucheError(f"{what}: exit code {code}: {last_line}; see its log")
