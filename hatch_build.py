"""Build hooks: compiled C files, files that ship with the package, and addresses on its page.

python hatch_build.py           # compile the C files after a change
python hatch_build.py readme    # after a release: README then installs the package by its name
python hatch_build.py bases     # after a release: Dockerfiles then name the published bases in TOUCHE_IMAGES

The compiler is $CC or cc. Without a compiler, the build uses the wheel of ziglang, which pip fetches. The
libraries run on all processors of the same kind, and with all versions of Python.

These variables are for releases:
    WHEEL_FOR           the wheel's platform: x86_64 or aarch64 (Linux with glibc 2.17 or newer),
                        macos-x86_64 or macos-arm64 (macOS 11 or newer)
    TOUCHE_IMAGES       a JSON list with "name" and "index", the digest, of each published image
    TOUCHE_REPOSITORY   the address of the repository, for README's links and the metadata
"""

import hashlib
import json
import os
import re
import runpy
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
UNRELEASED = {  # README before and after the first release
    "touche-baselines isn't on PyPI yet. Install it from a clone with `pip install .`": (
        "Install it with `pip install touche-baselines`"
    ),
    "pip install '.[": "pip install 'touche-baselines[",
}
UNNAMED = "Clone this repository."  # in README, because no file contains the repository's address
_PICTURE = re.compile(r'\b(src|srcset)="(?![a-z]+:)([^"]+)"')
_LINK = re.compile(r"(!?)(\[[^\[\]]*\])\((?![a-z]+:|#)([^()\s]+)\)")


def library_path(source: Path) -> Path:
    """Returns the path of a C file's library, which is next to the file."""
    return source.with_suffix(".so")


def compile_one(source: Path, library: Path) -> None:
    """Compiles a library, completely or not at all, with the digest of its source in it.

    Raises:
        SystemExit: if the compiler fails, with one line below the compiler's own output.
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
        reason = error.strerror if isinstance(error, OSError) else f"exit code {error.returncode}"
        remedy = "install gcc or clang, or set CC to a C compiler"
        problem = f"{shlex.join(compiler)} failed ({reason})"
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
    from pathspec import GitIgnoreSpec  # hatchling installs it

    rules = ROOT / ".gitignore"  # missing in the build of an image
    ignored = GitIgnoreSpec.from_lines(rules.read_text().splitlines() if rules.is_file() else [])
    paths = (path.relative_to(ROOT) for name in SHIPPED for path in (ROOT / name).rglob("*"))
    yield from (path for path in paths if not ignored.match_file(path))


def released(text: str) -> str:
    """Returns README as of the first release, which installs the package by its name."""
    for before, after in UNRELEASED.items():
        text = text.replace(before, after)
    return text


def published_images() -> dict[str, str]:
    """Returns the addresses with digests of published images, by their short names."""
    images = json.loads(os.environ.get("TOUCHE_IMAGES") or "[]")
    return {image["name"].rpartition("/")[2]: f"{image['name']}@{image['index']}" for image in images}


def with_bases(text: str, images: dict[str, str]) -> str:
    """Returns a Dockerfile whose base is a published image."""

    def named(match: re.Match[str]) -> str:
        return f"ARG BASE={images[match[1]]}" if match[1] in images else match[0]

    return re.sub(r"^ARG BASE=\S*?([a-z]+)(?:@\S+)?$", named, text, flags=re.MULTILINE)


def with_addresses(text: str, repository: str, version: str) -> str:
    """Names the repository on a page, and makes relative links and pictures absolute, for a version."""

    def address(match: re.Match[str]) -> str:
        picture, words, path = match.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    named = text.replace(UNNAMED, f"Clone [{repository}]({repository}).")
    with_pictures = _PICTURE.sub(rf'\1="{repository}/raw/v{version}/\2"', named)
    return _LINK.sub(address, with_pictures)


def repository() -> str:
    """Returns the released repository's address, https://github.com/OWNER/NAME, or an empty string.

    Raises:
        SystemExit: with one line, if the address is not valid.
    """
    address = os.environ.get("TOUCHE_REPOSITORY", "")
    if address and not re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", address):
        raise SystemExit(f"TOUCHE_REPOSITORY is {address!r}; set it to https://github.com/OWNER/NAME")
    return address


def _compiler() -> list[str] | None:
    named = os.environ.get("CC") or shutil.which("cc")
    return shlex.split(named) if named and not _platform() else None


def _environment() -> dict[str, str]:
    """Returns the compiler's variables; ziglang stops if it cannot write its cache to the home directory."""
    cache = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - it raises without a home
    if os.access(cache if cache.exists() else cache.parent, os.W_OK):
        return dict(os.environ)
    return {"ZIG_GLOBAL_CACHE_DIR": str(ROOT / "build" / "zig"), **os.environ}


def _platform() -> tuple[str, str] | None:
    """Returns the entry of ``PLATFORMS`` in WHEEL_FOR, or None for this machine.

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
except ImportError:  # run as a script
    pass
else:

    class Parts(BuildHookInterface[Any]):
        """Hatchling's hook for wheels: pyproject.toml, [tool.hatch.build.targets.wheel.hooks.custom]."""

        def dependencies(self) -> list[str]:
            """Returns the requirements of the build in addition to hatchling."""
            return [] if _compiler() or self.target_name == "sdist" else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Sets the platform of the wheel, and compiles; in a clone, libraries are next to the sources."""
            if self.target_name == "sdist":
                self._record_origin(build_data)
                return
            build_data["pure_python"] = False
            build_data["tag"] = _tag()
            if version == "editable":
                for source in SOURCES:
                    compile_one(source, library_path(source))
            else:
                build_data["force_include"] |= self._compiled() | self._shipped()

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            """Removes temporary files, after the wheel contains them."""
            if version != "editable":
                self._scratch.cleanup()

        def _record_origin(self, build_data: dict[str, Any]) -> None:
            """Adds commit and time to an sdist, whose images are then those of the clone."""
            self._scratch = TemporaryDirectory(prefix="touche-sdist-")
            origin = runpy.run_path(str(ROOT / "src" / "touche" / "io" / "origin.py"))
            paths = [Path(file.path) for file in self.build_config.builder.recurse_included_files()]
            names = [path.relative_to(ROOT).as_posix() for path in paths]
            if origin["RECORD"] in names:
                return
            record = Path(self._scratch.name, origin["RECORD"])
            record.write_text(json.dumps(origin["make_record"](ROOT, names), indent=1), encoding="utf-8")
            build_data["force_include"][str(record)] = record.name

        def _compiled(self) -> dict[str, str]:
            """Compiles the libraries in a temporary folder; returns their paths in the wheel."""
            self._scratch = TemporaryDirectory(prefix="touche-wheel-")
            paths_in_wheel = {}
            for source in SOURCES:
                library = Path(self._scratch.name, library_path(source).name)
                compile_one(source, library)
                paths_in_wheel[str(library)] = library_path(source).relative_to("src").as_posix()
            return paths_in_wheel

        def _shipped(self) -> dict[str, str]:
            """Returns the paths in the wheel of the files that ship with the package."""
            files = (path for path in shipped() if (ROOT / path).is_file())
            return {str(ROOT / path): f"touche/shipped/{path.as_posix()}" for path in files}

    class Page(MetadataHookInterface):
        """Hatchling's hook for the package's page: README and addresses."""

        def update(self, metadata: dict[str, Any]) -> None:
            """Fills in the dynamic fields of pyproject.toml."""
            text = (ROOT / "README.md").read_text(encoding="utf-8")
            urls = dict(self.config["urls"])
            source = repository()
            if source:
                text = with_addresses(released(text), source, metadata["version"])
                urls |= {"Source": source, "Issues": f"{source}/issues"}
                images = published_images()
                if "base" in images:
                    urls["Base image"] = f"https://{images['base']}"
            metadata |= {"readme": {"content-type": "text/markdown", "text": text}, "urls": urls}


if __name__ == "__main__":
    if sys.argv[1:] == ["readme"]:
        readme = ROOT / "README.md"
        readme.write_text(released(readme.read_text(encoding="utf-8")), encoding="utf-8")
    elif sys.argv[1:] == ["bases"]:
        for dockerfile in ROOT.glob("baselines/*/Dockerfile"):
            text = dockerfile.read_text(encoding="utf-8")
            dockerfile.write_text(with_bases(text, published_images()), encoding="utf-8")
    else:
        for path in SOURCES:
            compile_one(path, library_path(path))
