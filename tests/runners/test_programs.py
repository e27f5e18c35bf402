"""Programs that leave others behind, or do not end."""

import os
import signal
import sys
import tracemalloc
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Thread

import pytest

from conftest import Write, wait_for
from engines import Engine
from touche.errors import ToucheError
from touche.runners import container_runs, programs
from touche.runners.container_runs import Job, _check_run, run_locally
from touche.runners.limits import Limits
from touche.runners.programs import execute, output_of, succeeds

pytest_plugins = ["engines"]

LEAVES = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"
HANGS = f"{LEAVES}; import time; time.sleep(600)"
OBSTINATE = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANGS}"
TIDIES = f"import pathlib, signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit()); {LEAVES}"
TIDIES += "\ntry: import time; time.sleep(600)\nfinally: pathlib.Path(sys.argv[1]).unlink()"


def python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", f"import sys; {script}", *arguments]


def is_there(pid: str) -> bool:
    """Whether a process runs; one that has ended may still be listed until its parent asks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: str) -> bool:
    """Whether a process is gone in a moment, as a signal takes one to arrive."""
    return bool(wait_for(lambda: not is_there(pid)))


def test_a_program_that_ends_takes_along_what_it_left_behind() -> None:
    """Which holds the pipe, too: neither a limit nor the absence of one waits for it."""
    lines: list[str] = []
    ended = execute(python(LEAVES), lines.append)
    assert (ended.code, ended.last_line, len(lines)) == (0, lines[0], 1)
    assert ends(lines[0])


@pytest.mark.parametrize("script", [HANGS, OBSTINATE, TIDIES])
def test_the_limit_ends_all_that_a_program_has_started_which_may_tidy_up(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list[str]()
    scratch = tmp_path / "scratch"
    scratch.touch()
    begin = programs._Reader.start

    def begin_and_wait(reader: Thread) -> None:
        begin(reader)  # type: ignore[arg-type]
        wait_for(lambda: lines)  # a loaded machine starts Python slowly

    monkeypatch.setattr(programs._Reader, "start", begin_and_wait)
    with pytest.raises(TimeoutExpired):
        execute(python(script, str(scratch)), lines.append, seconds=0.5)
    assert ends(lines[0]) and scratch.exists() == (script != TIDIES)


@pytest.mark.slow
def test_the_pipe_of_a_process_that_left_the_group_holds_nobody_up() -> None:
    lines: list[str] = []
    script = LEAVES.replace("'600']", "'600'], start_new_session=True")
    try:
        assert execute(python(script), lines.append).code == 0
        assert is_there(lines[0])  # its own master by its own wish
    finally:
        os.kill(int(lines[0]), 9)


def test_the_exit_code_and_last_line_are_those_of_the_program() -> None:
    script = "print('one'); print('two\\a'); print('Run \\'docker --help\\' for more'); sys.exit(3)"
    ended = execute(python(script), print)
    assert (ended.code, ended.last_line) == (3, "two")


def test_a_line_without_end_is_cut_and_takes_no_memory() -> None:
    lines: list[str] = []
    script = "print('first'); [sys.stdout.write('x' * 1_000_000) for _ in range(100)]; print('\\nlast')"
    tracemalloc.start()
    try:
        execute(python(script), lines.append)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines == ["first", "x" * 4096, "last"] and peak < 10_000_000


def test_all_is_read_even_if_the_log_fails_whose_error_comes_out() -> None:
    def full(line: str) -> None:
        raise BrokenPipeError("nobody reads it")

    with pytest.raises(BrokenPipeError):
        execute(python("print('line\\n' * 100_000)"), full, seconds=30)


def test_what_a_program_says_when_an_interruption_ends_it_is_not_passed_on() -> None:
    script = "import signal, time; signal.signal(15, lambda *_: sys.exit('terminated')); "
    script += "print('begun', flush=True); time.sleep(60)"
    lines: list[str] = []

    def interrupt(line: str) -> None:
        lines.append(line)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        execute(python(script), interrupt)
    assert lines == ["begun"]


def test_an_interruption_before_anything_is_read_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "pid"

    def interrupted(reader: Thread) -> None:
        wait_for(lambda: path.exists() and path.read_text())
        raise KeyboardInterrupt

    monkeypatch.setattr(programs._Reader, "start", interrupted)
    script = "import os, pathlib, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(9)"
    with pytest.raises(KeyboardInterrupt):
        execute(python(script, str(path)), print)
    assert ends(path.read_text())


def test_a_command_is_asked_no_longer_than_the_patience_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (succeeds("true"), succeeds("false")) == (True, False)
    odd = python("sys.stdout.buffer.write(b' a\\xff\\n'); sys.exit(len(sys.argv) - 1)")
    assert (output_of(*odd), output_of(*odd, "fails")) == ("a\ufffd", "")
    monkeypatch.setattr(programs, "_ANSWER_SECONDS", 0.1)
    assert (succeeds("sleep", "600"), output_of("sleep", "600")) == (False, "")


OWNERS = {
    "alive": (os.getpid(), False),
    "ended": (4194305, True),
    "renamed": ("mine", False),
}  # and whether they are dead


@pytest.mark.parametrize("owner", OWNERS)
def test_only_containers_of_dead_processes_are_removed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    process, is_dead = OWNERS[owner]
    label = container_runs._owner_label()
    engine.answer(containers={f"touche-{process}-c": label, "touche-4194305-d": "of another user"})
    container_runs._remove_abandoned("docker")
    removal = ["docker", "rm", "--force", "--volumes", f"touche-{process}-c"]
    assert engine.calls("docker", "rm") == [removal] * is_dead
    monkeypatch.setattr("os.getuid", lambda: -1)
    assert label != container_runs._owner_label()


def test_a_link_to_a_file_of_this_machine_is_no_run(write: Write, tmp_path: Path) -> None:
    (tmp_path / "run.txt").symlink_to(write("elsewhere/run.txt", "1 Q0 a 1 2 t\n"))
    with pytest.raises(ToucheError, match=r"without run\.txt"):
        _check_run(Job("bm25", (), "", tmp_path), tmp_path)


def test_paths_in_a_container_are_those_of_the_user() -> None:
    said: list[str] = []
    text = "wrote /output/run.txt; /input/topics.xml:3: broken, not /outputs/a, a/output/b or x/input"
    paths = {"/output": Path("my out\\1"), "/input": Path("in")}
    ended = execute(["printf", "%s", text], said.append, paths=paths)
    expected = "wrote my out\\1/run.txt; in/topics.xml:3: broken, not /outputs/a, a/output/b or x/input"
    assert said == [expected] and ended.last_line == expected


LARGE = """
import os, subprocess, sys
from touche import baseline

@baseline
def large(topics, documents, *, fault=False):
    subprocess.run([sys.executable, "-c", "b'x' * 200_000_000"], check=True)
    if fault:
        os.kill(os.getpid(), 9)
    yield from ((topic, [("a", 1.0)]) for topic in topics)
"""


def test_the_memory_of_a_local_run_is_that_of_its_largest_process_and_not_of_this_one(
    write: Write, tmp_path: Path
) -> None:
    large = b"x" * 500_000_000
    folder = str(write("large/baseline.py", LARGE).parent)
    usage = run_locally(Job(folder, (), "spot-check/passages", tmp_path / "out"), Limits(), print)
    assert len(large) > 400e6 > (usage.memory or 0) > 200e6
    with pytest.raises(ToucheError, match="large: exit code 137: "):
        run_locally(Job(folder, ("--fault",), "spot-check/passages", tmp_path / "out"), Limits(), print)
