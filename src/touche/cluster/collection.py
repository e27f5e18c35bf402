"""A collection on Spark: read by its workers, and kept on their disks."""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, Generic, TypeVar

from touche.cluster.failing import Failed, caught, of_both, sentences
from touche.cluster.fields import FieldsFolder
from touche.cluster.shipping import Ship
from touche.cluster.worker import Find, ReadTask, TaskReport, cut
from touche.collection.documents import Documents
from touche.collection.files import Files
from touche.collection.parts import Parts
from touche.errors import InputError, ToucheError
from touche.formats.documents import AnyDocument

_T = TypeVar("_T")
_R = TypeVar("_R")

_SHARE = 1 << 27  # bytes of files that a task reads, about, as Spark itself has it

_WHOLE = "_SUCCESS"  # the file that Spark writes last

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Saved:
    """A folder that all machines see, for what workers have found, so that a run that was killed can go on.

    Attributes:
        folder: on the driver, under the same path as on the workers.
        version: what tells the baseline's code from other code.
    """

    folder: Path
    version: bytes

    def parts(self, items: Any, *of: bytes) -> Any:
        """An RDD with what workers find, or have found in an earlier run of the same."""
        what = hashlib.md5(b"\0".join([self.version, *of]))
        where = self.folder.absolute() / what.hexdigest()
        if (where / _WHOLE).exists():
            _log.info("going on with the parts in %s", where)
        else:
            shutil.rmtree(where, ignore_errors=True)
            items.saveAsPickleFile(where.as_uri())
        return items.context.pickleFile(where.as_uri())

    def remove(self) -> None:
        """Removes all that was saved."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class SparkDocuments(Documents):
    """A collection that is read by the workers of a cluster.

    Attributes:
        files: the same on one machine.
        size: of the files, in bytes.
        stamp: tells the files from others: their names, sizes and times of change.
        sources: gives an RDD with the files, in so many partitions.
        parallelism: how many tasks there are at the least, as far as the files can be cut.
        ship: makes functions fit for the way to the workers.
        fields: where parsed web pages are kept, or None.
        saved: where parts are saved for a run that goes on, or None.
    """

    files: Files
    size: int
    stamp: str
    sources: Callable[[int], Any]
    parallelism: int
    ship: Ship
    fields: FieldsFolder | None = None
    saved: Saved | None = None

    def __str__(self) -> str:
        return f"{self.files}, on Spark"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Raises ToucheError, as nothing on one machine could hold or wait for the documents."""
        problem = "the baseline ranks documents by itself, on one machine"
        raise ToucheError(f"{problem}; --runner spark runs those that rank by touche.scan: leave it out")

    def read_by_workers(self, read: Find[_T]) -> Parts[_T]:
        """Reads the documents, of which each task passes some to a function, and keeps its parts.

        They are kept on the disks of workers, or where they are to be saved. The parts of a worker that is
        lost are made once more.

        Args:
            read: takes documents, and yields parts.

        Raises:
            ToucheError: if a file is broken, there is no document, or workers fail.
        """
        task = ReadTask(self.files.format.reader, self.parser, read, self.fields)
        with sentences():
            items = self._persisted(self._sources().mapPartitions(self.ship(task)), task)
            reports = items.filter(lambda item: isinstance(item, TaskReport)).collect()
        if self.fields:
            self.fields.end()
        self._check(reduce(TaskReport.__add__, reports, TaskReport()))
        return WorkerParts(items, self.ship)

    def _persisted(self, items: Any, task: ReadTask[_T]) -> Any:
        from pyspark import StorageLevel, cloudpickle

        if self.saved is None:
            return items.persist(StorageLevel.DISK_ONLY)
        stamp = self.stamp.encode(errors="backslashreplace")
        return self.saved.parts(items, stamp, cloudpickle.dumps(task))

    def _sources(self) -> Any:
        """The files, or where they are too few for all processors their pieces, which Spark has to move."""
        tasks, files = max(self.parallelism, self.size // _SHARE), len(self.paths)
        splitter = self.files.format.splitter
        if splitter is None or files >= self.parallelism:
            return self.sources(min(files, tasks))
        return self.sources(files).mapPartitions(partial(cut, splitter)).repartition(tasks)

    def _check(self, report: TaskReport) -> None:
        for warning in report.warnings:
            _log.warning("%s", warning)
        report.left.tell()
        if report.errors:
            if self.saved:
                self.saved.remove()
            raise ToucheError(report.errors[0])
        if not report.records:
            raise InputError(self.paths[0], "no documents in it", "check that this is the right file")


@dataclass(frozen=True)
class WorkerParts(Generic[_T]):
    """Parts of a collection on the disks of workers.

    Attributes:
        parts: an RDD of them, and of reports.
        ship: makes functions fit for the way to the workers.
    """

    parts: Any
    ship: Ship

    def folded(self, zero: _R, fold: Callable[[_R, _T], _R], add: Callable[[_R, _R], _R]) -> _R:
        """Folds all parts: each task folds those of its partition, and the results are added up."""

        def of_partition(items: Iterable[_T | TaskReport]) -> Iterator[_R | Failed]:
            yield caught(reduce, fold, _parts_among(items), zero)

        with sentences():
            of_each = self.parts.mapPartitions(self.ship(of_partition))
            result: _R | Failed = of_each.treeReduce(self.ship(partial(of_both, add)))
        if isinstance(result, Failed):
            raise ToucheError(result.reason)
        return result


def _parts_among(items: Iterable[_T | TaskReport]) -> Iterator[_T]:
    """Yields the parts among parts and reports.

    Raises:
        ToucheError: if a report has an error, which it may not have had when the documents were first read.
    """
    for item in items:
        if not isinstance(item, TaskReport):
            yield item
        elif item.errors:
            raise ToucheError(item.errors[0])
