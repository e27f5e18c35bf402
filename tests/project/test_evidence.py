"""The archive of our own runs: always the same bytes, and the pinned scores wherever it is evaluated."""

import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from test_package import built

from conftest import ROOT
from small_clone import expect
from touche.baselines.expected import ExpectedScore, read_expected
from touche.data.places import shipped_baselines
from touche.errors import ToucheError

pytest_plugins = ["small_clone"]
SCRIPT = ROOT / "docs" / "site" / "evidence.py"


def test_an_archive_depends_on_the_files_but_not_on_their_order_or_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = runpy.run_path(str(SCRIPT))["archive"]
    files = {"b/run.txt": b"1 Q0 d 1 1 t\n", "README.txt": b"Runs", "b/a.txt": b""}
    content = archive(files)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert archive(dict(reversed(files.items()))) == content
    assert archive(files | {"README.txt": b"runs"}) != content


def test_a_run_without_its_pinned_score_stops_the_build(clone: Path) -> None:
    text = (ROOT / "baselines" / "dirichletlm" / "expected.toml").read_text()
    [entry] = re.findall(r'\[\[score\]\]\ndataset = "spot-check/passages".*?\n\n', text, flags=re.DOTALL)
    expect(clone, re.sub(r"pinned = \S+", "pinned = 0.1", entry))
    with pytest.raises(ToucheError, match="dirichletlm on spot-check/passages: too high; see the output of"):
        runpy.run_path(str(SCRIPT))["main"]()
    assert not (clone / "build").exists()


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two archives, built at once in two folders; the second on one processor, with other settings."""
    settings = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": "/nonexistent"}
    one_processor = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    inherited = {name: value for name, value in os.environ.items() if name != "TOUCHE_DATA"}
    processes = [
        subprocess.Popen([*prefix, sys.executable, str(SCRIPT)], cwd=folder, env=inherited | variables)
        for folder, prefix, variables in zip(folders, ([], one_processor), ({}, settings), strict=True)
    ]
    assert [process.wait() for process in processes] == [0, 0]
    return [folder / "build" / "evidence.tar.gz" for folder in folders]


@pytest.mark.nightly
@pytest.mark.xdist_group("evidence")
def test_two_builds_have_one_digest(archives: list[Path]) -> None:
    assert len({hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}) == 1


@pytest.mark.nightly
@pytest.mark.xdist_group("evidence")
def test_the_installed_package_scores_each_run_as_pinned(archives: list[Path], tmp_path: Path) -> None:
    """In an empty folder and home, with only the wheel's own files."""
    with tarfile.open(archives[0]) as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / "evidence"
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True
    )
    members = {path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")}
    assert checked.returncode == 0 and len(checked.stdout.splitlines()) == len(members)
    with zipfile.ZipFile(built(tmp_path / "wheel", "wheel")) as wheel:
        wheel.extractall(tmp_path / "installed")
    expected = {}
    for name in shipped_baselines():
        for entry in read_expected(name):
            if isinstance(entry, ExpectedScore) and entry.dataset.startswith("spot-check/"):
                words = [name, *(word.lstrip("-") for word in entry.arguments)]
                member = f"{entry.dataset.replace('/', '-')}/{'-'.join(words)}.txt"
                expected[member, entry.dimension, entry.measure, entry.evaluator] = entry
    assert {entry.baseline for entry in expected.values()} == set(shipped_baselines())
    assert members - {"README.txt"} == {member for member, *_ in expected}
    scores = {}
    for dataset in {entry.dataset for entry in expected.values()}:
        runs = sorted(name for name in members if name.startswith(f"{dataset.replace('/', '-')}/"))
        command = [sys.executable, "-m", "touche", "evaluate", *runs, "--task", dataset, "--format", "json"]
        environment = {
            "HOME": str(tmp_path / "home"),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(tmp_path / "installed"),
        }
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        for score in json.loads(done.stdout):
            scores[score["run"], score["dimension"], score["measure"], score["evaluator"]] = score["mean"]
    for key, entry in expected.items():
        assert scores[key] == pytest.approx(entry.pinned, abs=entry.tolerance, rel=0), key
