"""Wheels for other machines, and equal results on all machines."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from platform import machine

import pytest
from test_package import built

from conftest import ROOT

pytestmark = pytest.mark.nightly

MACOS = [("macos-x86_64", 0x1000007, "x86_64"), ("macos-arm64", 0x100000C, "arm64")]  # and the CPU type
SYMTAB, LOAD_DYLIB, CODE_SIGNATURE, BUILD_VERSION = 0x2, 0xC, 0x1D, 0x32  # load commands of Mach-O
ARM = ("bm25", "dirichletlm", "dph")
NO_AVX = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"  # NumPy 2.4's names


def load_commands(library: bytes) -> Iterator[tuple[int, bytes]]:
    """The load commands of a Mach-O file of 64 bits: kind and content."""
    place = 32
    for _ in range(struct.unpack_from("<I", library, 16)[0]):
        kind, size = struct.unpack_from("<2I", library, place)
        yield kind, library[place : place + size]
        place += size


def exports(library: bytes, symtab: bytes) -> set[str]:
    """The names that a Mach-O file defines for others."""
    symbols, count, names = struct.unpack_from("<3I", symtab, 8)
    entries = [struct.unpack_from("<IB", library, symbols + 16 * number) for number in range(count)]
    defined = (library[names + name :].split(b"\0", 1)[0].decode() for name, kind in entries if kind == 0xF)
    return {name.removeprefix("_") for name in defined}


def functions(source: str) -> set[str]:
    """The functions of a C file that are not static, and the digest of the file."""
    return {*re.findall(r"^(?!static)[a-z][\w ]*[ *](\w+)\([^;{]*\)\s*{", source, re.MULTILINE), "source"}


@pytest.mark.parametrize(("platform", "processor", "tag"), MACOS)
def test_libraries_for_macos_need_its_system_library_alone(
    tmp_path: Path, platform: str, processor: int, tag: str
) -> None:
    wheel = built(tmp_path, "wheel", WHEEL_FOR=platform)
    assert wheel.name.endswith(f"-py3-none-macosx_11_0_{tag}.whl")
    archive = zipfile.ZipFile(wheel)
    names = [name for name in archive.namelist() if name.endswith(".so")]
    assert len(names) == 3
    for name in names:
        library = archive.read(name)
        commands = list(load_commands(library))
        assert struct.unpack_from("<4I", library)[::3] == (0xFEEDFACF, 6)  # 64 bits, a dynamic library
        assert struct.unpack_from("<I", library, 4) == (processor,)
        (version,) = (content for kind, content in commands if kind == BUILD_VERSION)
        assert struct.unpack_from("<2I", version, 8) == (1, 11 << 16)  # macOS 11.0
        (loaded,) = (content for kind, content in commands if kind == LOAD_DYLIB)
        assert loaded[24:].rstrip(b"\0") == b"/usr/lib/libSystem.B.dylib"
        # macOS on ARM kills programs without a signature.
        assert any(kind == CODE_SIGNATURE for kind, _ in commands) == (tag == "arm64")
        (symtab,) = (content for kind, content in commands if kind == SYMTAB)
        source = (ROOT / "src" / name).with_suffix(".c").read_text()
        assert exports(library, symtab) >= functions(source) > {"source"}


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
