"""Compiles the C files of the package where it is installed or built, so that no user needs a compiler.

python hatch_build.py    # by itself, after a change to one of them

The compiler is $CC or cc; where there is none, it is the one in the wheel of ziglang, which pip fetches for
the build. What it makes runs on every processor of its kind, and with every version of Python.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
SOURCES = sorted(path.relative_to(ROOT) for path in (ROOT / "src" / "touche").rglob("*.c"))
ZIG = "ziglang>=0.13"


def library_of(source: Path) -> Path:
    """Where the library of a C file lies: beside it."""
    return source.with_suffix(".so")


def compile_one(source: Path) -> None:
    """Writes a library, whole or not at all, which knows what it was made of.

    Raises:
        SystemExit: with one line, if the compiler fails; what it says itself stands above.
    """
    compiler = _compiler() or [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
    unfinished = source.with_suffix(f".{os.getpid()}")
    digest = hashlib.sha256((ROOT / source).read_bytes()).hexdigest()
    options = ["-std=c99", "-O3", "-fPIC", "-shared", f'-DSOURCE="{digest}"']
    try:
        subprocess.run([*compiler, *options, "-o", unfinished, source], cwd=ROOT, check=True)
        (ROOT / unfinished).replace(ROOT / library_of(source))
    except (OSError, subprocess.CalledProcessError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it ended with {error.returncode}"
        remedy = "install gcc or clang, or name a compiler of C in the variable CC"
        problem = f"{shlex.join(compiler)} cannot compile it ({reason})"
        raise SystemExit(f"{source}: {problem}; {remedy}") from error


def _compiler() -> list[str] | None:
    named = os.environ.get("CC") or shutil.which("cc")
    return shlex.split(named) if named else None


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a script
    pass
else:

    class Libraries(BuildHookInterface):  # type: ignore[misc]
        """The hook of hatchling: pyproject.toml, [tool.hatch.build.targets.wheel.hooks.custom]."""

        def dependencies(self) -> list[str]:
            """What the build needs beyond hatchling."""
            return [] if _compiler() else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compiles, and says for which platform the wheel is."""
            for source in SOURCES:
                compile_one(source)
                build_data["artifacts"].append(str(library_of(source)))
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


if __name__ == "__main__":
    for each in SOURCES:
        compile_one(each)
