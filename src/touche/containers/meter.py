"""Measures processor time and memory: of containers by their control groups, and of programs."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

_CGROUPS = Path("/sys/fs/cgroup")
_UNIFIED = ""  # the name of the only hierarchy of control groups of version 2; version 1 has several
_PROCESSES = Path("/proc")
_SAMPLING_SECONDS = 0.05  # between two samples

# Kinds of memory figures.
LARGEST_PROCESS = "largest process"
PEAK = "control group, its own peak with cached files"
SAMPLES = "control group, samples without cached files"

# The kernel's figure for a program includes the memory of the process that starts it, so a small process
# starts it. It ignores SIGTERM, because the whole group receives the signal, and the program may clean up.
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
    """Returns a command that runs ``command``, and then writes the file that ``read_usage`` reads."""
    # -I and -S ignore the user's environment and packages, so that Python starts fast.
    return [sys.executable, "-ISc", _STARTER, str(file), *command]


def read_usage(file: Path) -> tuple[float, int]:
    """Returns the processor time in seconds, and the bytes of the largest process."""
    seconds, memory = file.read_text().split()
    bytes_per_unit = 1 if sys.platform == "darwin" else 1024  # of getrusage's ru_maxrss
    return float(seconds), int(memory) * bytes_per_unit


@dataclass
class Meter:
    """The usage of a container; values are None if its control group cannot be read.

    Attributes:
        id_file: the file with the container's id.
        cpu: processor time in seconds.
        memory: bytes at the peak. Control groups of version 2 (Linux 5.19 or newer) have ``memory.peak``,
            which includes cached files. Otherwise the memory of processes and of files in /tmp is
            sampled every 50 ms. The peak of version 1 is useless, because cached files fill the limit.
        memory_of: the kind of the memory figure.
    """

    id_file: Path
    cpu: float | None = None
    memory: int | None = None
    memory_of: str = ""
    _groups: Mapping[str, Path] = field(default_factory=dict)

    def sample(self) -> None:
        """Takes a sample if the container runs."""
        try:
            if not self._groups:
                self._groups = _control_groups(self.id_file.read_text().strip())
            if _UNIFIED in self._groups:
                memory, self.cpu, self.memory_of = _usage_version_2(self._groups[_UNIFIED])
            else:
                memory, self.cpu, self.memory_of = _usage_version_1(self._groups)
            self.memory = max(self.memory or 0, memory)
        except (OSError, ValueError, KeyError):  # not started, ended, or groups of another kind
            self._groups = {}  # look again next time: a starting container joins its groups one by one


@contextmanager
def metered(id_file: Path) -> Iterator[Meter]:
    """Measures a container that starts within the block and writes its id to a file."""
    meter = Meter(id_file)
    ended = Event()

    def watch() -> None:
        while not ended.wait(_SAMPLING_SECONDS):
            meter.sample()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        ended.set()
        thread.join()


def _usage_version_1(groups: Mapping[str, Path]) -> tuple[int, float, str]:
    """Returns bytes of memory, seconds of processor time, and the kind of the memory figure."""
    memory = _read_numbers(groups["memory"] / "memory.stat")
    resident = memory["total_rss"] + memory.get("total_shmem", 0)  # older kernels do not report it
    nanoseconds = int((groups["cpuacct"] / "cpuacct.usage").read_text())
    return resident, nanoseconds / 1e9, SAMPLES


def _usage_version_2(group: Path) -> tuple[int, float, str]:
    """Returns bytes of memory, seconds of processor time, and the kind of the memory figure."""
    seconds = _read_numbers(group / "cpu.stat")["usage_usec"] / 1e6
    peak = group / "memory.peak"
    if peak.exists():
        return int(peak.read_text()), seconds, PEAK
    memory = _read_numbers(group / "memory.stat")
    return memory["anon"] + memory["shmem"], seconds, SAMPLES


def _control_groups(container_id: str) -> dict[str, Path]:
    """Returns the folders of a container's control groups by controller; version 2 has one, ``_UNIFIED``.

    A process belongs to the container if the paths of its groups contain the container's id. The result is
    empty if no process does, because the container has not started, has ended, or runs on another machine.
    """
    if not container_id:  # not yet written
        return {}
    for process in _PROCESSES.glob("[0-9]*/cgroup"):
        with suppress(OSError):  # the process has ended
            groups = _groups_in(process.read_text(), container_id)
            if groups:
                return groups
    return {}


def _groups_in(text: str, container_id: str) -> dict[str, Path]:
    """Returns the folders of a container's groups, by controller, from the text of /proc/PID/cgroup.

    An example of a line of version 1 is ``4:cpu,cpuacct:/docker/ID``. The only line of version 2 is such as
    ``0::/docker/ID``; its empty controller is ``_UNIFIED``.
    """
    paths: dict[str, str] = {}  # by controller, without the slash at the beginning
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        # Podman's conmon, a process that watches the container, also has a group with the id.
        if container_id in path and "conmon" not in path:
            paths |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    # In version 1, each controller has a folder or a link of its name. The machine may also have a unified
    # group, but without memory.
    if "memory" in paths:
        return {name: _CGROUPS / name / path for name, path in paths.items() if name != _UNIFIED}
    if _UNIFIED in paths:
        return {_UNIFIED: _CGROUPS / paths[_UNIFIED]}
    return {}


def _read_numbers(path: Path) -> dict[str, int]:
    """Reads a file with a name and a number in each line."""
    lines = path.read_text().splitlines()
    return {name: int(number) for name, number in map(str.split, lines)}
