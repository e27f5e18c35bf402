"""Collections on Spark: workers read them and store the results on their disks."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeVar

from touche.documents.document_records import AnyDocument
from touche.documents.files import Files
from touche.errors import InputError, ToucheError
from touche.lab.spark.failing import Failed, add_results, result_or_failure, spark_errors
from touche.lab.spark.shipping import Ship
from touche.lab.spark.worker import ReadTask, WorkerReport, cut_files
from touche.scan.parts import Parts
from touche.scan.reading import Reading, ReadingDocuments, parts_in_process

_T = TypeVar("_T")
_R = TypeVar("_R")

_TASK_BYTES = 1 << 27  # approximately, as in Spark

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SparkDocuments(ReadingDocuments):
    """A collection that a cluster's workers read.

    Attributes:
        files: the same collection on one machine.
        size: the files' size in bytes.
        sources: returns an RDD with the files; its argument is the number of partitions.
        parallelism: the minimum number of tasks, if the files can be cut into pieces.
    """

    files: Files
    size: int
    sources: Callable[[int], Any]
    parallelism: int
    ship: Ship

    def __str__(self) -> str:
        return f"{self.files}, on Spark"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Raises ToucheError, because only workers read the documents."""
        problem = "this baseline iterates over the documents on one machine"
        raise ToucheError(f"{problem}; rank with touche run, or with touche.scan, which Spark can use")

    def parts(self, reading: Reading[_T]) -> "WorkerParts[_T]":
        """Reads the documents: each task makes parts of some of them, and stores these.

        Parts are stored on the workers' disks. If a worker is lost, they are computed again.
        """
        from pyspark import StorageLevel  # optional

        make_parts = partial(parts_in_process, reading)
        task = ReadTask(reader=self.files.format.read, parser=self.parser, make_parts=make_parts)
        with spark_errors():
            # Each task yields parts, then a report. Only the reports come to this machine.
            items = self._sources().mapPartitions(self.ship(task)).persist(StorageLevel.DISK_ONLY)
            reports = items.filter(lambda item: isinstance(item, WorkerReport)).collect()
        self._check(sum(reports, WorkerReport()))
        empty_part = reading.begin()([])
        return WorkerParts([empty_part], items, self.ship)

    def _sources(self) -> Any:
        """Returns an RDD with the files, or with pieces if there are fewer files than processors."""
        tasks = max(self.parallelism, self.size // _TASK_BYTES)
        file_count = len(self.paths)
        splitter = self.files.format.splitter  # None if the files can't be cut
        if splitter and file_count < self.parallelism:  # cut them, so that all processors have work
            return self.sources(file_count).mapPartitions(partial(cut_files, splitter)).repartition(tasks)
        return self.sources(min(file_count, tasks))

    def _check(self, report: WorkerReport) -> None:
        """Logs all tasks' warnings. Raises their first error, or an error if there are no documents."""
        for warning in report.warnings:
            _log.warning("%s", warning)
        report.skipped.warn()
        if report.errors:
            raise ToucheError(report.errors[0])
        if not report.records:
            # no file contains documents; the error names the first file
            raise InputError(self.paths[0], "no documents in this file", "check that this is the right file")


@dataclass(frozen=True)
class WorkerParts(Parts[_T]):
    """Parts of a collection on workers' disks, and a part without documents in this process.

    Attributes:
        stored: an RDD with parts, and each task's report among them.
    """

    stored: Any
    ship: Ship

    def combined(self, of_part: Callable[[_T], _R], combine: Callable[[_R, _R], _R]) -> _R:
        """Combines the results of each partition in a task, then the results of all partitions."""
        no_documents = of_part(self.parts[0])

        def combine_partition(items: Iterable[_T | WorkerReport]) -> Iterator[_R | Failed]:
            """Yields one result, because Spark needs an iterator."""
            results = map(of_part, _parts_in(items))
            yield result_or_failure(reduce, combine, results, no_documents)

        with spark_errors():
            results = self.stored.mapPartitions(self.ship(combine_partition))
            result: _R | Failed = results.treeReduce(self.ship(partial(add_results, combine)))
        if isinstance(result, Failed):
            raise ToucheError(result.reason)
        return result


def _parts_in(items: Iterable[_T | WorkerReport]) -> Iterator[_T]:
    """Yields the parts. Raises ToucheError if a report contains an error.

    The first reading found none, but when a worker is lost, Spark reads files again.
    """
    for item in items:
        if not isinstance(item, WorkerReport):
            yield item
        elif item.errors:
            raise ToucheError(item.errors[0])
