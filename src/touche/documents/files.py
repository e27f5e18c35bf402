"""Collections in files: documents to search, and candidates to re-rank."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.documents.folders import common_folder, distinct_names
from touche.documents.jsonl import read_rerank_jsonl
from touche.documents.pages import RawPage, Skipped
from touche.documents.pieces import Piece, Splitter, parse_pieces
from touche.errors import InputError
from touche.io.opening import plain_name
from touche.io.progress import watched

_T = TypeVar("_T")

Reader = Callable[[Path, set[str]], Iterator[AnyDocument | RawPage | Skipped]]
"""Yields the documents of a file; repeating an id in the set is an error, and new ids are added."""

_FEW_FILES = 5  # more files share a progress bar, and their names are not printed


@dataclass(frozen=True)
class FileFormat:
    """A file format for documents.

    Attributes:
        pattern: file names in the folder itself; any may be compressed. ``/`` ends a folder's name.
        description: what uses this format, for the documentation.
        noun: what a file contains, such as ``passages``.
        splitter: splits a file into pieces; None if that is impossible.
        whole_reader: reads a file that can't be split.
        unit: the plural noun for such files.
        subfolder_pattern: file names in subfolders; None if subfolders are ignored.
        is_web_scale: whether there can be so many documents that ids are only compared within a file.
        fits: tells by the content whether a file is in this format; None if the name decides.
        name_suffices: whether the name alone shows the format, and a file can be read without others. A
            cluster's addresses accept only such formats.
        is_last_resort: the files may also be queries, so they count only when the folder contains no other
            documents.
    """

    pattern: str
    description: str
    noun: str
    splitter: Splitter | None = None
    whole_reader: Reader | None = None
    unit: str = "files"
    subfolder_pattern: re.Pattern[str] | None = None
    is_web_scale: bool = False
    fits: Callable[[Path], bool] | None = None
    name_suffices: bool = True
    is_last_resort: bool = False

    def takes(self, path: Path) -> bool:
        """Returns whether a file in the input folder itself, or a subfolder of it, is in this format."""
        if not self.has_name(path) or path.is_dir() != self.pattern.endswith("/"):
            return False
        return self.fits is None or self.fits(path)

    def takes_in_subfolder(self, path: Path) -> bool:
        """Returns whether a file in a subfolder is in this format."""
        return self.subfolder_pattern is not None and self.subfolder_pattern.fullmatch(path.name) is not None

    def read(self, path: Path, seen: set[str]) -> Iterator[AnyDocument | RawPage | Skipped]:
        """Yields a file's documents. Repeating an id in ``seen`` is an error; new ids are added."""
        if self.splitter:
            return parse_pieces(self.splitter(path), seen)
        assert self.whole_reader
        return self.whole_reader(path, seen)

    def recognizes(self, path: Path) -> bool:
        """Returns whether a file's name, in any folder, is enough to tell that it is in this format."""
        has_name = self.takes_in_subfolder if self.subfolder_pattern else self.has_name
        return self.name_suffices and has_name(path)

    def has_name(self, path: Path) -> bool:
        """Returns whether a name, in the input folder itself, can be this format's."""
        if self.pattern.endswith("/"):  # a folder's name is never packed, and its case counts
            return path.name == self.pattern.rstrip("/")
        return fnmatchcase(plain_name(path.name.lower()), self.pattern)


@dataclass(frozen=True)
class Files(Documents):
    """A collection in files of one format.

    Repeating an id is an error. For web-scale formats, ids are only compared within a file, because there may
    be too many for memory.
    """

    format: FileFormat

    def __str__(self) -> str:
        if len(self.paths) <= _FEW_FILES:
            return f"{self.format.noun} from {', '.join(distinct_names(self.paths))}"
        folder = common_folder(self.paths)
        are_in_one_folder = all(path.parent == self.paths[0].parent for path in self.paths)
        files = f"{len(self.paths):,} {self.format.unit}"
        preposition = "in" if are_in_one_folder else "below"
        return f"{self.format.noun} from {files} {preposition} {folder.resolve().name}"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Raises InputError if a file is broken, an id occurs twice, or there is no document."""
        records = self._read()
        first = next(records, None)
        if first is None:  # no file contains a document; the error names the first file
            raise InputError(self.paths[0], "no documents in this file", "check that this is the right file")
        documents: Iterator[Any] = chain([first], records)
        # Documents can contain web pages as HTML, which are parsed here; arguments and images can't.
        if self.format.noun not in ("documents", "web pages"):
            yield from documents
            return
        from touche.documents.html.parsing import parsed  # imported late: takes 2 ms

        yield from parsed(documents, self.parser)

    def pieces(self) -> Iterator[Piece] | None:
        """Returns all pieces in order; None if the format can't be split. Repeated ids go undetected."""
        splitter = self.format.splitter
        if splitter is None:
            return None
        return (piece for path in self._watched() for piece in splitter(path))

    def _read(self) -> Iterator[AnyDocument | RawPage | Skipped]:
        seen: set[str] = set()
        for path in self._watched():
            if self.format.is_web_scale:
                seen = set()
            yield from self.format.read(path, seen)

    def _watched(self) -> Iterable[Path]:
        """Returns the files. Many small files share a progress bar, because none shows its own."""
        if len(self.paths) <= _FEW_FILES:
            return self.paths
        return watched(self.paths, f"reading {self.format.unit}", self.format.unit, len(self.paths))


@dataclass(frozen=True)
class Candidates(Documents):
    """The documents of a re-ranking input, each once."""

    def __iter__(self) -> Iterator[AnyDocument]:
        seen: set[str] = set()
        for path in self.paths:
            for _, document in read_rerank_jsonl(path):
                if document.id not in seen:
                    seen.add(document.id)
                    yield document
