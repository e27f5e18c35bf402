"""Control groups of both versions, in made-up trees of files."""

from pathlib import Path

import pytest

from conftest import Write
from touche.sandbox import meter
from touche.sandbox.meter import Meter

ID = "c0ffee"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(meter, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(meter, "_PROCESSES", tmp_path / "proc")
    monkeypatch.setattr(meter, "answer", lambda *command: f"{ID} 42")


def sampled() -> Meter:
    meter = Meter()
    meter._sample(meter._groups_of("docker", "name"))
    return meter


@pytest.mark.usefixtures("machine")
def test_version_1_counts_processes_and_files_in_memory(write: Write) -> None:
    write("proc/42/cgroup", f"5:cpu,cpuacct:/docker/{ID}\n3:memory:/docker/{ID}\n1:name=x:/docker/{ID}\n")
    write(f"cgroup/memory/docker/{ID}/memory.stat", "total_rss 1000\ntotal_shmem 200\ntotal_cache 70000\n")
    write(f"cgroup/cpuacct/docker/{ID}/cpuacct.usage", "2500000000\n")
    meter = sampled()
    assert (meter.memory, meter.cpu) == (1200, 2.5)


@pytest.mark.usefixtures("machine")
def test_version_2_counts_processes_and_files_in_memory(write: Write) -> None:
    write("proc/42/cgroup", f"0::/system.slice/docker-{ID}.scope\n")
    write(f"cgroup/system.slice/docker-{ID}.scope/memory.stat", "anon 1000\nfile 70000\nshmem 200\n")
    write(f"cgroup/system.slice/docker-{ID}.scope/cpu.stat", "usage_usec 2500000\nuser_usec 1\n")
    meter = sampled()
    assert (meter.memory, meter.cpu) == (1200, 2.5)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("groups", ["0::/\n", "0::/user.slice\n", "3:memory:/\n5:cpu,cpuacct:/\n", ""])
def test_a_process_that_is_not_the_containers_is_not_metered(write: Write, groups: str) -> None:
    write("proc/42/cgroup", groups)
    assert meter._groups_of("docker", "name") == {}


@pytest.mark.usefixtures("machine")
def test_the_peak_is_kept(write: Write) -> None:
    write("proc/42/cgroup", f"0::/{ID}\n")
    meter = Meter()
    for anonymous in (10, 30, 20):
        write(f"cgroup/{ID}/memory.stat", f"anon {anonymous}\nshmem 0\n")
        write(f"cgroup/{ID}/cpu.stat", f"usage_usec {anonymous}\n")
        meter._sample(meter._groups_of("docker", "name"))
    assert meter.memory == 30
