"""How many processors there are to use."""

from pathlib import Path

import pytest

from conftest import Write
from touche import progress


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "100000 100000\n"}, 1),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu.max": "6400000 100000\n"}, 8),
        ({"cpu.max": "broken"}, 8),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
    ],
)
def test_they_are_those_of_the_container(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    for name, text in files.items():
        write(name, text)
    monkeypatch.setattr(progress, "_CGROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8))
    assert progress.processors() == expected
