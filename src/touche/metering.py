"""Processor time and memory of a container, read from its control group while it runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from touche.engines import answer

_CGROUPS = Path("/sys/fs/cgroup")
_SAMPLED_EVERY = 0.05  # seconds


class Meter:
    """What was seen of a container; None where its control group cannot be read.

    Attributes:
        cpu: seconds of processor time.
        memory: peak in bytes, without the cache of files, in samples of 50 ms.
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
    return memory["total_rss"], int((groups["cpuacct"] / "cpuacct.usage").read_text()) / 1e9


def _version_2(group: Path) -> tuple[int, float]:
    return _numbers(group / "memory.stat")["anon"], _numbers(group / "cpu.stat")["usage_usec"] / 1e6


def _groups_of(engine: str, name: str) -> dict[str, Path]:
    """The folders of a container's control groups by controller; the unified one has an empty name."""
    with suppress(OSError, ValueError):
        if pid := int(answer(engine, "inspect", "--format", "{{.State.Pid}}", name) or 0):
            lines = Path(f"/proc/{pid}/cgroup").read_text().split()
            found = (line.split(":", 2) for line in lines)
            groups = {each: path for _, names, path in found for each in names.split(",")}
            if "memory" in groups:
                return {each: _CGROUPS / each / path.lstrip("/") for each, path in groups.items() if each}
            return {"": _CGROUPS / groups[""].lstrip("/")}
    return {}


def _numbers(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}
