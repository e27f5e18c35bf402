"""Runs that an earlier sweep completed, from the same input, options, code and libraries."""

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import Any

import orjson

from touche.baselines.declaration import EXTRA_MODULES
from touche.baselines.files import combined_digest, fingerprint, fingerprints
from touche.baselines.neighbours import INSTALLED
from touche.baselines.running import Runs
from touche.documents.files import Files
from touche.io.opening import is_file, md5, texts_in
from touche.io.writing import write_whole
from touche.tira.outputs import METADATA_FILE
from touche.trec.runs import RUN_FILE

COMPLETE_FILE = "complete.json"
"""File in a run's folder once the run is complete."""
_known_versions: dict[str, str] = {}  # of loaded modules, each as this process first saw it


class Resumption:
    """Complete runs of one baseline on one input."""

    def __init__(self, runs: Runs, output: Path) -> None:
        """Creates the resumption of runs.

        Args:
            runs: baseline and its input.
            output: folder of all runs, which may be in the folder of the baseline or of the input.
        """
        self._runs = runs
        self._output = os.path.realpath(output)
        self._origins: dict[Path, str] = {}  # for each run's folder, what the run depends on at its beginning

    def is_complete(self, folder: Path, options: Mapping[str, Any]) -> bool:
        """Notes what a run depends on, and returns whether its folder has a complete run with these options.

        Args:
            folder: folder of the run.
            options: values of all options of the baseline.
        """
        self._origins[folder] = self._describe_origin(options, self._code_digest)
        if not all(is_file(folder / name) for name in (COMPLETE_FILE, METADATA_FILE, RUN_FILE)):
            return False
        # The worst effect of a broken file is a repeated run.
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            record = orjson.loads((folder / COMPLETE_FILE).read_bytes())
            # A new record of the same modules, whose versions may have changed since.
            return bool(record == self._completion_record(folder, record["modules"]))
        return False

    def complete(self, folder: Path, options: Mapping[str, Any]) -> None:
        """Marks the run in a folder as complete, unless its code or an option's file has changed meanwhile.

        Args:
            folder: folder of the run.
            options: values of all options of the baseline.
        """
        ranker = self._runs.ranker
        if ranker.folder is None:  # the code of a function is in no files that can be compared
            return
        loaded_code = self._digest(ranker.folder, ranker.files)  # ranker.files is from the import
        present_code = self._digest(ranker.folder, fingerprints(ranker.folder))
        if (
            present_code == loaded_code
            and self._describe_origin(options, present_code) == self._origins[folder]
        ):
            write_whole(
                folder / COMPLETE_FILE,
                json.dumps(self._completion_record(folder, _modules()), indent=2) + "\n",
            )

    def _completion_record(self, folder: Path, modules: Iterable[str]) -> dict[str, Any]:
        """Returns the content of ``COMPLETE_FILE``: hashes of a run and its origin, versions of modules."""
        origin = self._origins[folder].encode(errors="backslashreplace")  # names may not be UTF-8
        return {
            RUN_FILE: md5(folder / RUN_FILE),
            "made of": hashlib.md5(origin).hexdigest(),
            "modules": _versions(modules),
        }

    @cached_property
    def _code_digest(self) -> str:
        """Digest of the baseline's files; random for a plain function, whose code is unknown."""
        folder = self._runs.ranker.folder
        return self._digest(folder, fingerprints(folder)) if folder else token_hex()

    def _describe_origin(self, options: Mapping[str, Any], code: str) -> str:
        """Returns a text with all that a run depends on, except modules.

        Args:
            options: values of all options of the baseline.
            code: digest of the baseline's files.
        """
        # The run itself writes to the folders of keep_ options, so their content is not compared.
        values = [value for name, value in options.items() if not name.startswith("keep_")]
        # Any text may be the path of a file.
        contents = [self._fingerprint(Path(text)) for value in values for text in texts_in(value) if text]
        return repr([sorted(options.items()), contents, code, self._described_input])

    def _fingerprint(self, path: Path) -> str:
        """Returns a fingerprint of the file or folder that an option names, or an empty text."""
        with suppress(OSError, ValueError):  # a text that cannot be a path, because it is too long or has NUL
            if path.is_dir():
                return self._digest(path, fingerprints(path))
            if path.is_file():
                return fingerprint(path)
        return ""

    def _digest(self, folder: Path, files: Mapping[Path, str]) -> str:
        """Returns the digest of the files in a folder, without those of the sweep."""
        return combined_digest(
            {
                path: value
                for path, value in files.items()
                if not Path(os.path.realpath(folder / path)).is_relative_to(self._output)
            }
        )

    @cached_property
    def _described_input(self) -> str:
        """Text with the input, the name of the baseline, and the version of Python."""
        source = self._runs.source
        return repr(
            [
                self._runs.ranker.name,
                platform.python_version(),
                source.description,
                [(topic.number, topic.title, sorted(topic.candidates or ())) for topic in source.topics],
                self._runs.data(),
                self._fingerprints_without_md5(),
            ]
        )

    def _fingerprints_without_md5(self) -> list[str]:
        """Returns fingerprints of input files whose md5 is not in the run's metadata."""
        documents = self._runs.source.documents
        entries = self._runs.data()["test collection"]["files"].values()
        digests = []
        if any("md5" not in entry for entry in entries):  # only names and sizes are in the metadata
            digests += [self._fingerprint(path) for path in self._runs.source.files]
        names_other_files = isinstance(documents, Files) and not documents.format.is_complete
        if names_other_files:  # such as pages.csv, whose documents are other files in its folder
            folder = documents.paths[0].parent
            digests.append(self._digest(folder, fingerprints(folder)))
        return digests


def _modules() -> list[str]:
    """Returns the modules that a run may have used: all that are loaded, and those of the extras."""
    loaded = {name.partition(".")[0] for name in sys.modules}
    return sorted((loaded | EXTRA_MODULES) - sys.stdlib_module_names - {"__main__"})


def _versions(modules: Iterable[str]) -> dict[str, str]:
    """Returns the versions of modules.

    A loaded module keeps the version that it had when this function first saw it, because Python does not
    load it again after an update.
    """
    unknown = {*modules} - _known_versions.keys()
    packages = _packages(_times(sys.path)) if unknown else {}  # only if needed, because it takes long
    versions = {module: _version_text(module, packages.get(module, ())) for module in unknown}
    _known_versions.update({module: versions[module] for module in unknown if module in sys.modules})
    versions |= _known_versions
    return {module: versions[module] for module in modules}


@cache
def _packages(times: tuple[tuple[str, int], ...]) -> Mapping[str, list[str]]:
    """Returns the packages of each module, which takes half a second.

    Args:
        times: the result of ``_times``; if it is new, packages may be new, so the cached result is not used.
    """
    return packages_distributions()


def _times(folders: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Returns when folders have changed, for example because a package was installed."""
    return tuple((folder, Path(folder).stat().st_mtime_ns) for folder in folders if Path(folder).is_dir())


def _version_text(module: str, packages: Sequence[str]) -> str:
    """Returns the packages of a module, and the digest of its code if it may change without its package."""
    texts = [f"{package}=={version(package)}" for package in sorted({*packages})]
    spec = None
    with suppress(ImportError, ValueError):  # ValueError if Python did not load it from a file
        # For a dotted name, which a broken record may have, find_spec would import a package.
        spec = find_spec(module) if module.isidentifier() else None
    if spec:
        # The folders of a package, or the file of a module; a builtin module has no file that could be read.
        paths = [Path(name) for name in spec.submodule_search_locations or [spec.origin or ""]]
        changeable = paths
        if packages:  # code that was installed with a package changes only with the package's version
            changeable = [path for path in paths if path.parent.name not in INSTALLED]
        texts += map(_digest_of_code, changeable)
        files = [file for path in changeable for file in path.rglob("*.py")]
        # The list lacks the origin if the module is a single file, or installed code that was not searched.
        if spec.origin and spec.has_location:
            files.append(Path(spec.origin))
        if module in sys.modules and any(map(_is_newer_than_process, files)):
            # Python may have loaded earlier code. With a random text, no process reuses the run.
            texts.append(token_hex())
    return " ".join(texts)


def _digest_of_code(path: Path) -> str:
    """Returns the digest of a module's file or folder."""
    return combined_digest(fingerprints(path)) if path.is_dir() else fingerprint(path)


def _is_newer_than_process(path: Path) -> bool:
    """Returns whether a file changed after this process started."""
    with suppress(OSError):  # no file, or a system without /proc: a change stays unnoticed
        return path.stat().st_ctime > _start_of_process()
    return False


@cache
def _start_of_process() -> float:
    """Returns when this process started, in seconds since 1970.

    The time may be some hundredths of a second too late, never too early.

    Raises:
        OSError: if the system has no /proc.
    """
    # The second field of proc(5) is a name in parentheses, which may contain blanks.
    _, _, after_name = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")
    # The rest begins with the third field, so 19 is the index of the 22nd field, starttime. The kernel rounds
    # it down; without two more ticks, files that were written just before the start would seem newer.
    start_ticks = int(after_name.split()[19]) + 2
    seconds_after_boot = start_ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + seconds_after_boot
