"""A signal at each kind of moment: one line, the right exit code, and no files left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Write, left_in

LINES = {
    signal.SIGINT: "touche: interrupted\n",
    signal.SIGTERM: "touche: terminated\n",
    signal.SIGHUP: "touche: hung up\n",
}


def ended(tmp_path: Path, script: str, number: int, **texts: str) -> tuple[int, str]:
    """Returns exit code and standard error of a script in which some words stand for other texts."""

    def not_in_the_background() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # such a job, and processes that it starts, ignore it

    for name, text in {"NUMBER": str(int(number)), **texts}.items():
        script = script.replace(name, text)
    (tmp_path / "tmp").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        preexec_fn=not_in_the_background,
    )
    return done.returncode, done.stderr


# Sends the signal when a file is about to be opened, removed or renamed. Then that doesn't happen.
DURING_RUN = """
import os, sys

def send(event, arguments):
    if event == "EVENT" and any(str(argument).endswith("/FILE") for argument in arguments):
        os.kill(os.getpid(), NUMBER)

sys.addaudithook(send)
sys.argv = ["touche", "run", "bm25", "-i", "spot-check/passages", "-o", "FOLDER"]
from touche.__main__ import main
main()
"""
MOMENTS = {  # event and file, with the run and the metadata that are left
    ("open", "spot-check-passages.xml"): ("earlier", "earlier"),
    ("os.remove", "run.txt"): ("earlier", "earlier"),
    ("os.remove", "ir-metadata.yml"): (None, "earlier"),
    ("open", "passages.jsonl"): (None, None),
    ("os.rename", "ir-metadata.yml"): (None, None),
    ("os.rename", "run.txt"): (None, "new"),
}


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_ends_in_one_line_and_no_run_is_next_to_the_metadata_of_another(
    write: Write, tmp_path: Path, moment: tuple[str, str], number: int
) -> None:
    for name in ("run.txt", "ir-metadata.yml"):
        folder = write(f"out/{name}", "earlier").parent
    event, file = moment
    code, said = ended(tmp_path, DURING_RUN, number, EVENT=event, FILE=file, FOLDER=str(folder))
    lines = [line for line in said.splitlines(keepends=True) if not line.startswith("bm25: ")]
    assert (code, lines) == (128 + number, [LINES[number]])
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    states = {name: text if text == "earlier" else "new" for name, text in texts.items()}
    expected = dict(zip(("run.txt", "ir-metadata.yml"), MOMENTS[moment], strict=True))
    assert states == {name: state for name, state in expected.items() if state}
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
    script = f"import atexit, importlib.abc, os, sys\n{moment}\n{begin}"
    assert ended(tmp_path, script, number) == (128 + number, LINES[number])


WORKING = """
import signal, sys
from touche import cli
from touche.__main__ import main

class Collected:
    def __del__(self):
        signal.raise_signal(NUMBER)

def work(**_):
    WORK
    print("goes on", file=sys.stderr)

cli.cli.main = work
main()
"""
IN_DESTRUCTOR = "Collected()"  # where Python swallows exceptions
WHILE_CLEANING_UP = """
    try:
        signal.raise_signal(NUMBER)
    finally:
        signal.raise_signal(NUMBER)
        print("still cleaning up", file=sys.stderr)
"""


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize("work", [IN_DESTRUCTOR, WHILE_CLEANING_UP])
def test_a_signal_in_a_destructor_and_a_second_signal_end_the_process_at_once(
    tmp_path: Path, work: str, number: int
) -> None:
    script = WORKING.replace("WORK", work)
    assert ended(tmp_path, script, number) == (128 + number, LINES[number])


@pytest.mark.parametrize("number", LINES)
def test_an_ignored_signal_stays_ignored(tmp_path: Path, number: int) -> None:
    script = WORKING.replace("WORK", "signal.raise_signal(NUMBER)")
    ignoring = f"import signal; signal.signal(NUMBER, signal.SIG_IGN)\n{script}"
    assert ended(tmp_path, ignoring, number) == (0, "goes on\n")
