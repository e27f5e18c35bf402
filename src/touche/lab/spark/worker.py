"""What a task does: it reads files or pieces, and reports warnings and errors."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from touche.documents.document_records import AnyDocument
from touche.documents.files import Reader
from touche.documents.html.parsing import SkippedPages, parsed
from touche.documents.pages import Parser, RawPage, Skipped
from touche.documents.pieces import Piece, Splitter
from touche.errors import ToucheError
from touche.lab.spark.failing import Failed

_T = TypeVar("_T")

MakeParts = Callable[[Iterable[AnyDocument]], Iterator[_T]]
"""Yields the parts that are made of documents."""


@dataclass(frozen=True)
class WorkerReport:
    """A task's counts, warnings and errors.

    Attributes:
        records: the number of documents and pages.
        warnings: what a single machine would warn about.
        errors: what would end a single machine's run.
    """

    records: int = 0
    skipped: SkippedPages = field(default_factory=SkippedPages)
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __add__(self, other: "WorkerReport") -> "WorkerReport":
        """Joins two reports; ``other`` is the later one."""
        return WorkerReport(
            records=self.records + other.records,
            skipped=self.skipped + other.skipped,
            warnings=self.warnings + other.warnings,
            errors=self.errors + other.errors,
        )


Source = Path | Piece | WorkerReport
"""What a task reads: a file, a piece of a file, or the report on a file that could not be cut."""


@dataclass(frozen=True)
class ReadTask(Generic[_T]):
    """Reads files or pieces, and yields the parts made from their documents, then a report.

    Errors go into the report. They are raised only if Spark should retry on another worker.
    """

    reader: Reader
    parser: Parser | None
    make_parts: MakeParts[_T]

    def __call__(self, sources: Iterable[Source]) -> Iterator["_T | WorkerReport"]:
        reports: list[WorkerReport] = []
        with _collecting_warnings(reports):
            try:
                yield from self.make_parts(self._documents(sources, reports))
            except Exception as error:
                reports.append(WorkerReport(errors=(Failed.from_error(error).reason,)))
        yield sum(reports, WorkerReport())

    def _documents(self, sources: Iterable[Source], reports: list[WorkerReport]) -> Iterator[AnyDocument]:
        """Yields the documents, with pages parsed. Adds reports on skipped pages."""
        # The parser may crash, so it runs in a process of its own. More processes wouldn't help:
        # Spark runs one task per processor.
        return parsed(
            self._records(sources, reports),
            self.parser,
            1,
            lambda skipped: reports.append(WorkerReport(skipped=skipped)),
        )

    def _records(
        self, sources: Iterable[Source], reports: list[WorkerReport]
    ) -> Iterator[AnyDocument | RawPage | Skipped]:
        """Yields the records in files and pieces, and reports their number.

        A source that is itself a report is passed on.
        """
        for source in sources:
            if isinstance(source, WorkerReport):
                reports.append(source)
                continue
            count = 0
            # Check ids only within a file or piece, because other machines read the others.
            records = source.documents() if isinstance(source, Piece) else self.reader(source, set())
            try:
                for count, record in enumerate(records, 1):  # noqa: B007 (needed after the loop)
                    yield record
            finally:
                reports.append(WorkerReport(records=count))


def cut_files(splitter: Splitter, paths: Iterable[Path]) -> Iterator[Piece | WorkerReport]:
    """Cuts files into pieces, and reports files that can't be read."""
    for path in paths:
        try:
            yield from splitter(path)
        except ToucheError as error:
            yield WorkerReport(errors=(Failed.from_error(error).reason,))


@contextmanager
def _collecting_warnings(reports: list[WorkerReport]) -> Iterator[None]:
    """Adds a report for each warning that the library logs in this block."""
    logger = logging.getLogger("touche")
    handler = logging.Handler(logging.WARNING)
    # Shorter than a subclass, but mypy rejects it.
    handler.emit = lambda record: reports.append(WorkerReport(warnings=(record.getMessage(),)))  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
