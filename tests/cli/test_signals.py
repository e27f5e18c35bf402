"""Signals at any moment: at most one line, the right exit code, and no files left behind."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT, Write, left_in

RUN = ("-m", "touche", "run", "bm25", "-i", "spot-check/passages", "-o")
LINES = {signal.SIGINT: "touche: interrupted", signal.SIGTERM: "touche: terminated"}


def start(tmp_path: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """Starts Python with these arguments, and a folder of its own for temporary files."""

    def not_in_the_background() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # such a job, and processes that it starts, ignore it

    (tmp_path / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=not_in_the_background,
    )


def minds_signals(process: int) -> bool:
    """Whether a process has a handler for SIGTERM; before that, Python itself is starting."""
    status = Path(f"/proc/{process}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def signalled(tmp_path: Path, number: int, delay: float) -> tuple[int, list[str]]:
    """Returns exit code and output, without progress, of a run that gets a signal after some seconds."""
    with start(tmp_path, *RUN, tmp_path / "out") as run:
        while run.poll() is None and not minds_signals(run.pid):
            time.sleep(0.001)
        time.sleep(delay)
        run.send_signal(number)
        said = run.communicate()[1].splitlines()
    return run.returncode, [line for line in said if not line.startswith("bm25: ")]


SWALLOWED = """
import signal, time
from touche import cli

class Collected:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

def work(**_):
    Collected()
    time.sleep(20)

cli.cli.main = work
cli.main()
"""


def test_a_signal_in_a_destructor_is_not_swallowed(tmp_path: Path) -> None:
    with start(tmp_path, "-c", SWALLOWED) as run:
        said = run.communicate()[1]
    assert (run.returncode, said) == (128 + signal.SIGTERM, "touche: terminated\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, float]:
    """The output of an undisturbed run, and its duration in seconds."""
    folder = tmp_path_factory.mktemp("whole")
    started = time.monotonic()
    subprocess.run([sys.executable, *RUN, folder], check=True, capture_output=True, cwd=ROOT)
    return (folder / "run.txt").read_text(), time.monotonic() - started


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(2, 8))])
def test_at_any_moment_a_run_ends_in_one_line_and_leaves_all_or_nothing(
    write: Write, tmp_path: Path, whole: tuple[str, float], number: int, seed: int
) -> None:
    text, seconds = whole
    write("out/run.txt", earlier := "of an earlier run")
    code, said = signalled(tmp_path, number, random.Random(seed).uniform(0, 1.1 * seconds))
    content = run.read_text() if (run := tmp_path / "out" / "run.txt").exists() else None
    if code in (0, -number):  # the run, or even the interpreter, had ended before
        assert (content, said) == (text, [])
    else:
        assert (code, said) == (128 + number, [LINES[number]])
        assert content in (text, None, earlier)
    assert left_in(tmp_path / "tmp") == []


EARLY = """
class Moment(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "touche.errors":
            os.kill(os.getpid(), NUMBER)
sys.meta_path.insert(0, Moment())"""
LATE = "atexit.register(os.kill, os.getpid(), NUMBER)"


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize("moment", [EARLY, LATE])
def test_a_signal_while_modules_are_imported_or_the_interpreter_ends_is_one_line(
    tmp_path: Path, moment: str, number: int
) -> None:
    begin = "from touche.__main__ import main; sys.argv = ['touche', 'tasks']; main()"
    script = f"import atexit, importlib.abc, os, sys\n{moment}\n{begin}".replace("NUMBER", str(int(number)))
    process = start(tmp_path, "-c", script)
    said = process.communicate()[1]
    assert (process.returncode, said) == (128 + number, f"{LINES[number]}\n")  # type: ignore[index]
