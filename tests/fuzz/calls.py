"""Calls of the command in a folder of their own, and what they leave there."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import samples

from conftest import ROOT, left_in

PLAIN = 'exec "$@"'


def start(command: str, folder: Path, script: str = PLAIN, **variables: str) -> subprocess.Popen[bytes]:
    """Starts a command in a session of its own, in which IN, RUN and OUT are paths; ``"$@"`` calls it."""
    paths = {"IN": f"{folder}/in", "OUT": f"{folder}/out"}
    words = command.replace("RUN", "IN/run.txt").split()
    for name, path in paths.items():
        words = [word.replace(name, path) for word in words]
    prepared = f"export PYTHONPATH={shlex.quote(str(ROOT / 'src'))}; cd {shlex.quote(str(folder))}; {script}"
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", prepared, "bash", sys.executable, "-m", "touche", *words],
        env={name: value for name, value in os.environ.items() if name != "TMPDIR"}
        | {"XDG_CACHE_HOME": f"{folder}/cache", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def write_input(folder: Path) -> None:
    """Makes the folders in, out and tmp, and writes topics, documents and a run."""
    for name in ("in", "out", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "in" / "topics.xml").write_bytes(samples.TOPICS)
    (folder / "in" / "documents.jsonl").write_bytes(samples.DOCUMENTS)
    (folder / "in" / "run.txt").write_bytes(samples.RUN)


def leftovers(session: int, folder: Path, seconds: float, *, files: bool = True) -> list[str]:
    """Returns the processes and temporary files that a call has left; ends these processes."""
    deadline = time.monotonic() + seconds
    while _processes(session, folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    processes = _processes(session, folder)
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    paths = (
        [*left_in(folder / "tmp"), *private_files(folder), *(folder / "out").glob(".*.part")] if files else []
    )
    return [f"process {process}" for process in processes] + [path.name for path in paths]


def private_files(folder: Path) -> list[Path]:
    """Returns the temporary files in the cache, which the next run removes."""
    return [*(folder / "cache" / "touche").glob("temporary/*")]


def _processes(leader: int, folder: Path) -> list[int]:
    """Returns the living processes of a session, and others that use its folder."""
    processes = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, session, *_ = (path / "stat").read_text().rpartition(")")[2].split()
            is_known = os.fsencode(f"XDG_CACHE_HOME={folder}/") in (path / "environ").read_bytes()
            if state != "Z" and (int(session) == leader or is_known):
                processes.append(int(path.name))
    return processes
