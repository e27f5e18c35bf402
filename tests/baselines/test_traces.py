"""A run leaves no temporary files, and opens no connection."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from conftest import ROOT, left_in
from touche.baselines.expected import read_expected
from touche.data.places import shipped_baselines

# Java asks at its start whether there is IPv4 and IPv6 by opening a socket of each, which it closes again.
_ASKED = re.compile(r"socket\((?:AF_UNIX,|AF_INET6?, SOCK_STREAM, IPPROTO_IP(?:\)| <unfinished))")
_TALK = ("connect", "bind", "sendto", "sendmsg", "sendmmsg")


@dataclass(frozen=True)
class Traces:
    """Files that a run has left, and its system calls on sockets; None without strace."""

    files: list[str]
    calls: list[str] | None


QUICK = ("bm25", "elrond", "sentence-coherence")  # by the scan, by Lucene, by a language model


@pytest.fixture(
    scope="module",
    params=[
        name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly)
        for name in shipped_baselines()
    ],
)
def traces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Runs a baseline with an empty home directory, as for a new user."""
    name = str(request.param)
    folder = tmp_path_factory.mktemp("traces")
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    dataset = next(call.dataset for call in read_expected(name) if call.dataset.startswith("spot-check/"))
    command = [sys.executable, "-m", "touche", "run", name, "-i", dataset, "-o", str(folder / "out")]
    if strace := shutil.which("strace"):
        command = [strace, "-f", "-qq", "-e", "trace=%network", "-o", str(folder / "calls"), *command]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = [str(path) for part in ("home", "tmp") for path in left_in(folder / part)]
    return Traces(files, (folder / "calls").read_text().splitlines() if strace else None)


def test_a_run_leaves_nothing_in_the_home_of_its_user(traces: Traces) -> None:
    assert traces.files == []


def test_a_run_talks_to_nobody(traces: Traces) -> None:
    if traces.calls is None:
        pytest.skip("needs strace, to see system calls: install it (apt-get install strace)")
    opened = [call for call in traces.calls if "socket(" in call]
    assert [call for call in opened if not _ASKED.search(call)] == []
    talked = [call for call in traces.calls if re.search(rf"\b(?:{'|'.join(_TALK)})\(", call)]
    assert [call for call in talked if "AF_UNIX" not in call] == []
