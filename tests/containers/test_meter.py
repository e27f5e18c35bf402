"""Control groups of both versions, in made-up trees of files."""

import signal
import sys
import time
from pathlib import Path

import pytest

from conftest import Write, wait_for
from touche.containers import meter
from touche.containers.meter import PEAK, SAMPLES, Meter, metered, metering, read_usage
from touche.containers.programs import execute

ID = "c0ffee"
SEEN = (1200, 2.5, SAMPLES)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write: Write) -> Meter:
    monkeypatch.setattr(meter, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(meter, "_PROCESSES", tmp_path / "proc")
    return Meter(write("id", ID))


def sampled(watched: Meter) -> tuple[int | None, float | None, str]:
    watched.sample()
    return watched.memory, watched.cpu, watched.memory_of


def test_version_1_counts_processes_and_files_in_memory_once_a_container_is_in_all_groups(
    write: Write, watched: Meter
) -> None:
    write("proc/42/cgroup", f"5:cpu,cpuacct:/\n3:memory:/docker/{ID}\n1:name=x:/docker/{ID}\n")
    write(f"cgroup/memory/docker/{ID}/memory.stat", "total_rss 1000\ntotal_shmem 200\ntotal_cache 70000\n")
    write(f"cgroup/memory/docker/{ID}/memory.max_usage_in_bytes", "71200\n")
    write(f"cgroup/cpuacct/docker/{ID}/cpuacct.usage", "2500000000\n")
    assert sampled(watched) == (None, None, "")  # it joins one controller's group after the other
    write("proc/42/cgroup", f"5:cpu,cpuacct:/docker/{ID}\n3:memory:/docker/{ID}\n1:name=x:/docker/{ID}\n")
    assert sampled(watched) == SEEN


@pytest.fixture
def group(write: Write) -> str:
    """A control group of version 2, without a peak of its own; what watches a container is not in it."""
    name = f"machine.slice/libpod-{ID}.scope"
    write("proc/41/cgroup", f"0::/machine.slice/libpod-conmon-{ID}.scope\n")
    write("proc/42/cgroup", f"0::/{name}\n")
    write(f"cgroup/{name}/memory.stat", "anon 1000\nfile 70000\nshmem 200\n")
    write(f"cgroup/{name}/cpu.stat", "usage_usec 2500000\nuser_usec 1\n")
    return name


def test_version_2_has_a_peak_of_its_own_with_a_new_kernel(
    write: Write, group: str, watched: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampled(watched) == SEEN
    monkeypatch.setattr(meter, "_control_groups", lambda container: pytest.fail("it was looked for again"))
    write(f"cgroup/{group}/memory.stat", "anon 500\nshmem 0\n")
    assert sampled(watched) == SEEN  # the largest
    write(f"cgroup/{group}/memory.peak", "4321\n")
    assert sampled(watched) == (4321, 2.5, PEAK)


@pytest.mark.parametrize(
    "groups", ["0::/\n", f"0::/libpod-conmon-{ID}.scope\n", "3:memory:/\n5:cpu,cpuacct:/\n", ""]
)
@pytest.mark.usefixtures("watched")
def test_a_process_that_is_not_the_containers_is_not_metered(write: Write, groups: str) -> None:
    write("proc/42/cgroup", groups)
    assert meter._control_groups(ID) == meter._control_groups("") == {}  # an id may not be written yet


@pytest.mark.usefixtures("group", "watched")
def test_a_container_is_sampled_from_when_its_id_is_known(write: Write, tmp_path: Path) -> None:
    write("id", "\n")  # the engine has made the file, and not written it
    with metered(tmp_path / "id") as watching:
        time.sleep(0.1)
        assert watching.memory is None
        write("id", f"{ID}\n")
        wait_for(lambda: watching.memory is not None)
    assert (watching.memory, watching.cpu, watching.memory_of) == SEEN


@pytest.mark.parametrize(
    "script", ["pass", "import subprocess; subprocess.run([sys.executable, '-c', WORK]); WORK = ''"]
)
def test_the_usage_of_a_program_is_that_of_all_its_processes_and_not_of_its_parent(
    tmp_path: Path, script: str
) -> None:
    large = b"x" * 500_000_000
    work = "import time; x = b'x' * 200_000_000\nwhile time.process_time() < 0.5: pass"
    command = [sys.executable, "-c", f"import sys; WORK = {work!r}; {script}; exec(WORK); sys.exit(3)"]
    ended = execute(metering(command, tmp_path / "usage"), print)
    seconds, memory = read_usage(tmp_path / "usage")
    assert ended.code == 3 and len(large) > 260e6 > memory > 200e6 and 0.5 < seconds < 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_a_signal_ends_is_ended_by_it(tmp_path: Path, number: signal.Signals) -> None:
    script = f"import os; os.kill(os.getpid(), {number:d})"
    assert execute(metering([sys.executable, "-c", script], tmp_path / "memory"), print).code == -number
