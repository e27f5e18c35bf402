"""The collection: baselines iterate over it, and engines choose how to read it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sized
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from touche.documents.document_records import AnyDocument
from touche.documents.pages import Parser
from touche.documents.parts import Parts, Readings
from touche.documents.pieces import Piece
from touche.documents.side_files import read_scores
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError
from touche.io.opening import plain_name
from touche.io.optional import imported
from touche.trec.records_in_memory import unread

if TYPE_CHECKING:
    from pandas import DataFrame

_T = TypeVar("_T")

# The names of side files.
SPAM_RANKS = "spam-ranks.txt"
PAGE_RANKS = "page-ranks.txt"


@dataclass(frozen=True, kw_only=True)
class Documents(ABC):
    """A collection of documents (``AnyDocument``); you can iterate over it repeatedly.

    Each iteration reads the collection again, with one document in memory. The other methods are for engines,
    which score documents for baselines.

    Attributes:
        paths: the files of the collection; none for a corpus of ir_datasets.
        side_files: files with more data on the documents, such as spam ranks.
        parser: makes fields from web pages; by default ``touche.documents.html.extraction.parse``.
        statistics: files with statistics of the whole collection, which contains these documents.
        readings: data that several rankings share; None for a single ranking.
    """

    paths: tuple[Path, ...] = ()
    side_files: tuple[Path, ...] = ()
    parser: Parser | None = None
    statistics: StatisticsFiles | None = None
    readings: Readings | None = None

    @classmethod
    def of(cls, documents: "Iterable[AnyDocument]") -> "Documents":
        """Wraps an iterable of documents; returns a ``Documents`` unchanged.

        Args:
            documents: the documents to wrap.
        """
        return documents if isinstance(documents, Documents) else PlainDocuments(documents)

    @abstractmethod
    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document."""

    def __len__(self) -> int:
        """Returns the number of documents, if a subclass knows it; this method only raises.

        Lists, images and corpora of ir_datasets know their number.

        Raises:
            TypeError: if only reading the documents tells their number.
        """
        raise TypeError(f"{self}: the number of documents is not known; count them while iterating")

    def __bool__(self) -> bool:
        """Returns True, because the number of documents may be unknown."""
        return True

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with a row for each document; all need to fit into memory.

        Raises:
            ToucheError: if pandas is not installed, or a document cannot be read.
        """
        pandas = imported("pandas", "analysis")
        return pandas.DataFrame([_row(document) for document in self])

    def pieces(self) -> Iterator[Piece] | None:
        """Returns pieces that other processes can parse, or None if the collection cannot be split.

        Classes of collections that can be split override this method.
        """
        return None

    def read_by_workers(self, read: Callable[[Iterable[AnyDocument]], Iterator[_T]]) -> "Parts[_T] | None":
        """Reads the documents on the workers of a cluster; collections on a cluster override this method.

        Args:
            read: makes results from documents; each machine calls it with some of the documents.

        Returns:
            The results in parts, or None if this process has to read the documents.
        """
        return None

    def side_file(self, name: str) -> Path | None:
        """Returns a side file, plain or packed, or None if the collection lacks it.

        Args:
            name: the name of the plain file, such as ``spam-ranks.txt``.
        """
        return next((path for path in self.side_files if plain_name(path.name) == name), None)

    def side_scores(self, name: str, wanted: Container[str]) -> dict[str, float]:
        """Reads the scores of some documents from a side file; empty if the file is missing.

        Args:
            name: as in ``side_file``.
            wanted: the ids of the documents; memory grows only with their number.

        Raises:
            InputError: if a line is not a number and an id, or repeats an id; the message names the line.
        """
        path = self.side_file(name)
        return read_scores(path, wanted) if path else {}

    def parsed_by(self, parser: Parser) -> Self:
        """Returns the same collection with another parser of web pages.

        Args:
            parser: a function that other processes can import, as in ``touche.documents.html.extraction``.
        """
        return replace(self, parser=parser)

    def with_statistics(self, statistics: StatisticsFiles) -> Self:
        """Returns the same collection with files of statistics.

        Args:
            statistics: the files.
        """
        return replace(self, statistics=statistics)


@dataclass(frozen=True)
class PlainDocuments(Documents):
    """An iterable of documents, such as a list.

    Attributes:
        items: the documents.
    """

    items: Iterable[AnyDocument]

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document; reading an iterator again is an error."""
        return iter(unread(self.items, "documents"))

    def __len__(self) -> int:
        """Returns the number of documents in a list; an iterator raises TypeError."""
        return len(self.items) if isinstance(self.items, Sized) else super().__len__()

    def __getitem__(self, index: Any) -> Any:
        """Returns a document, or a slice, of a list."""
        return self.items[index]  # type: ignore[index]  # other iterables raise TypeError


@dataclass(frozen=True)
class MissingDocuments(Documents):
    """Missing documents; iterating over them raises the error."""

    error: InputError

    def __iter__(self) -> Iterator[Any]:
        """Raises the error."""
        raise self.error


def _row(document: AnyDocument) -> dict[str, Any]:
    """Returns the fields of a document by their names, and its text, which may be made of several fields."""
    values = {field.name: getattr(document, field.name) for field in fields(document)}
    return values | {"text": document.text}
