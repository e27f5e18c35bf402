"""The collection: authors iterate over it, and engines ask it how it can be read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from touche.collection.parts import Parts, Readings
from touche.errors import InputError, ToucheError
from touche.formats.documents import AnyDocument
from touche.formats.pages import Parser
from touche.formats.pieces import Piece
from touche.formats.statistics import StatisticsFiles

_T = TypeVar("_T")

SPAM_RANKS, PAGE_RANKS = "spam-ranks.txt", "page-ranks.txt"  # the names of side files


@dataclass(frozen=True, kw_only=True)
class Documents(ABC):
    """The collection, each a ``Document``, ``Argument`` or ``Page``; iterate over it as often as you like.

    Every iteration reads it anew and holds one document at a time. All else is for engines.

    Attributes:
        paths: the files that it is read from; none for a corpus of ir_datasets.
        side_files: files with more about the documents, such as spam ranks.
        parser: turns web pages into fields; by default ``touche.web.extraction.parse``.
        statistics: files with the statistics of the whole collection that these documents are a part of.
        readings: what several rankings share; None for a single one.
    """

    paths: tuple[Path, ...] = ()
    side_files: tuple[Path, ...] = ()
    parser: Parser | None = None
    statistics: StatisticsFiles | None = None
    readings: Readings | None = None

    @classmethod
    def of(cls, documents: "Iterable[AnyDocument]") -> "Documents":
        """Wraps any iterable of documents; returns a collection as it is.

        Args:
            documents: the documents.
        """
        return documents if isinstance(documents, Documents) else PlainDocuments(documents)

    @abstractmethod
    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document."""

    def pieces(self) -> Iterator[Piece] | None:
        """Returns pieces that other processes can parse; None if the collection cannot be split."""
        return None

    def read_by_workers(self, read: Callable[[Iterable[AnyDocument]], Iterator[_T]]) -> "Parts[_T] | None":
        """Reads the documents on the workers of a cluster, if they are there.

        Args:
            read: yields what is kept of documents; called on each machine with some of them.

        Returns:
            The parts; None if this machine has to read the documents.
        """
        return None

    def side_file(self, name: str) -> Path | None:
        """Returns a side file, plain or gzipped, if there is one.

        Args:
            name: the name of the plain file, such as ``spam-ranks.txt``.
        """
        return next((path for path in self.side_files if path.name in (name, f"{name}.gz")), None)

    def parsed_by(self, parser: Parser) -> Self:
        """Returns the same collection, whose web pages another parser turns into fields.

        Args:
            parser: a function that another process can import, such as those of ``touche.web.extraction``.
        """
        return replace(self, parser=parser)

    def with_statistics(self, statistics: StatisticsFiles) -> Self:
        """Returns the same collection, to be ranked by the statistics in files.

        Args:
            statistics: the files.
        """
        return replace(self, statistics=statistics)

    def keeping_fields(self, where: str) -> Self:
        """Returns the same collection, which saves its parsed web pages as Parquet each time it is read.

        Args:
            where: a folder, or for a cluster an address.

        Raises:
            ToucheError: if the collection is not in files, or in a format without web pages.
        """
        raise ToucheError("only the web pages of an input directory can be kept; leave --keep-fields out")


@dataclass(frozen=True)
class PlainDocuments(Documents):
    """Any iterable of documents, such as a list.

    Attributes:
        items: the documents.
    """

    items: Iterable[AnyDocument]

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document."""
        return iter(self.items)

    def __len__(self) -> int:
        """Returns the number of documents, if they are in a list."""
        return len(self.items)  # type: ignore[arg-type]

    def __getitem__(self, place: Any) -> Any:
        """Returns one of the documents, if they are in a list."""
        return self.items[place]  # type: ignore[index]


@dataclass(frozen=True)
class MissingDocuments(Documents):
    """Documents that the input lacks; whoever iterates over them gets the error."""

    error: InputError

    def __iter__(self) -> Iterator[Any]:
        """Raises the error."""
        raise self.error
