"""Processor time and memory of containers, by their control groups, and memory of programs."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

_CGROUPS, _PROCESSES = Path("/sys/fs/cgroup"), Path("/proc")
_SAMPLED_EVERY = 0.05  # seconds

# What a figure of memory is.
LARGEST_PROCESS = "largest process"
PEAK = "control group, its own peak with cached files"
SAMPLES = "control group, samples without cached files"

# The kernel's figure for a program includes the memory of the process that starts it, so a small one does.
# It ignores SIGTERM, because their whole group gets the signal and the program may tidy up.
_STARTER = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: None)
file, program, *arguments = sys.argv[1:]
pid = os.posix_spawn(program, [program, *arguments], os.environ)
_, status, used = os.wait4(pid, 0)
with open(file, "w") as usage:
    print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=usage)
code = os.waitstatus_to_exitcode(status)
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def metering(command: Sequence[str], file: Path) -> list[str]:
    """The same command, which also writes to a file what ``usage_of`` reads."""
    return [sys.executable, "-ISc", _STARTER, str(file), *command]


def usage_of(file: Path) -> tuple[float, int]:
    """Seconds of processor time of a command and all that it waited for, and bytes of its largest process."""
    seconds, memory = file.read_text().split()
    return float(seconds), int(memory) * (1 if sys.platform == "darwin" else 1024)


@dataclass
class Meter:
    """What was seen of a container; None where its control group cannot be read.

    Attributes:
        id_file: the file that the container's id is written to.
        cpu: seconds of processor time.
        memory: bytes at the peak. With control groups of version 2, and Linux 5.19 or newer, the kernel's own
            ``memory.peak``, in which files that were read count until they are dropped. Elsewhere what its
            processes and its files in memory (/tmp) took in samples of 50 ms: the peak that version 1 keeps
            is that of the limit, which cached files fill before they are dropped.
        memory_of: which of the two.
    """

    id_file: Path
    cpu: float | None = None
    memory: int | None = None
    memory_of: str = ""
    _groups: Mapping[str, Path] = field(default_factory=dict)

    def sample(self) -> None:
        """Takes a sample, if the container is there."""
        try:
            self._groups = self._groups or _groups_of(self.id_file.read_text().strip())
            read = _version_2 if "" in self._groups else _version_1
            memory, self.cpu, self.memory_of = read(self._groups)
            self.memory = max(self.memory or 0, memory)
        except (OSError, ValueError, KeyError):  # not there yet, gone, or of another kind
            self._groups = {}  # or not all that they will be: a container joins one after the other


@contextmanager
def metered(id_file: Path) -> Iterator[Meter]:
    """Watches a container while the block lasts; it starts within, and its id is written to a file."""
    meter, ended = Meter(id_file), Event()

    def watch() -> None:
        while not ended.wait(_SAMPLED_EVERY):
            meter.sample()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        ended.set()
        thread.join()


def _version_1(groups: Mapping[str, Path]) -> tuple[int, float, str]:
    memory = _numbers(groups["memory"] / "memory.stat")
    resident = memory["total_rss"] + memory.get("total_shmem", 0)
    return resident, int((groups["cpuacct"] / "cpuacct.usage").read_text()) / 1e9, SAMPLES


def _version_2(groups: Mapping[str, Path]) -> tuple[int, float, str]:
    group = groups[""]
    seconds = _numbers(group / "cpu.stat")["usage_usec"] / 1e6
    if (peak := group / "memory.peak").exists():
        return int(peak.read_text()), seconds, PEAK
    memory = _numbers(group / "memory.stat")
    return memory["anon"] + memory["shmem"], seconds, SAMPLES


def _groups_of(container: str) -> dict[str, Path]:
    """The folders of a container's control groups by controller; the unified one has an empty name.

    They are those of any process in a group that bears the container's id, so that nobody has to be asked.
    Nothing while there is none: it has not begun, has ended, or runs on another machine.
    """
    for process in _PROCESSES.glob("[0-9]*/cgroup") if container else ():
        with suppress(OSError):  # it has ended meanwhile
            if groups := _groups_in(process.read_text(), container):
                return groups
    return {}


def _groups_in(text: str, container: str) -> dict[str, Path]:
    lines = (line.split(":", 2) for line in text.splitlines())
    # Podman's conmon, which watches a container, has a group that bears the id, too.
    own = [(names, path) for _, names, path in lines if container in path and "conmon" not in path]
    groups = {each: path.lstrip("/") for names, path in own for each in names.split(",")}
    if "memory" in groups:
        return {each: _CGROUPS / each / path for each, path in groups.items() if each}
    return {"": _CGROUPS / groups[""]} if "" in groups else {}


def _numbers(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}
