"""The work of a task: it reads its share of the files, or of their pieces, and reports what it met."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from touche.cluster.failing import Failed
from touche.cluster.fields import FieldsFolder
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
class TaskReport:
    """What a task met next to documents.

    Attributes:
        records: the number of documents and pages.
        left: the pages that were left out.
        warnings: what a single machine would have printed on standard error.
        errors: what it would have ended with.
    """

    records: int = 0
    left: LeftOut = field(default_factory=LeftOut)
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __add__(self, other: "TaskReport") -> "TaskReport":
        """Joins two reports, of which the other comes later."""
        warnings, errors = self.warnings + other.warnings, self.errors + other.errors
        return TaskReport(self.records + other.records, self.left + other.left, warnings, errors)


Source = Path | Piece | TaskReport


@dataclass(frozen=True)
class ReadTask(Generic[_T]):
    """Reads files, or pieces of files, and yields the parts made of their documents, and last a report.

    An error is reported, not raised, unless Spark is to try again on another worker.

    Attributes:
        reader: of a file.
        parser: turns web pages into fields, or None.
        find: makes parts of documents.
        fields: where parsed web pages are saved, or None.
    """

    reader: Reader
    parser: Parser | None
    find: Find[_T]
    fields: FieldsFolder | None

    def __call__(self, sources: Iterable[Source]) -> Iterator["_T | TaskReport"]:
        """Reads these sources."""
        reports: list[TaskReport] = []
        with _warnings_noted(reports):
            try:
                yield from self.find(self._documents(sources, reports))
            except Exception as error:
                reports.append(TaskReport(errors=(Failed.by(error).reason,)))
        yield sum(reports, TaskReport())

    def _documents(self, sources: Iterable[Source], reports: list[TaskReport]) -> Iterator[AnyDocument]:
        def note(left: LeftOut) -> None:
            reports.append(TaskReport(left=left))

        # One process of its own, that may die of a page, as Spark has one task on each processor.
        documents = parsed(self._records(sources, reports), self.parser, 1, note)
        yield from kept(documents, self.fields.opened(_part())) if self.fields else documents

    def _records(
        self, sources: Iterable[Source], reports: list[TaskReport]
    ) -> Iterator[AnyDocument | RawPage | Skipped]:
        for source in sources:
            if isinstance(source, TaskReport):
                reports.append(source)
                continue
            count = 0
            # An id is not checked against those of other files or pieces, which are on other machines.
            records = source.documents() if isinstance(source, Piece) else self.reader(source, set())
            try:
                for count, record in enumerate(records, 1):  # noqa: B007 (needed in the end)
                    yield record
            finally:
                reports.append(TaskReport(count))


def _part() -> str:
    """The file that a task saves pages in: the same if it is tried again, so that none are there twice."""
    from pyspark import TaskContext

    return f"pages-{TaskContext().partitionId():05}.parquet"


def cut(splitter: Splitter, paths: Iterable[Path]) -> Iterator[Piece | TaskReport]:
    """Cuts files into pieces, and reports one that cannot be read."""
    for path in paths:
        try:
            yield from splitter(path)
        except ToucheError as error:
            yield TaskReport(errors=(Failed.by(error).reason,))


@contextmanager
def _warnings_noted(reports: list[TaskReport]) -> Iterator[None]:
    logger, handler = logging.getLogger("touche"), logging.Handler(logging.WARNING)
    handler.emit = lambda record: reports.append(TaskReport(warnings=(record.getMessage(),)))  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
