"""Results are the same with each kernel of linear algebra, and without vector instructions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

KERNELS = [
    ({"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": threads}, f"{kernel}-{threads}")
    for kernel in ("Prescott", "Haswell", "Zen", "SkylakeX")
    for threads in "12"
]
PLAIN = ({"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}, "plain")


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "variables", [kernel for kernel, _ in (*KERNELS, PLAIN)], ids=[name for _, name in (*KERNELS, PLAIN)]
)
def test_no_verdict_depends_on_the_processor(variables: dict[str, str], tmp_path: Path) -> None:
    tests = [
        "tests/lab/test_official_formulas.py",
        "tests/lab/identification/test_identify.py",
        "tests/lab/identification/test_closed.py",
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += ["-m", "not nightly", f"--basetemp={tmp_path / 'of'}", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
