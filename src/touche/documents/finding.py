"""A folder being searched for documents, and the finders that search it."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from touche.documents.collection import PAGE_RANKS, SPAM_RANKS, Documents
from touche.documents.folders import files_below
from touche.errors import InputError
from touche.trec.topics import paths_named

_IGNORED_BEGINNINGS = (".", "metadata.json")  # of names; metadata.json is TIRA's description of a dataset
_STATISTICS_NAME = re.compile(r"statistics-.*\.json$")  # written by --keep-statistics next to the documents


class Folder:
    """A folder from which finders take files in turn. Later finders see only what is left.

    Attributes:
        paths: its files and folders, sorted, except those that ``visible`` drops.
        corpus: the id of an ir_datasets corpus that replaces the folder's documents, or None.
        side_files: the files that rate web pages.
        collections: what finders have found so far.
    """

    def __init__(
        self, path: Path, names_below: re.Pattern[str], without: Iterable[str], corpus: str | None = None
    ) -> None:
        """Lists the folder. In subfolders, except ``without``, file names must match ``names_below``."""
        self.path = path
        try:
            # ``exists`` is False for a broken link.
            self.paths = sorted(file for file in visible(path.iterdir()) if file.exists())
        except OSError as error:
            remedy = "pass a directory with topics and documents"
            raise InputError(path, f"cannot be read ({error.strerror})", remedy) from error
        self.corpus = corpus
        self.side_files = side_files(self.paths)
        self.collections: list[Documents] = []
        self._names_below = names_below
        self._without = {*without}
        # Ignore links to other files in the folder, but not to folders: images/ may be a link.
        targets = {file.resolve() for file in self.paths if file.is_file() and not file.is_symlink()}
        self._left = [file for file in self.paths if not file.is_symlink() or file.resolve() not in targets]
        self._left_below: list[Path] | None = None  # listed when a finder asks

    def take(self, belongs: Callable[[Path], bool]) -> list[Path]:
        """Takes the folder's own files and subfolders for which ``belongs`` is true."""
        taken, self._left = _split(self._left, belongs)
        return taken

    def take_below(self, belongs: Callable[[Path], bool]) -> list[Path]:
        """Takes the files in subfolders that match ``names_below`` and for which ``belongs`` is true."""
        if self._left_below is None:
            self._left_below = [*files_below(self.path, self._names_below, self._without)]
        taken, self._left_below = _split(self._left_below, belongs)
        return taken

    def take_all(self) -> None:
        """Leaves nothing for later finders."""
        self._left = self._left_below = []


class Finder(Protocol):
    """Finds one kind of collection. A Documents class can be its own finder."""

    @property
    def pattern(self) -> str:
        """What the folder must contain, such as ``*.warc`` or ``images/``."""

    @property
    def description(self) -> str:
        """What it is, for the table on the page about files."""

    def find(self, folder: Folder) -> Documents | None:
        """Takes its files and returns their documents, or None."""


def visible(paths: Iterable[Path]) -> list[Path]:
    """Drops hidden files, statistics, and TIRA's metadata.json."""
    return [
        path
        for path in paths
        if not path.name.startswith(_IGNORED_BEGINNINGS) and not _STATISTICS_NAME.match(path.name)
    ]


def side_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Selects the side files, which rate web pages, plain or compressed."""
    return paths_named(paths, (SPAM_RANKS, PAGE_RANKS))


def _split(paths: Iterable[Path], belongs: Callable[[Path], bool]) -> tuple[list[Path], list[Path]]:
    taken: list[Path] = []
    left: list[Path] = []
    for path in paths:
        (taken if belongs(path) else left).append(path)
    return taken, left
