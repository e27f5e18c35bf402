"""Checks of the machine by make, before it installs anything."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Write

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="needs make")


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "MAKEFLAGS")}
    command = ["make", "--silent", *arguments]
    return subprocess.run(command, cwd=ROOT, env=own | variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("version", "replaces"), [("3.99.0", True), (sys.version.split()[0], False)])
def test_another_python_replaces_the_environment(
    write: Write, tmp_path: Path, version: str, replaces: bool
) -> None:
    for name in ("bin/python", "ready", "demo"):
        write(f"venv/{name}", f"#!/bin/sh\necho Python {version}\n").chmod(0o755)
    environment = f"VENV={tmp_path / 'venv'}"
    target = str(tmp_path / "venv" / "demo")
    assert ("venv --clear" in make("-n", target, environment, f"PYTHON={sys.executable}").stdout) == replaces
    assert "--clear" not in make("-n", target, environment).stdout


def test_an_old_python_is_refused_in_a_sentence(write: Write, tmp_path: Path) -> None:
    script = f'exec "{sys.executable}" -c "import sys; sys.version_info = (3, 10); $2"'
    (old := write("old", f"#!/bin/sh\n{script}\n")).chmod(0o755)
    ended = make(str(tmp_path / "demo"), f"VENV={tmp_path}", f"PYTHON={old}")
    assert ended.returncode and "needs Python 3.11 or newer" in ended.stderr
    assert "Traceback" not in ended.stderr and not (tmp_path / "bin").exists()


def test_arm_needs_a_compiler(write: Write, tmp_path: Path) -> None:
    write("bin/uname", "#!/bin/sh\necho Linux aarch64\n").chmod(0o755)
    for name in ("sh", "make"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    target = [str(tmp_path / "demo"), f"VENV={tmp_path}", f"PYTHON={sys.executable}"]
    ended = make(*target, PATH=str(tmp_path / "bin"))
    assert ended.returncode and "install gcc, libc6-dev and python3-dev" in ended.stdout
