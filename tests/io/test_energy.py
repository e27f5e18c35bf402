from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from conftest import write_files
from touche.io import energy
from touche.io.energy import EnergyMeter

Zone = Callable[[str, str, int], Path]


@pytest.fixture
def zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Zone:
    """Writes a zone into a made-up folder of powercap, with a counter that restarts at 1,000,000."""
    monkeypatch.setattr(energy, "POWERCAP", tmp_path / "powercap")

    def write(name: str, device: str, count: int) -> Path:
        files = {"name": f"{device}\n", "max_energy_range_uj": "1000000\n", "energy_uj": f"{count}\n"}
        return write_files(tmp_path / "powercap" / name, files) / "energy_uj"

    return write


def test_the_energy_is_that_of_all_packages(zone: Zone) -> None:
    first = zone("intel-rapl:0", "package-0", 100)
    second = zone("intel-rapl:1", "package-1-die-0", 200)
    others = [
        zone("intel-rapl:0:0", "core", 0),
        zone("intel-rapl:2", "psys", 0),
        zone("intel-rapl-mmio:0", "package-0", 0),
    ]
    (first.parents[1] / "intel-rapl").mkdir()  # the control type, which is not a zone
    with EnergyMeter() as meter:
        first.write_text("500100\n")
        second.write_text("250200\n")
        for other in others:
            other.write_text("9\n")
        assert meter.joules() == 0.75
        assert meter.joules() == 0.75


def test_a_counter_may_restart_more_than_once(zone: Zone) -> None:
    counter = zone("intel-rapl:0", "package-0", 900_000)
    with EnergyMeter() as meter:
        counter.write_text("100000\n")
        assert meter.joules() == 0.2
        counter.write_text("50000\n")
        assert meter.joules() == 1.15


def test_counters_are_read_from_time_to_time(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_SECONDS_BETWEEN_READINGS", 0.01)
    counter = zone("intel-rapl:0", "package-0", 0)
    read = Event()
    original = energy.read_counters
    monkeypatch.setattr(energy, "read_counters", lambda: (original(), read.set())[0])
    with EnergyMeter() as meter:
        counter.write_text("600000\n")
        for _ in range(2):  # one reading may have begun before the counter was written
            read.clear()
            assert read.wait(10)
        counter.write_text("400000\n")
        assert meter.joules() == 1.4


@pytest.mark.parametrize("content", ["", "-", "no number"])
def test_nothing_is_reported_if_a_counter_is_unreadable(zone: Zone, content: str) -> None:
    zone("intel-rapl:0", "package-0", 1)
    counter = zone("intel-rapl:1", "package-1", 1)
    with EnergyMeter() as meter:
        counter.write_text(content)
        assert meter.joules() is None
        counter.write_text("2\n")
        assert meter.joules() is None  # because a part of the energy is unknown


def test_nothing_is_reported_without_counters(zone: Zone, tmp_path: Path) -> None:
    with EnergyMeter() as meter:
        assert meter.joules() is None
    counter = zone("intel-rapl:0", "package-0", 1)
    counter.with_name("max_energy_range_uj").write_text("0\n")
    with EnergyMeter() as meter:
        assert meter.joules() is None
    counter.with_name("max_energy_range_uj").unlink()
    counter.unlink()
    counter.mkdir()  # as unreadable as a counter of root
    with EnergyMeter() as meter:
        assert meter.joules() is None
