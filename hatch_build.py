"""Compiles src/touche/scan/words.c where the package is installed or built, so that no user needs a compiler.

python hatch_build.py    # by itself, after a change to the C file

The compiler is $CC or cc; where there is none, it is the one in the wheel of ziglang, which pip fetches for
the build. What it makes runs on every processor of its kind, and with every version of Python.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
SOURCE, LIBRARY = Path("src/touche/scan/words.c"), Path("src/touche/scan/words.so")
ZIG = "ziglang>=0.13"


def compile_words() -> None:
    """Writes the library beside its source, whole or not at all."""
    unfinished = LIBRARY.with_suffix(f".{os.getpid()}")
    options = ["-std=c99", "-O3", "-fPIC", "-shared", "-o", str(unfinished), str(SOURCE)]
    subprocess.run(
        [*(_compiler() or [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]), *options],
        cwd=ROOT,
        check=True,
    )
    (ROOT / unfinished).replace(ROOT / LIBRARY)


def _compiler() -> list[str] | None:
    named = os.environ.get("CC") or shutil.which("cc")
    return shlex.split(named) if named else None


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a script
    pass
else:

    class Words(BuildHookInterface):  # type: ignore[misc]
        """The hook of hatchling: pyproject.toml, [tool.hatch.build.targets.wheel.hooks.custom]."""

        def dependencies(self) -> list[str]:
            """What the build needs beyond hatchling."""
            return [] if _compiler() else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compiles, and says for which platform the wheel is."""
            compile_words()
            build_data["artifacts"].append(str(LIBRARY))
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


if __name__ == "__main__":
    compile_words()
