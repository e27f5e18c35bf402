"""The energy that this machine's processors use, from the kernel's counters (RAPL, by powercap)."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event, Lock, Thread

POWERCAP = Path("/sys/class/powercap")
_PACKAGE = re.compile("intel-rapl:[0-9]+")  # also AMD's; zones within a package have two numbers
_SECONDS_BETWEEN_READINGS = 60  # because a counter can restart after some minutes

Counters = dict[str, tuple[int, int]]
"""The counter of each processor package and the number at which it restarts, in microjoules."""


class EnergyMeter(AbstractContextManager["EnergyMeter"]):
    """Adds up the energy of all processors, also for other programs, until its ``with`` statement ends."""

    def __init__(self) -> None:
        self._counters = read_counters()
        self._microjoules = 0
        self._lock = Lock()
        self._ended = Event()

    def __enter__(self) -> "EnergyMeter":
        if self._counters:
            Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    def joules(self) -> float | None:
        """Returns the energy since the beginning; None if it is unknown, or a counter was unreadable once."""
        with self._lock:
            counters = read_counters()
            if counters.keys() != self._counters.keys():
                counters = {}  # for good: later readings are empty too, or have other keys
            for package, (count, limit) in counters.items():
                earlier_count, _ = self._counters[package]
                self._microjoules += (count - earlier_count) % limit  # a restarted counter begins at 0
            self._counters = counters
            return self._microjoules / 1e6 if counters else None

    def _watch(self) -> None:
        """Reads the counters often enough to notice every restart."""
        while not self._ended.wait(_SECONDS_BETWEEN_READINGS):
            self.joules()


def read_counters() -> Counters:
    """Reads the counters of all processor packages; the result is empty if one of them is unreadable.

    The counter of a platform (``psys``) and those within a package are left out, because they count the same
    energy again.
    """
    counters: Counters = {}
    try:
        for zone in POWERCAP.iterdir():
            if _PACKAGE.fullmatch(zone.name) and (zone / "name").read_text().startswith("package"):
                limit = int((zone / "max_energy_range_uj").read_text())
                counters[zone.name] = int((zone / "energy_uj").read_text()), limit
    except (OSError, ValueError):
        return {}
    has_limits = all(limit > 0 for _, limit in counters.values())  # without one, a restart is unclear
    return counters if has_limits else {}
