"""Bars on a terminal, and nothing anywhere else; and how many processors there are to use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Write, on_terminal
from touche.io import opening, progress
from touche.io.opening import md5, read_lines

SLOW = """
import logging, sys, time
from touche.io import progress
progress._SECONDS_WITHOUT_BAR, level = float(sys.argv[1]), sys.argv[2]
logging.getLogger("touche").setLevel(level)
for number in progress.watched(range(8), "counting", "sheep", 8):
    time.sleep(0.15)
    if number == 6:
        progress.say("a line of its own")
print("done")
"""


def test_a_bar_with_rate_and_time_left_comes_after_a_while_and_goes_in_the_end() -> None:
    shown = on_terminal("-c", SLOW, "0.6", "INFO")
    bars = re.findall(r"counting: +(\d+)%\|.*?(\d)/8 \[00:0\d<00:0\d, .*? sheep/s\]", shown)
    assert bars and int(bars[0][1]) >= 2  # not from the start
    assert re.search(r"\r +\ra line of its own\r\n\rcounting: ", shown)  # which goes on below it
    assert re.search(r"\r +\rdone\r\n$", shown)


@pytest.mark.parametrize(("delay", "level"), [("60", "INFO"), ("0.3", "WARNING")])
def test_there_is_no_bar_for_what_is_short_nor_when_quiet(delay: str, level: str) -> None:
    shown = on_terminal("-c", SLOW, delay, level).replace("\r", "")
    assert [line.strip() for line in shown.splitlines()] == ["a line of its own", "done"]


def test_nothing_at_all_is_shown_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW, "0.3", "INFO"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", "a line of its own\n")


def test_a_notebook_has_a_bar_although_it_is_not_a_terminal() -> None:
    in_notebook = f"import sys; sys.modules['ipykernel'] = sys\n{SLOW}"
    done = subprocess.run([sys.executable, "-c", in_notebook, "0.3", "INFO"], capture_output=True, text=True)
    assert re.search(r"counting: +\d+%\|.*\d/8 ", done.stderr) and done.stdout == "done\n"


# The time is that of sleep, because on a loaded machine more passes.
LOGGED = f"""
import time
seconds = []
time.sleep = seconds.append
time.monotonic = lambda: sum(seconds)
{SLOW.replace("_SECONDS_WITHOUT_BAR, level", "_SECONDS_BETWEEN_LINES, level")}
"""


@pytest.mark.parametrize(("level", "count"), [("INFO", 2), ("WARNING", 0)])
def test_a_log_has_a_line_per_interval(level: str, count: int) -> None:
    command = [sys.executable, "-c", LOGGED, "0.4", level]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = re.findall(r"^counting: +\d+% (\d)/8 \[00:0\d<00:0\d, .* sheep.*\]$", done.stderr, re.MULTILINE)
    assert len(lines) == count and lines == sorted(lines)
    assert "\r" not in done.stderr and done.stdout == "done\n"


@pytest.mark.parametrize("name", ["large.txt", "large.txt.gz"])
def test_a_large_file_is_read_as_it_is(write: Write, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(opening, "_LARGE_FILE", 100)
    path = write(name, "".join(f"line {number}\n" for number in range(20_000)))
    assert [text for _, text in read_lines(path)] == [f"line {number}" for number in range(20_000)]
    watched = md5(path)
    monkeypatch.undo()
    assert watched == md5(path)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "100000 100000\n"}, 1),
        ({"cpu.max": "250000 100000\n"}, 3),
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
