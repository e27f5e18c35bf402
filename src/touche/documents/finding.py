"""A folder while its documents are searched for, and what searches."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from touche.documents.collection import PAGE_RANKS, SPAM_RANKS, Documents
from touche.documents.folders import files_below
from touche.errors import InputError
from touche.trec.topics import paths_named

_IGNORED_BEGINNINGS = (".", "metadata.json")  # of names; the latter is TIRA's note on a dataset
_STATISTICS_NAME = re.compile(r"statistics-.*\.json$")  # files of --keep-statistics next to the documents


class Folder:
    """A folder from which finders take files one after the other; a later finder sees only what is left.

    Attributes:
        path: the folder.
        paths: all its files and folders, sorted, as ``visible`` selects them.
        corpus: the id of an ir_datasets corpus that replaces the documents in the folder, or None.
        side_files: the files that rate web pages.
        found: the collections that earlier finders have found.
    """

    def __init__(
        self, path: Path, names_below: re.Pattern[str], without: Iterable[str], corpus: str | None = None
    ) -> None:
        """Lists the folder.

        Args:
            path: the folder.
            names_below: a pattern for the names of files in its subfolders.
            without: subfolders in which no files are searched for.
            corpus: the id of an ir_datasets corpus that replaces the documents in the folder, or None.

        Raises:
            InputError: if the folder cannot be read.
        """
        self.path = path
        try:
            # ``exists`` is False for a broken link.
            self.paths = sorted(file for file in visible(path.iterdir()) if file.exists())
        except OSError as error:
            remedy = "pass a directory with topics and documents"
            raise InputError(path, f"cannot be read ({error.strerror})", remedy) from error
        self.corpus = corpus
        self.side_files = side_files(self.paths)
        self.found: list[Documents] = []
        self._names_below = names_below
        self._without = {*without}
        # Links to other files of the folder are left out. A link to a folder stays: images/ may be one.
        targets = {file.resolve() for file in self.paths if file.is_file() and not file.is_symlink()}
        self._left = [file for file in self.paths if not file.is_symlink() or file.resolve() not in targets]
        self._left_below: list[Path] | None = None  # until a finder asks for them

    def take(self, belongs: Callable[[Path], bool]) -> list[Path]:
        """Takes those files and folders of the folder itself that belong to a collection."""
        taken, self._left = _split(self._left, belongs)
        return taken

    def take_below(self, belongs: Callable[[Path], bool]) -> list[Path]:
        """Takes those files in subfolders with one of the ``names_below`` that belong to a collection."""
        if self._left_below is None:
            self._left_below = [*files_below(self.path, self._names_below, self._without)]
        taken, self._left_below = _split(self._left_below, belongs)
        return taken

    def take_all(self) -> None:
        """Leaves nothing for later finders."""
        self._left = self._left_below = []


class Finder(Protocol):
    """Finds one kind of collection; a class of documents can be its own finder."""

    @property
    def pattern(self) -> str:
        """What the folder has to contain, such as ``*.warc`` or ``images/``."""

    @property
    def about(self) -> str:
        """What it is, for the table on the page about files."""

    def find(self, folder: Folder) -> Documents | None:
        """Takes its files, and returns their documents; None if there are none."""


def visible(paths: Iterable[Path]) -> list[Path]:
    """Returns the paths without hidden files, statistics, and TIRA's note on a dataset."""
    return [
        path
        for path in paths
        if not path.name.startswith(_IGNORED_BEGINNINGS) and not _STATISTICS_NAME.match(path.name)
    ]


def side_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Selects the side files, which rate web pages, from the files of a folder, plain or packed."""
    return paths_named(paths, (SPAM_RANKS, PAGE_RANKS))


def _split(paths: Iterable[Path], belongs: Callable[[Path], bool]) -> tuple[list[Path], list[Path]]:
    """Returns the paths that belong to a collection, and the others."""
    taken: list[Path] = []
    left: list[Path] = []
    for path in paths:
        (taken if belongs(path) else left).append(path)
    return taken, left
