"""A collection whose parts several rankings share, so that it is read less often."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pickle import PicklingError, dumps
from typing import Any, Self, TypeVar

from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument
from touche.documents.pages import Parser
from touche.documents.pieces import Piece
from touche.documents.statistics_files import StatisticsFiles
from touche.scan.parts import Parts
from touche.scan.reading import Reading, ReadingDocuments, read_parts

_T = TypeVar("_T")

_MOST_READINGS = 4  # whose parts are in memory: a grid with two analyses or sets of fields needs two to four


@dataclass(frozen=True)
class SharedDocuments(ReadingDocuments):
    """A collection that keeps the parts of the latest readings. It has all attributes of ``documents``.

    Methods that don't rank with ``touche.scan`` read the documents each time.
    """

    documents: Documents
    _kept: dict[bytes, Parts[Any]] = field(default_factory=dict)  # by reading, the latest last

    @classmethod
    def sharing(cls, documents: Documents) -> "SharedDocuments":
        """Returns the same collection, which keeps parts from now on."""
        return cls(
            paths=documents.paths,
            side_files=documents.side_files,
            parser=documents.parser,
            statistics=documents.statistics,
            documents=documents,
        )

    def __iter__(self) -> Iterator[AnyDocument]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __str__(self) -> str:
        return str(self.documents)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "documents"), name)

    def pieces(self) -> Iterator[Piece] | None:
        return self.documents.pieces()

    def parsed_by(self, parser: Parser) -> Self:
        return replace(self, parser=parser, documents=self.documents.parsed_by(parser))

    def with_statistics(self, statistics: StatisticsFiles) -> Self:
        return replace(self, statistics=statistics, documents=self.documents.with_statistics(statistics))

    def parts(self, reading: Reading[_T]) -> Parts[_T]:
        """Returns a reading's parts from memory, or reads the documents."""
        key = self._key(reading)
        if key is None:
            return read_parts(self.documents, reading)
        parts = self._kept.pop(key, None) or read_parts(self.documents, reading)
        self._kept[key] = parts
        if len(self._kept) > _MOST_READINGS:
            del self._kept[next(iter(self._kept))]  # the one that was used longest ago
        return parts

    def _key(self, reading: Reading[Any]) -> bytes | None:
        """Returns the same bytes for equal readings; None if one contains a lambda or inner function."""
        try:
            return dumps((reading.begin, reading.merge, reading.among, self.parser))
        except (PicklingError, AttributeError, TypeError):
            return None
