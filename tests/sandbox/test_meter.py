"""Control groups of both versions, in made-up trees of files."""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Semaphore

import pytest

from conftest import Write
from touche.sandbox import meter
from touche.sandbox.meter import PEAK, SAMPLES, Meter, metered, metering, usage_of
from touche.sandbox.programs import execute

ID = "c0ffee"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(meter, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(meter, "_PROCESSES", tmp_path / "proc")


def sampled() -> Meter:
    found = Meter()
    found._sample(meter._groups_of(ID))
    return found


def test_version_1_counts_processes_and_files_in_memory(write: Write) -> None:
    write("proc/42/cgroup", f"5:cpu,cpuacct:/docker/{ID}\n3:memory:/docker/{ID}\n1:name=x:/docker/{ID}\n")
    write(f"cgroup/memory/docker/{ID}/memory.stat", "total_rss 1000\ntotal_shmem 200\ntotal_cache 70000\n")
    write(f"cgroup/memory/docker/{ID}/memory.max_usage_in_bytes", "71200\n")
    write(f"cgroup/cpuacct/docker/{ID}/cpuacct.usage", "2500000000\n")
    found = sampled()
    assert (found.memory, found.cpu, found.memory_of) == (1200, 2.5, SAMPLES)


@pytest.fixture
def group(write: Write, tmp_path: Path) -> str:
    """A control group of version 2, without a peak of its own; what watches a container is not in it."""
    name = f"machine.slice/libpod-{ID}.scope"
    write("proc/41/cgroup", f"0::/machine.slice/libpod-conmon-{ID}.scope\n")
    write("proc/42/cgroup", f"0::/{name}\n")
    write(f"cgroup/{name}/memory.stat", "anon 1000\nfile 70000\nshmem 200\n")
    write(f"cgroup/{name}/cpu.stat", "usage_usec 2500000\nuser_usec 1\n")
    return name


def test_version_2_has_a_peak_of_its_own_with_a_new_kernel(write: Write, group: str) -> None:
    found = sampled()
    assert (found.memory, found.cpu, found.memory_of) == (1200, 2.5, SAMPLES)
    write(f"cgroup/{group}/memory.peak", "4321\n")
    found = sampled()
    assert (found.memory, found.cpu, found.memory_of) == (4321, 2.5, PEAK)


@pytest.mark.parametrize("groups", ["0::/\n", "0::/user.slice\n", "3:memory:/\n5:cpu,cpuacct:/\n", ""])
def test_a_process_that_is_not_the_containers_is_not_metered(write: Write, groups: str) -> None:
    write("proc/42/cgroup", groups)
    assert meter._groups_of(ID) == meter._groups_of("") == {}  # an id may not be written yet


def test_the_largest_sample_is_kept(write: Write, group: str) -> None:
    found = Meter()
    for anonymous in (10, 30, 20):
        write(f"cgroup/{group}/memory.stat", f"anon {anonymous}\nshmem 0\n")
        found._sample(meter._groups_of(ID))
    assert found.memory == 30


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> Semaphore:
    """Counts attempts to take a sample."""
    taken, sample = Semaphore(0), Meter._sample

    def sampled_now(self: Meter, groups: Mapping[str, Path]) -> None:
        try:
            sample(self, groups)
        finally:
            taken.release()

    monkeypatch.setattr(Meter, "_sample", sampled_now)
    return taken


@pytest.mark.usefixtures("group")
def test_a_container_is_sampled_from_when_its_id_is_known_and_looked_for_once(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: Semaphore
) -> None:
    look, found = meter._groups_of, list[dict[str, Path]]()

    def looked(container: str) -> dict[str, Path]:
        found.append(look(container))
        return found[-1]

    monkeypatch.setattr(meter, "_groups_of", looked)
    with metered(tmp_path / "id") as watched:
        write("id", "\n")  # the engine has made the file, and not written it
        assert samples.acquire(timeout=60) and not found[0]
        write("id", f"{ID}\n")
        while not (found and found[-1]):
            assert samples.acquire(timeout=60)
        count = len(found)
        for _ in range(3):
            assert samples.acquire(timeout=60)
    assert len(found) == count
    assert (watched.memory, watched.cpu, watched.memory_of) == (1200, 2.5, SAMPLES)


def test_a_container_that_is_in_some_of_its_groups_only_is_looked_for_again(
    write: Write, tmp_path: Path, samples: Semaphore
) -> None:
    """With version 1 it joins one controller's group after the other."""
    write("proc/42/cgroup", f"5:cpu,cpuacct:/\n3:memory:/docker/{ID}\n")
    write(f"cgroup/memory/docker/{ID}/memory.stat", "total_rss 1000\n")
    write(f"cgroup/cpuacct/docker/{ID}/cpuacct.usage", "2500000000\n")
    write("id", ID)
    with metered(tmp_path / "id") as watched:
        assert samples.acquire(timeout=60) and watched.cpu is None
        write("proc/42/cgroup", f"5:cpu,cpuacct:/docker/{ID}\n3:memory:/docker/{ID}\n")
        for _ in range(3):
            assert samples.acquire(timeout=60)
    assert watched.cpu == 2.5


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
    seconds, memory = usage_of(tmp_path / "usage")
    assert ended.code == 3 and len(large) > 260e6 > memory > 200e6 and 0.5 < seconds < 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_a_signal_ends_is_ended_by_it(tmp_path: Path, number: signal.Signals) -> None:
    script = f"import os; os.kill(os.getpid(), {number:d})"
    assert execute(metering([sys.executable, "-c", script], tmp_path / "memory"), print).code == -number
