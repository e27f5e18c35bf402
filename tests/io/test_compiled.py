import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from conftest import ROOT
from touche import documents
from touche.errors import ToucheError
from touche.io.compiled import compiled

SOURCE = Path(documents.__file__).with_name("bounds.c")
FUNCTIONS = {"json_bounds": (None,)}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for suffix in (".c", ".so"):
        shutil.copy(SOURCE.with_suffix(suffix), tmp_path)
    return tmp_path / "bounds.so"


def test_a_library_is_known_by_what_it_was_made_of_and_not_by_times(library: Path) -> None:
    os.utime(library, (0, 0))
    assert compiled(library, FUNCTIONS).json_bounds
    with library.with_suffix(".c").open("a") as source:
        source.write("\n")
    message = r"bounds\.so: the compiled part .* \(bounds\.c has changed since .*: python hatch_build\.py$"
    with pytest.raises(ToucheError, match=message):
        compiled(library, FUNCTIONS)
    library.with_suffix(".c").unlink()  # it needs no source
    assert compiled(library, FUNCTIONS).json_bounds


def test_a_library_that_does_not_know_its_source_is_refused(tmp_path: Path) -> None:
    """As those of earlier versions."""
    library = tmp_path / "bounds.so"
    library.symlink_to(orjson.orjson.__file__)
    with pytest.raises(ToucheError, match=r"bounds\.so: the compiled part cannot be used \(.*source"):
        compiled(library, FUNCTIONS)


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [("false", "exit code 1"), ("true", "No such file"), ("./none -O1", "No such file")],
)
def test_a_compiler_that_fails_is_named_in_one_line(compiler: str, reason: str) -> None:
    command = [sys.executable, ROOT / "hatch_build.py"]
    ended = subprocess.run(
        command, env=os.environ | {"CC": compiler}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"src/touche/documents/bounds.c: {compiler} failed ({reason}")
    assert ended.stderr.endswith("set CC to a C compiler\n") and ended.stderr.count("\n") == 1
