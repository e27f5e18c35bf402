"""Processor time and memory of a container, read from its control group while it runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from touche.sandbox.programs import answer

_CGROUPS, _PROCESSES = Path("/sys/fs/cgroup"), Path("/proc")
_SAMPLED_EVERY = 0.05  # seconds


class Meter:
    """What was seen of a container; None where its control group cannot be read.

    Attributes:
        cpu: seconds of processor time.
        memory: peak in bytes of what its processes and its files in memory (/tmp) took, in samples of 50 ms.
    """

    cpu: float | None = None
    memory: int | None = None

    def watch(self, engine: str, name: str, ended: Event) -> None:
        """Samples until it has ended."""
        groups: dict[str, Path] = {}
        while not ended.wait(_SAMPLED_EVERY):
            groups = groups or _groups_of(engine, name)
            with suppress(OSError, ValueError, KeyError):  # gone, or of a kind that is not known
                self._sample(groups)

    def _sample(self, groups: Mapping[str, Path]) -> None:
        if unified := groups.get(""):
            resident, seconds = _version_2(unified)
        else:
            resident, seconds = _version_1(groups)
        self.memory, self.cpu = max(self.memory or 0, resident), seconds


@contextmanager
def metered(engine: str, name: str) -> Iterator[Meter]:
    """Watches the container of that name while the block lasts; it may start within."""
    meter, ended = Meter(), Event()
    thread = Thread(target=meter.watch, args=(engine, name, ended), daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        ended.set()
        thread.join()


def _version_1(groups: Mapping[str, Path]) -> tuple[int, float]:
    memory = _numbers(groups["memory"] / "memory.stat")
    resident = memory["total_rss"] + memory.get("total_shmem", 0)
    return resident, int((groups["cpuacct"] / "cpuacct.usage").read_text()) / 1e9


def _version_2(group: Path) -> tuple[int, float]:
    memory, cpu = (_numbers(group / f"{name}.stat") for name in ("memory", "cpu"))
    return memory["anon"] + memory["shmem"], cpu["usage_usec"] / 1e6


def _groups_of(engine: str, name: str) -> dict[str, Path]:
    """The folders of a container's control groups by controller; the unified one has an empty name.

    Nothing where they do not bear the container's id: it has ended, or runs on another machine.
    """
    with suppress(OSError, ValueError, KeyError):
        told = answer(engine, "inspect", "--format", "{{.Id}} {{.State.Pid}}", name)
        container, pid = told.split()
        lines = (_PROCESSES / pid / "cgroup").read_text().split()
        found = (line.split(":", 2) for line in lines)
        groups = {each: path for _, names, path in found for each in names.split(",") if container in path}
        if "memory" in groups:
            return {each: _CGROUPS / each / path.lstrip("/") for each, path in groups.items() if each}
        return {"": _CGROUPS / groups[""].lstrip("/")}
    return {}


def _numbers(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}
