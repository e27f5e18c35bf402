"""A baseline that ends the process has no run, which is an error. In a process of its own, or pytest ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Write

SOURCE = """import ctypes, os, sys, threading
from concurrent.futures import ThreadPoolExecutor
from touche import baseline
{first}
@baseline
def mine(topics, documents):
    {body}
    yield from ()
"""
IN_BODY = [
    "os._exit(0)",
    "os._exit(3)",
    "sys.exit()",
    "yield topics[0], [('a', 1.0)]; os._exit(0)",
    "yield topics[0], (os._exit(0) for _ in topics)",
    "yield topics[0], (sys.exit(0) for _ in topics)",
    "ThreadPoolExecutor().submit(os._exit, 0).result()",
    "threading.Thread(target=os._exit, args=(3,)).start(); threading.Event().wait()",
    "os.execl('/bin/true', 'true')",
    "os.execvp('true', ['true'])",
]
BODIES = [SOURCE.format(first="", body=body) for body in IN_BODY]
BODIES += [
    SOURCE.format(first=first, body="")
    for first in ("os._exit(0)", "sys.exit(0)", "exit = os._exit; exit(0)")
]
ON_PASSAGES = ("-i", "spot-check/passages", "-o", "out")


def python(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("source", BODIES)
def test_a_process_that_a_baseline_ends_is_an_error_of_one_line(
    write: Write, tmp_path: Path, source: str
) -> None:
    write("mine/baseline.py", source)
    done = python(tmp_path, "-m", "touche", "run", "./mine", *ON_PASSAGES)
    assert done.returncode == 2, done.stderr
    last_line = done.stderr.splitlines()[-1]
    assert last_line.startswith("touche: the baseline mine ended the program with exit code")
    assert "Traceback" not in done.stderr and not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("source", BODIES[:1] + BODIES[-3:-2])
def test_python_gets_an_error_and_ends_when_it_wants_to(write: Write, tmp_path: Path, source: str) -> None:
    write("mine/baseline.py", source)
    call = "touche.run('./mine', 'spot-check/passages')"
    script = f"import os, touche\ntry: {call}\nexcept touche.ToucheError as error: print(error)\n"
    script += "import sys; sys.stdout.flush(); os._exit(7)"
    done = python(tmp_path, "-c", script)
    assert done.stdout.startswith("the baseline mine ended the program with exit code 0 ")
    assert (done.returncode, done.stderr) == (7, "")


def test_forked_processes_may_end(write: Write, tmp_path: Path) -> None:
    body = (
        "os.waitpid(os.fork() or os._exit(0), 0); os.waitpid(os.fork() or os.execl('/bin/true', 'true'), 0)"
    )
    write("mine/baseline.py", SOURCE.format(first="", body=f"{body}; yield topics[0], [('a', 1.0)]"))
    assert python(tmp_path, "-m", "touche", "run", "./mine", *ON_PASSAGES).returncode == 0
    assert (tmp_path / "out" / "run.txt").exists()


def test_a_process_may_end_once_its_run_is_written(write: Write, tmp_path: Path) -> None:
    body = "open('out/run.txt', 'w').write('1 Q0 a 1 1 t\\n') and os._exit(0)"
    write("mine/baseline.py", SOURCE.format(first="", body=body))
    done = python(tmp_path, "-m", "touche", "run", "./mine", *ON_PASSAGES)
    assert done.returncode == 0 and (tmp_path / "out" / "run.txt").exists()


def test_a_run_that_regress_misses_is_an_error(write: Write, tmp_path: Path) -> None:
    """Ended by a library, of which Python knows nothing."""
    write("mine/baseline.py", SOURCE.format(first="", body="ctypes.CDLL(None)._exit(0)"))
    write("mine/expected.toml", '[[run]]\ndataset = "spot-check/passages"\ndigest = "0123456789abcdef"\n')
    done = python(tmp_path, "-m", "touche", "regress", "./mine")
    assert "mine ended with exit code 0 without run.txt" in done.stdout + done.stderr
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
