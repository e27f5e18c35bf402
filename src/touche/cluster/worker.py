"""What a worker does: it reads its share of the files, or of their pieces, and says what it came across."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from touche.cluster.failing import Failed
from touche.cluster.fields import Fields
from touche.collection.files import Reader
from touche.errors import ToucheError
from touche.formats.documents import AnyDocument
from touche.formats.pages import Parser, RawPage, Skipped
from touche.formats.parquet import kept
from touche.formats.pieces import Piece, Splitter
from touche.web.parsing import LeftOut, parsed

_T = TypeVar("_T")

Find = Callable[[Iterable[AnyDocument]], Iterator[_T]]


@dataclass(frozen=True)
class Told:
    """What a worker came across beside documents.

    Attributes:
        records: how many documents and pages there were.
        left: the pages that were left out.
        warnings: what a single machine would have said on standard error.
        errors: what it would have ended with.
    """

    records: int = 0
    left: LeftOut = field(default_factory=LeftOut)
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __add__(self, other: "Told") -> "Told":
        """What two came across, of which the other comes later."""
        warnings, errors = self.warnings + other.warnings, self.errors + other.errors
        return Told(self.records + other.records, self.left + other.left, warnings, errors)


@dataclass(frozen=True)
class Reading(Generic[_T]):
    """Reads files, or pieces of files, and yields what is found in their documents, and last what it tells.

    An error is told, not raised, unless Spark is to try again on another worker.

    Attributes:
        reader: of a file.
        parser: takes web pages apart, or None.
        find: is given the documents.
        fields: where parsed web pages are kept, or None.
    """

    reader: Reader
    parser: Parser | None
    find: Find[_T]
    fields: Fields | None

    def __call__(self, given: Iterable["Path | Piece | Told"]) -> Iterator["_T | Told"]:
        """Reads what is given."""
        told: list[Told] = []
        with _heard(told):
            try:
                yield from self.find(self._documents(given, told))
            except Exception as error:
                told.append(Told(errors=(Failed.by(error).reason,)))
        yield sum(told, Told())

    def _documents(self, given: Iterable["Path | Piece | Told"], told: list[Told]) -> Iterator[AnyDocument]:
        def tell(left: LeftOut) -> None:
            told.append(Told(left=left))

        # One process of its own, that may die of a page, as Spark has one task on each processor.
        documents = parsed(self._records(given, told), self.parser, 1, tell)
        yield from kept(documents, self.fields.opened(_part())) if self.fields else documents

    def _records(
        self, given: Iterable["Path | Piece | Told"], told: list[Told]
    ) -> Iterator[AnyDocument | RawPage | Skipped]:
        for each in given:
            if isinstance(each, Told):
                told.append(each)
                continue
            count = 0
            try:
                for count, record in enumerate(_read(each, self.reader), 1):  # noqa: B007 (needed in the end)
                    yield record
            finally:
                told.append(Told(count))


def _part() -> str:
    """What a task keeps pages in: the same name if it is tried again, so that none are there twice."""
    from pyspark import TaskContext

    return f"pages-{TaskContext().partitionId():05}.parquet"


def _read(source: Path | Piece, reader: Reader) -> Iterator[AnyDocument | RawPage | Skipped]:
    """An id is not checked against those of other files or pieces, which lie on other machines."""
    return source.documents() if isinstance(source, Piece) else reader(source, set())


@dataclass(frozen=True)
class Cutting:
    """Cuts files into pieces, and tells of one that cannot be read.

    Attributes:
        splitter: of a file.
    """

    splitter: Splitter

    def __call__(self, paths: Iterable[Path]) -> Iterator[Piece | Told]:
        """Cuts these files."""
        for path in paths:
            try:
                yield from self.splitter(path)
            except ToucheError as error:
                yield Told(errors=(Failed.by(error).reason,))


class _Noting(logging.Handler):
    """Notes warnings."""

    def __init__(self, told: list[Told]) -> None:
        super().__init__(logging.WARNING)
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(Told(warnings=(record.getMessage(),)))


@contextmanager
def _heard(told: list[Told]) -> Iterator[None]:
    logger, noting = logging.getLogger("touche"), _Noting(told)
    logger.addHandler(noting)
    try:
        yield
    finally:
        logger.removeHandler(noting)


def is_told(found: Any) -> bool:
    """Whether something is told, and not found."""
    return isinstance(found, Told)


def without_told(found: Iterable["_T | Told"]) -> Iterator[_T]:
    """What is found, and not told.

    Raises:
        ToucheError: if an error is told, which may not have been there when the documents were first read.
    """
    for each in found:
        if not isinstance(each, Told):
            yield each
        elif each.errors:
            raise ToucheError(each.errors[0])
