"""What a build adds to the package: its compiled C files, what ships with it, and addresses for its page.

python hatch_build.py           # compiles the C files by itself, after a change to one of them
python hatch_build.py readme    # after the first release: README installs the package by its name

The compiler is $CC or cc; where there is none, it is the one in the wheel of ziglang, which pip fetches for
the build. What it makes runs on every processor of its kind, and with every version of Python.

Two variables are for releases:
    WHEEL_FOR           the platform of the wheel, by ziglang: x86_64 or aarch64 for Linux with glibc 2.17
                        or newer, macos-x86_64 or macos-arm64 for macOS 11 or newer
    TOUCHE_REPOSITORY   the address of the repository: README's links lead there, and the metadata names it
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent
SOURCES = sorted(path.relative_to(ROOT) for path in (ROOT / "src" / "touche").rglob("*.c"))
SHIPPED = ("baselines", "topics", "qrels", "corpora")  # the wheel has them in touche/shipped/
PLATFORMS = {  # by WHEEL_FOR: the target of ziglang, and the tag of the wheel
    "x86_64": ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "aarch64": ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "macos-x86_64": ("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-arm64": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
}
ZIG = "ziglang>=0.13"
UNRELEASED = {  # what README says before the first release, and after it
    "No version is on PyPI yet. Install the package from a clone,": "Install the package",
    "pip install .\n": "pip install touche-baselines\n",
    "pip install '.[": "pip install 'touche-baselines[",
    "uvx --from . touche": "uvx touche-baselines",
}
_LINK = re.compile(r"(!?)(\[[^\[\]]*\])\((?![a-z]+:|#)([^()\s]+)\)")


def library_of(source: Path) -> Path:
    """Where the library of a C file lies: beside it."""
    return source.with_suffix(".so")


def compile_one(source: Path, library: Path) -> None:
    """Writes a library, whole or not at all, which knows what it was made of.

    Raises:
        SystemExit: with one line, if the compiler fails; what it says itself stands above.
    """
    compiler = _compiler() or [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", *_target()]
    unfinished = library.with_suffix(f".{os.getpid()}")
    digest = hashlib.sha256((ROOT / source).read_bytes()).hexdigest()
    options = ["-std=c99", "-O3", "-fPIC", "-shared", f'-DSOURCE="{digest}"']
    try:
        command = [*compiler, *options, "-o", str(unfinished), str(source)]
        subprocess.run(command, cwd=ROOT, env=_environment(), check=True)
        (ROOT / unfinished).replace(ROOT / library)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it ended with {error.returncode}"
        remedy = "install gcc or clang, or name a compiler of C in the variable CC"
        problem = f"{shlex.join(compiler)} cannot compile it ({reason})"
        raise SystemExit(f"{source}: {problem}; {remedy}") from error


def shipped() -> Iterator[Path]:
    """Yields the files that ship with the package: those that git tracks.

    Without git, and in an sdist, these are all files that .gitignore does not exclude.
    """
    command = ["git", "--git-dir", ".git", "ls-files", "-z", "--", *SHIPPED]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        yield from _not_ignored()
    else:
        yield from map(Path, filter(None, listed.stdout.split("\0")))


def _not_ignored() -> Iterator[Path]:
    from pathspec import GitIgnoreSpec  # which hatchling installs

    rules = ROOT / ".gitignore"  # which the build of an image lacks
    ignored = GitIgnoreSpec.from_lines(rules.read_text().splitlines() if rules.is_file() else [])
    paths = (path.relative_to(ROOT) for name in SHIPPED for path in (ROOT / name).rglob("*"))
    yield from (path for path in paths if not ignored.match_file(path))


def released(text: str) -> str:
    """README as it is from the first release on: the package has a name on PyPI."""
    for before, after in UNRELEASED.items():
        text = text.replace(before, after)
    return text


def with_addresses(text: str, repository: str, version: str) -> str:
    """A page whose relative links and pictures lead to a version of the repository."""

    def address(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return _LINK.sub(address, text)


def repository() -> str:
    """The address that the package is released from, as https://github.com/OWNER/NAME; or empty.

    Raises:
        SystemExit: with one line, if it is no such address.
    """
    given = os.environ.get("TOUCHE_REPOSITORY", "")
    if given and not re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", given):
        raise SystemExit(f"TOUCHE_REPOSITORY is {given!r}; give an address as https://github.com/OWNER/NAME")
    return given


def _compiler() -> list[str] | None:
    named = os.environ.get("CC") or shutil.which("cc")
    return shlex.split(named) if named and not _platform() else None


def _environment() -> dict[str, str]:
    """Returns the variables for the compiler: ziglang stops where it cannot write its cache into the home."""
    cache = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - it raises without a home
    if os.access(cache if cache.exists() else cache.parent, os.W_OK):
        return dict(os.environ)
    return {"ZIG_GLOBAL_CACHE_DIR": str(ROOT / "build" / "zig"), **os.environ}


def _platform() -> tuple[str, str] | None:
    """The entry of ``PLATFORMS`` that WHEEL_FOR names; None if the wheel is for this machine.

    Raises:
        SystemExit: with one line, if there is no such entry.
    """
    name = os.environ.get("WHEEL_FOR", "")
    if name and name not in PLATFORMS:
        raise SystemExit(f"WHEEL_FOR is {name!r}; choose among {', '.join(PLATFORMS)}, or unset it")
    return PLATFORMS.get(name)


def _target() -> list[str]:
    platform = _platform()
    return ["-target", platform[0]] if platform else []


def _tag() -> str:
    platform = _platform()
    name = platform[1] if platform else sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{name}"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # as a script
    pass
else:

    class Parts(BuildHookInterface[Any]):
        """The hook of hatchling for wheels: pyproject.toml, [tool.hatch.build.targets.wheel.hooks.custom]."""

        def dependencies(self) -> list[str]:
            """What the build needs beyond hatchling."""
            return [] if _compiler() else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Says for which platform the wheel is, and compiles: for a clone in use beside the sources."""
            build_data["pure_python"] = False
            build_data["tag"] = _tag()
            if version == "editable":
                for source in SOURCES:
                    compile_one(source, library_of(source))
            else:
                build_data["force_include"] |= self._compiled() | self._shipped()

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            """Removes what the wheel has now."""
            if version != "editable":
                self._scratch.cleanup()

        def _compiled(self) -> dict[str, str]:
            self._scratch = TemporaryDirectory(prefix="touche-wheel-")
            libraries = {source: Path(self._scratch.name, library_of(source).name) for source in SOURCES}
            for source, library in libraries.items():
                compile_one(source, library)
            places = {source: library_of(source).relative_to("src").as_posix() for source in SOURCES}
            return {str(library): places[source] for source, library in libraries.items()}

        def _shipped(self) -> dict[str, str]:
            files = (path for path in shipped() if (ROOT / path).is_file())
            return {str(ROOT / path): f"touche/shipped/{path.as_posix()}" for path in files}

    class Page(MetadataHookInterface):
        """The hook of hatchling for what the package's page shows: README, and addresses."""

        def update(self, metadata: dict[str, Any]) -> None:
            """Fills in what pyproject.toml calls dynamic."""
            text, urls = (ROOT / "README.md").read_text(encoding="utf-8"), dict(self.config["urls"])
            if source := repository():
                text = with_addresses(released(text), source, metadata["version"])
                urls |= {"Source": source, "Issues": f"{source}/issues"}
            metadata |= {"readme": {"content-type": "text/markdown", "text": text}, "urls": urls}


if __name__ == "__main__":
    if sys.argv[1:] == ["readme"]:
        (ROOT / "README.md").write_text(
            released((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8"
        )
    else:
        for each in SOURCES:
            compile_one(each, library_of(each))
