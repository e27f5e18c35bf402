"""Runs that an earlier sweep completed, from the same input, options and code."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any

from touche.baselines.running import Runs
from touche.io.opening import is_file, md5
from touche.io.writing import write_whole
from touche.tira.outputs import METADATA_FILE, RUN_FILE

COMPLETE_FILE = "complete.json"
"""File in a run's folder once the run is complete."""


class Resumption:
    """Complete runs of one baseline on one input."""

    def __init__(self, runs: Runs) -> None:
        """Creates the resumption of runs.

        Args:
            runs: baseline and its input.
        """
        self._runs = runs

    def is_complete(self, folder: Path, options: Mapping[str, Any]) -> bool:
        """Returns whether a folder has a complete run with these options.

        Args:
            folder: folder of the run.
            options: values of all options of the baseline.
        """
        if not all(is_file(folder / name) for name in (COMPLETE_FILE, METADATA_FILE, RUN_FILE)):
            return False
        with suppress(OSError, ValueError):  # the worst effect is a repeated run
            return bool(json.loads((folder / COMPLETE_FILE).read_bytes()) == self._record(folder, options))
        return False

    def complete(self, folder: Path, options: Mapping[str, Any]) -> None:
        """Marks the run in a folder as complete.

        Args:
            folder: folder of the run.
            options: values of all options of the baseline.
        """
        write_whole(folder / COMPLETE_FILE, json.dumps(self._record(folder, options), indent=2) + "\n")

    def _record(self, folder: Path, options: Mapping[str, Any]) -> dict[str, str]:
        """Returns hashes of a run and of its origin."""
        files = [md5(Path(value)) for value in options.values() if isinstance(value, str) and is_file(value)]
        made_of = repr([sorted(options.items()), files, self._source])
        return {RUN_FILE: md5(folder / RUN_FILE), "made of": hashlib.md5(made_of.encode()).hexdigest()}

    @cached_property
    def _source(self) -> str:
        """Input and code; the code that a plain function calls is unknown, so its runs are never complete."""
        ranker, source = self._runs.ranker, self._runs.given
        code = _digest(ranker.folder) if ranker.folder else token_hex()
        topics = [(topic.number, topic.title, sorted(topic.candidates or ())) for topic in source.topics]
        about = ranker.name, code, _digest(Path(__file__).parents[1]), self._runs.data(), source.took, topics
        return repr(about)


def _digest(folder: Path) -> str:
    """Digests the files in a folder, and Python and C files below it, except installed packages."""
    digest = hashlib.md5()
    for path in sorted(folder.rglob("*")):
        is_code = path.suffix in (".py", ".c") and "site-packages" not in path.parts
        if is_file(path) and (is_code or path.parent == folder) and not path.name.startswith("."):
            digest.update(f"{path.name} {md5(path)}\n".encode())
    return digest.hexdigest()
