"""The input of a run on Spark: in files that all machines see, or in any file system that Spark reads."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from touche.cluster.collection import Saved, SparkDocuments
from touche.cluster.failing import sentences
from touche.cluster.fields import FieldsFolder
from touche.cluster.shipping import Ship, version_of
from touche.collection.discovery import Input, files_named, side_files, topics_named
from touche.collection.files import Files
from touche.errors import InputError, ToucheError
from touche.formats.topics import read_topics
from touche.io.opening import Held

_LOCAL = "file:"
_MOST = (1 << 31) - 1  # bytes that Spark hands over of a file


def find(context: Any, ship: Ship, given: Input) -> Input:
    """An input of one machine, read by workers, that see its files under the same paths.

    Args:
        context: a SparkContext.
        ship: of ``folder_sent``.
        given: the input.

    Raises:
        ToucheError: if it is not in files of documents, or fields cannot be kept where they should be.
    """
    files = given.documents
    if not isinstance(files, Files):
        raise ToucheError("Spark reads topics and files of documents only; leave --runner spark out")
    stats = {str(path.absolute()): path.stat() for path in files.paths}
    entries = [_Entry(name, each.st_size, str(each.st_mtime_ns)) for name, each in stats.items()]
    sources = partial(context.parallelize, [path.absolute() for path in files.paths])
    return replace(given, documents=_on_spark(context, ship, files, entries, sources))


class _Entry(NamedTuple):
    """A file as a folder lists it: its name, its size in bytes, and when it was changed."""

    name: str
    size: int
    changed: str


def _on_spark(
    context: Any, ship: Ship, files: Files, entries: Sequence[_Entry], sources: Callable[[int], Any]
) -> SparkDocuments:
    size, stamp = sum(each.size for each in entries), str(sorted(map(tuple, entries)))
    about = {name: getattr(files, name) for name in ("paths", "side_files", "parser", "statistics")}
    fields = FieldsFolder.at(files.fields) if files.fields else None
    if fields:
        fields.begin()
    return SparkDocuments(files, size, stamp, sources, context.defaultParallelism, ship, fields, **about)


@contextmanager
def saved(given: Input, folder: Path, baseline: Path | None) -> Iterator[Input]:
    """The same input, of which what is found is saved until all is done.

    Args:
        given: of ``find`` or ``find_remote``.
        folder: that all machines see.
        baseline: the baseline's folder, if it has one.
    """
    where = Saved(folder, version_of(baseline) if baseline else b"")
    yield replace(given, documents=replace(given.documents, saved=where))  # type: ignore[call-arg]
    where.remove()


@dataclass(frozen=True)
class _Folder:
    """A folder in a file system that Spark reads.

    Attributes:
        context: a SparkContext.
        uri: where it is, such as ``hdfs://host/clueweb12``.
    """

    context: Any
    uri: str

    @property
    def is_local(self) -> bool:
        """Whether all machines see it under the same path."""
        return self.uri.lower().startswith(_LOCAL)

    def path(self, name: str) -> Path:
        """A file as it is opened, or at least called, by its name in this file system."""
        return Path(name[len(_LOCAL) :]) if self.is_local else Path(name)  # Spark quotes no sign in it

    def entries(self) -> dict[str, _Entry]:
        """All files by name, at any depth; hidden ones are passed over."""
        with sentences():
            files = self._read().options(recursiveFileLookup="true").load(self.uri)
            rows = files.select("path", "length", "modificationTime").collect()
            return {row.path: _Entry(row.path, row.length, str(row.modificationTime)) for row in rows}

    def opened(self, entry: _Entry) -> Path:
        """A file that this process reads.

        Raises:
            InputError: if it is too large for Spark.
        """
        if self.is_local:
            return self.path(entry.name)
        _check_sizes([entry])
        with sentences():
            return Held.of(entry.name, bytes(self._read().load(entry.name).select("content").head()[0]))

    def held(self, paths: Iterable[str], tasks: int) -> Any:
        """An RDD with these files and what they hold, which Spark itself parts into tasks."""
        wanted = frozenset(paths)
        names = {f"*{Path(path).suffix}" for path in wanted}
        options = {"recursiveFileLookup": "true", "pathGlobFilter": f"{{{','.join(sorted(names))}}}"}
        rows = self._read().options(**options).load(self.uri).select("path", "content").rdd
        return rows.mapPartitions(partial(_held, wanted))

    def _read(self) -> Any:
        from pyspark.sql import SparkSession

        return SparkSession(self.context).read.format("binaryFile")


def find_remote(
    context: Any,
    ship: Ship,
    uri: str,
    topics: Path | None = None,
    asked: Callable[[Files], Files] = lambda files: files,
) -> Input:
    """An input in any file system that Spark reads; documents may lie at any depth.

    Files of ``file:`` are opened by the workers, all others are handed to them by Spark.

    Args:
        context: a SparkContext.
        ship: of ``folder_sent``.
        uri: of a folder.
        topics: a file of topics on this machine; by default the one in the folder.
        asked: adds to the files what else is asked of them.

    Raises:
        ToucheError: if topics or documents are not there, or a file is too large for Spark.
    """
    folder = _Folder(context, uri.rstrip("/"))
    entries = {folder.path(name): entry for name, entry in folder.entries().items()}
    beside = [each for each in entries if each.parent == folder.path(folder.uri)]
    opened = tuple(folder.opened(entries[path]) for path in side_files(beside))
    files = asked(replace(files_named(entries, uri), side_files=opened))
    of_files = [entries[path] for path in files.paths]
    path = topics or topics_named(beside, uri, ", or name a file with --topics")
    if folder.is_local:
        sources = partial(context.parallelize, files.paths)
        found = Input.of(read_topics(path), path, files)
    else:
        _check_sizes(of_files)
        sources = partial(folder.held, [each.name for each in of_files])
        held = topics or folder.opened(entries[path])
        found = replace(Input.of(read_topics(held), path, files), files=(topics,) if topics else ())
    return replace(found, documents=_on_spark(context, ship, files, of_files, sources))


def _check_sizes(entries: Iterable[_Entry]) -> None:
    """Raises InputError for a file that Spark does not hand over."""
    for each in entries:
        if each.size > _MOST:
            remedy = "split it, or mount its file system on all machines and name its folder as file:///..."
            raise InputError(each.name, "2 GB or more, which Spark does not hand over", remedy)


def _held(wanted: frozenset[str], rows: Iterable[Any]) -> Iterator[Path]:
    return (Held.of(row.path, row.content) for row in rows if row.path in wanted)
