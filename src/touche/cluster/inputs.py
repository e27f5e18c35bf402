"""Finds the input of a run on Spark: in files shared by all machines, or in any file system of Spark."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from touche.baselines.method import Baseline
from touche.cluster.failing import spark_errors
from touche.cluster.session import started
from touche.cluster.shipping import Ship, folder_sent
from touche.cluster.spark_collection import SparkDocuments
from touche.data import datasets
from touche.data.places import is_address
from touche.documents.discovery import Input, files_named
from touche.documents.files import Files
from touche.documents.finding import side_files
from touche.errors import InputError, ToucheError
from touche.io.opening import FileInMemory
from touche.trec.topics import read_topics, topics_named

_LOCAL_SCHEME = "file:"
_MAX_FILE_BYTES = (1 << 31) - 1  # of a file that Spark passes on


@contextmanager
def opened(
    baseline: Baseline, name: str, corpus: str | None, topics: Path | None, master: str
) -> Iterator[Input]:
    """Starts Spark, opens an input for its workers, and stops Spark at the end of the block.

    Args:
        baseline: the baseline that ranks the input.
        name: the path, id or address of the input.
        corpus: the id of a corpus of ir_datasets, for a directory that has only topics.
        topics: a file of topics for an address; None for the one at the address.
        master: Spark's address.

    Raises:
        ToucheError: if the input is unusable, or Spark fails.
    """
    is_remote = is_address(name)
    if is_remote and corpus is not None:
        raise ToucheError(f"{name}: the input at an address includes its documents; omit --corpus")
    local = None if is_remote else datasets.opened(name, corpus, needs_documents=baseline.needs_documents)
    with (
        started(master, baseline.name) as context,
        folder_sent(context, baseline.folder, baseline.package) as ship,
    ):
        yield find(context, ship, local) if local else find_remote(context, ship, name, topics)


def find(context: Any, ship: Ship, local: Input) -> Input:
    """Returns the input of one machine for workers, which see its files under the same paths.

    Args:
        context: a SparkContext.
        ship: the result of ``folder_sent``.
        local: the input on this machine.

    Raises:
        ToucheError: if the documents are not in files.
    """
    files = local.documents
    if not isinstance(files, Files):
        raise ToucheError("Spark reads only topics and documents in files; omit --runner spark")
    size = sum(path.stat().st_size for path in files.paths)
    sources = partial(context.parallelize, [path.absolute() for path in files.paths])
    return replace(local, documents=_on_spark(context, ship, files, size, sources))


class _Entry(NamedTuple):
    """A file in the listing of a folder: its name, and its size in bytes."""

    name: str
    size: int


def _on_spark(
    context: Any, ship: Ship, files: Files, size: int, sources: Callable[[int], Any]
) -> SparkDocuments:
    """Returns a collection for workers.

    Args:
        context: a SparkContext.
        ship: the result of ``folder_sent``.
        files: the files on this machine, or their names on the cluster.
        size: the size of all files in bytes.
        sources: returns an RDD with the files; its argument is the number of partitions.
    """
    return SparkDocuments(
        paths=files.paths,
        side_files=files.side_files,
        parser=files.parser,
        files=files,
        size=size,
        sources=sources,
        parallelism=context.defaultParallelism,
        ship=ship,
    )


@dataclass(frozen=True)
class _Folder:
    """A folder in a file system that Spark can read.

    Attributes:
        context: a SparkContext.
        uri: the address, such as ``hdfs://host/clueweb12``.
    """

    context: Any
    uri: str

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of files, which all machines have to see under the same path."""
        return self.uri.lower().startswith(_LOCAL_SCHEME)

    def path(self, name: str) -> Path:
        """Returns the path of a file that Spark lists by this name; only a local path can be opened."""
        if self.is_local:  # not decoded as an address: Spark's names have blanks as they are
            return Path(name[len(_LOCAL_SCHEME) :])
        return Path(name)

    def entries(self) -> dict[Path, _Entry]:
        """Returns all files at any depth by path, except hidden ones."""
        with spark_errors():
            files = self._read().options(recursiveFileLookup="true").load(self.uri)
            rows = files.select("path", "length").collect()  # without the contents
        return {self.path(row.path): _Entry(row.path, row.length) for row in rows}

    def readable_file(self, entry: _Entry) -> Path:
        """Returns a file that this process can read.

        Raises:
            InputError: if the file is too large for Spark.
        """
        if self.is_local:
            return self.path(entry.name)
        _check_sizes([entry])
        with spark_errors():
            (content,) = self._read().load(entry.name).select("content").head()  # a row with one column
            return FileInMemory.from_bytes(entry.name, bytes(content))

    def contents(self, paths: Iterable[str], tasks: int) -> Any:
        """Returns an RDD with the contents of files.

        Args:
            paths: Spark's names of the files.
            tasks: ignored, because Spark chooses the number of tasks; callers of ``sources`` pass it.
        """
        selected = frozenset(paths)
        # Spark selects by a pattern, such as {*.gz,*.json}. Others with these suffixes are removed below.
        patterns = sorted({f"*{Path(path).suffix}" for path in selected})
        reader = self._read().options(recursiveFileLookup="true", pathGlobFilter=f"{{{','.join(patterns)}}}")
        rows = reader.load(self.uri).select("path", "content").rdd
        return rows.mapPartitions(partial(_selected_contents, selected))

    def _read(self) -> Any:
        """Returns Spark's reader of whole files."""
        from pyspark.sql import SparkSession  # optional

        return SparkSession(self.context).read.format("binaryFile")


def find_remote(context: Any, ship: Ship, uri: str, topics: Path | None) -> Input:
    """Returns the input in any file system that Spark can read; documents may be at any depth.

    Workers open files of ``file:``; Spark passes them the contents of all others.

    Args:
        context: a SparkContext.
        ship: the result of ``folder_sent``.
        uri: the address of a folder.
        topics: a file of topics on this machine; None for the one in the folder.

    Raises:
        ToucheError: if topics or documents are missing, or a file is too large for Spark.
    """
    folder = _Folder(context, uri.rstrip("/"))
    entries = folder.entries()
    at_top = [path for path in entries if path.parent == folder.path(folder.uri)]  # not in a subfolder
    readable_side_files = tuple(folder.readable_file(entries[path]) for path in side_files(at_top))
    files = replace(files_named(entries, uri), side_files=readable_side_files)
    collection_entries = [entries[path] for path in files.paths]
    if folder.is_local:
        sources = partial(context.parallelize, files.paths)
    else:
        _check_sizes(collection_entries)
        sources = partial(folder.contents, [entry.name for entry in collection_entries])
    remedy = ", or pass a file with --topics"
    topics_file = topics or folder.readable_file(entries[topics_named(at_top, uri, remedy)])
    input = Input.combine(read_topics(topics_file), topics_file, files)
    if not folder.is_local:  # only files of this machine can be read again, for their md5
        input = replace(input, files=(topics,) if topics else ())
    size = sum(entry.size for entry in collection_entries)
    return replace(input, documents=_on_spark(context, ship, files, size, sources))


def _check_sizes(entries: Iterable[_Entry]) -> None:
    """Raises InputError for a file that is too large for Spark."""
    for entry in entries:
        if entry.size > _MAX_FILE_BYTES:
            remedy = "split it, or mount its file system on all machines and pass its folder as file:///..."
            raise InputError(entry.name, "2 GB or more, too large for Spark", remedy)


def _selected_contents(selected: frozenset[str], rows: Iterable[Any]) -> Iterator[Path]:
    """Yields the selected files among Spark's rows, with their contents."""
    return (FileInMemory.from_bytes(row.path, row.content) for row in rows if row.path in selected)
