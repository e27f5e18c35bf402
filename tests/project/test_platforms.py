"""Wheels for other machines, and equal results on all machines."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from platform import machine

import pytest
from test_package import built

from conftest import ROOT

pytestmark = pytest.mark.nightly

MACOS = [("macos-x86_64", 0x1000007, "x86_64"), ("macos-arm64", 0x100000C, "arm64")]  # and the CPU type
ARM = ("bm25", "dirichletlm", "dph")
NO_AVX = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"  # NumPy 2.4's names


@pytest.mark.parametrize(("platform", "processor", "tag"), MACOS)
def test_libraries_for_macos_need_its_system_library_alone(
    tmp_path: Path, platform: str, processor: int, tag: str
) -> None:
    """The workflow of a release runs them on macOS."""
    wheel = built(tmp_path, "wheel", WHEEL_FOR=platform)
    assert wheel.name.endswith(f"-py3-none-macosx_11_0_{tag}.whl")
    with zipfile.ZipFile(wheel) as archive:
        libraries = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    assert len(libraries) == 3
    for library in libraries:
        assert struct.unpack_from("<2I", library) == (0xFEEDFACF, processor)  # Mach-O of 64 bits
        assert {*re.findall(rb"[\w./]+\.dylib", library)} == {b"/usr/lib/libSystem.B.dylib"}


def run(folder: Path, baseline: str, dataset: str, *python: str | Path, **variables: str) -> bytes:
    """The run.txt of a baseline, computed by another Python or with more environment variables."""
    command = [*python, "-m", "touche", "run", baseline, "-i", dataset, "-o", str(folder)]
    ended = subprocess.run(command, env=os.environ | variables, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 0, ended.stderr
    return (folder / "run.txt").read_bytes()


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """Debian's Python for ARM under qemu, with the wheel for ARM."""
    programs = ("mmdebstrap", "qemu-aarch64-static", "apt-get")
    if missing := [name for name in programs if not shutil.which(name)]:
        pytest.skip(f"needs {' and '.join(missing)}")
    folder = tmp_path_factory.mktemp("arm")
    wheel = built(folder, "wheel", WHEEL_FOR="aarch64")
    unpack = (
        "mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3,libstdc++6 bookworm"
    )
    subprocess.run([*unpack.split(), folder / "debian"], check=True)
    requirements = ROOT / "docker" / "base.txt"
    install = "pip install --quiet --require-hashes --no-deps --only-binary :all: --python-version 3.11"
    platforms = [
        f"--platform={name}_aarch64" for name in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    ]
    command = [sys.executable, "-m", *install.split(), *platforms, "--target", folder / "packages"]
    subprocess.run([*command, "--requirement", requirements], check=True)
    command.remove("--require-hashes")
    subprocess.run([*command, wheel], check=True)
    python = folder / "debian" / "usr" / "bin" / "python3.11"
    environment = ["env", f"PYTHONPATH={folder / 'packages'}", "PYTHONDONTWRITEBYTECODE=1"]
    return [*environment, "qemu-aarch64-static", "-L", folder / "debian", python]


@pytest.mark.parametrize("baseline", ARM)
def test_a_run_on_arm_has_the_same_bytes(arm: list[str | Path], tmp_path: Path, baseline: str) -> None:
    dataset = "spot-check/arguments"
    expected = run(tmp_path / "here", baseline, dataset, sys.executable)
    assert run(tmp_path / "arm", baseline, dataset, *arm) == expected


@pytest.mark.skipif(machine() != "x86_64", reason="needs a processor of the kind x86-64")
@pytest.mark.parametrize("baseline", sorted(path.name for path in (ROOT / "baselines").glob("[a-z]*")))
def test_a_run_without_avx_has_the_same_bytes(tmp_path: Path, baseline: str) -> None:
    expected = tomllib.loads((ROOT / "baselines" / baseline / "expected.toml").read_text())
    datasets = {entry["dataset"] for entry in expected["run"] if entry["dataset"].startswith("spot-check/")}
    assert datasets
    for dataset in datasets:
        usual = run(tmp_path / "usual", baseline, dataset, sys.executable)
        variables = {"NPY_DISABLE_CPU_FEATURES": NO_AVX}
        assert run(tmp_path / "without", baseline, dataset, sys.executable, **variables) == usual
