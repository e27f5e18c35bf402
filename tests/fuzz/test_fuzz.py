"""Every reader and command on damaged files: each is read or refused in one line, within limits."""

import faulthandler
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="needs Hypothesis: pip install hypothesis")
from readers import COMMANDS, READERS

from conftest import write_files
from random_examples import HealthCheck, given, settings, st
from texts import BYTES, damaged, inflated, is_read_or_refused
from touche.errors import ToucheError

pytestmark = pytest.mark.filterwarnings("ignore::touche.ToucheWarning")
SECONDS = 20  # of processor time
MEMORY = 2 << 30  # bytes
EXAMPLES = settings().max_examples  # by the profile
REPAIR = "; repair it, or see all frames with --verbose\n"  # for a baseline whose code fails


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("run, linted", "baseline.py")])
@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    reader = READERS[name]

    def results(path: Path) -> Iterator[Any]:
        assert not isinstance(reader.read, str)
        records = reader.read(path)
        return iter(records if isinstance(records, list) else ())

    raw = data.draw(BYTES | damaged(reader.content))
    assert is_read_or_refused(results, tmp_path_factory.mktemp("fuzz") / reader.file, raw)


@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_a_file_without_damage(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    write_files(tmp_path, reader.files(reader.content))
    assert not isinstance(reader.read, str) and reader.read(tmp_path / reader.file)


@contextmanager
def limits() -> Iterator[None]:
    """Bounds the memory of this process, and ends it if it hangs, also in compiled code."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, before[1]))
    faulthandler.dump_traceback_later(4 * SECONDS, exit=True)
    started = time.process_time()
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        resource.setrlimit(resource.RLIMIT_DATA, before)
    assert time.process_time() - started < SECONDS


@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_reader_survives_bombs_and_very_long_fields(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    reader = READERS[name]
    assert not isinstance(reader.read, str)
    folder = write_files(tmp_path_factory.mktemp("fuzz"), reader.files(data.draw(inflated(reader.content))))
    try:
        with limits():
            reader.read(folder / reader.file)
    except ToucheError as error:
        assert str(error).isprintable()


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=EXAMPLES // 20, suppress_health_check=list(HealthCheck))  # a command takes seconds
@given(data=st.data())
def test_a_command_answers_a_damaged_file_or_refuses_it(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Exit code 1 is a result of some commands, and follows the frames of a faulty baseline."""
    target = COMMANDS[name]
    folder = tmp_path_factory.mktemp("fuzz")
    content = data.draw(damaged(target.content) | inflated(target.content))
    write_files(folder / "in", target.files(content))
    words = str(target.read).replace("IN", f"{folder}/in").replace("OUT", f"{folder}/out").split()
    done = subprocess.run(
        [sys.executable, "-m", "touche", *words],
        env=os.environ | {"TOUCHE_DATA": f"{folder}/in", "XDG_CACHE_HOME": f"{folder}/cache"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=4 * SECONDS,
        text=True,
        errors="replace",
    )
    is_faulty = done.returncode == 1 and words[0] == "run" and done.stderr.endswith(REPAIR)
    is_answer = done.returncode == 0 or (done.returncode == 1 and words[0] in ("lint", "regress"))
    assert is_answer or is_faulty or done.returncode == 2, done.stderr
    assert is_faulty or "Traceback" not in done.stderr, done.stderr
    assert all(line.isprintable() for line in (done.stdout + done.stderr).splitlines())
    assert done.returncode == 0 or not (folder / "out" / "run.txt").exists()
