"""The collection. Baselines iterate over it; engines choose how to read it."""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Sized
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from touche.documents.document_records import AnyDocument
from touche.documents.pages import Parser
from touche.documents.pieces import Piece
from touche.documents.side_files import read_scores
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError, ToucheError
from touche.io.opening import plain_name
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

USED_UP = "(an iterator can be read only once; make it a list)"  # how a remedy ends


@dataclass(frozen=True, kw_only=True)
class Documents(ABC):
    """A collection of documents (``AnyDocument``); you can iterate over it repeatedly.

    Each iteration reads the collection again and keeps one document in memory. The other methods are for
    engines, which score documents on behalf of baselines.

    Attributes:
        paths: the collection's files; none for an ir_datasets corpus.
        side_files: files with further data on the documents, such as spam ranks.
        parser: parses web pages into fields; ``touche.documents.html.extraction.parse`` by default.
        statistics: files with statistics of the whole collection that these documents come from.
    """

    paths: tuple[Path, ...] = ()
    side_files: tuple[Path, ...] = ()
    parser: Parser | None = None
    statistics: StatisticsFiles | None = None

    @classmethod
    def of(cls, documents: "Iterable[AnyDocument]") -> "Documents":
        """Wraps an iterable of documents; returns ``Documents`` unchanged.

        Args:
            documents: the documents to wrap.
        """
        return documents if isinstance(documents, Documents) else PlainDocuments(documents)

    @abstractmethod
    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document."""

    def __len__(self) -> int:
        """Returns the number of documents, when a subclass knows it, as for lists, images and ir_datasets.

        Raises:
            TypeError: if you can only find out by reading the documents.
        """
        raise TypeError(f"{self}: the number of documents is not known; count them while iterating")

    def __bool__(self) -> bool:
        """Returns True, because the number of documents may be unknown."""
        return True

    def frame(self) -> "DataFrame":
        """Returns a pandas DataFrame with one row per document. All documents must fit into memory.

        Raises:
            ToucheError: if pandas is not installed, or a document can't be read.
        """
        pandas = imported("pandas", "analysis")
        return pandas.DataFrame([_row(document) for document in self])

    def pieces(self) -> Iterator[Piece] | None:
        """Returns pieces that other processes can parse, or None if the collection can't be split."""
        return None

    def side_file(self, name: str) -> Path | None:
        """Returns a side file, plain or compressed, or None if there is none.

        Args:
            name: the plain file's name, such as ``spam-ranks.txt``.
        """
        return next((path for path in self.side_files if plain_name(path.name) == name), None)

    def side_scores(self, name: str, wanted: Container[str]) -> dict[str, float]:
        """Reads documents' scores from a side file; empty if the file is missing.

        Args:
            name: as in ``side_file``.
            wanted: the documents' ids; memory depends only on their number.

        Raises:
            InputError: if a line is not a number and an id, or repeats an id.
        """
        path = self.side_file(name)
        return read_scores(path, wanted) if path else {}

    def parsed_by(self, parser: Parser) -> Self:
        """Returns the same collection with another parser for web pages.

        Args:
            parser: a function that other processes can import, as in ``touche.documents.html.extraction``.
        """
        return replace(self, parser=parser)

    def with_statistics(self, statistics: StatisticsFiles) -> Self:
        """Returns the same collection with statistics files.

        Args:
            statistics: the files.
        """
        return replace(self, statistics=statistics)


def _not_read_before(documents: Iterable[AnyDocument]) -> Iterable[AnyDocument]:
    """Returns documents. An empty iterator is an error, because it has probably been read before."""
    if not isinstance(documents, Iterator):
        return documents
    for first in documents:
        return chain([first], documents)
    raise ToucheError(f"documents: nothing is left in this iterator {USED_UP}")


@dataclass(frozen=True)
class PlainDocuments(Documents):
    """An iterable of documents, such as a list."""

    items: Iterable[AnyDocument]

    def __iter__(self) -> Iterator[AnyDocument]:
        return iter(_not_read_before(self.items))

    def __len__(self) -> int:
        return len(self.items) if isinstance(self.items, Sized) else super().__len__()

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]  # type: ignore[index]  # other iterables raise TypeError


@dataclass(frozen=True)
class MissingDocuments(Documents):
    """Raises an error when someone iterates over it."""

    error: InputError

    def __iter__(self) -> Iterator[Any]:
        raise self.error


def _row(document: AnyDocument) -> dict[str, Any]:
    """Returns the document's fields, plus its text, which may combine several."""
    values = {field.name: getattr(document, field.name) for field in fields(document)}
    return values | {"text": document.text}
