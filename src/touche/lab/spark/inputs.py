"""Finds a run's input for Spark: files that all machines share, or any file system that Spark can read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from touche.baselines.method import Baseline
from touche.data import datasets
from touche.data.places import is_address
from touche.documents.discovery import Input, files_named
from touche.documents.files import Files
from touche.documents.side_files import side_files
from touche.errors import InputError, ToucheError
from touche.lab.spark.failing import spark_errors
from touche.lab.spark.files_in_memory import FileInMemory
from touche.lab.spark.session import started
from touche.lab.spark.shipping import Ship, folder_sent
from touche.lab.spark.spark_collection import SparkDocuments
from touche.trec.topics import read_topics, topics_named

_LOCAL_SCHEME = "file:"
_MAX_FILE_BYTES = (1 << 31) - 1  # largest file that Spark can pass on


@contextmanager
def opened(
    baseline: Baseline, name: str, corpus: str | None, topics: Path | None, master: str
) -> Iterator[Input]:
    """Starts Spark, opens an input for its workers, and stops Spark at the end of the block.

    Args:
        name: the input's path, id or address.
        corpus: an ir_datasets corpus, for a directory that contains only topics.
        topics: a file of topics for an address; None if the topics are at the address.
    """
    is_remote = is_address(name)
    if topics and not is_remote:
        raise ToucheError(f"{name} has its own topics; omit --topics, which is for addresses")
    if is_remote and corpus:
        raise ToucheError(f"{name}: the input at an address includes its documents; omit --corpus")
    local = None if is_remote else datasets.opened(name, corpus, needs_documents=baseline.needs_documents)
    with (
        started(master, baseline.name) as context,
        folder_sent(context, baseline.folder, baseline.package) as ship,
    ):
        yield find(context, ship, local) if local else find_remote(context, ship, name, topics)


def find(context: Any, ship: Ship, local: Input) -> Input:
    """Prepares one machine's input for workers that see its files under the same paths."""
    files = local.documents
    if not isinstance(files, Files):
        raise ToucheError("Spark reads only topics and documents in files; rank these with: touche run")
    size = sum(path.stat().st_size for path in files.paths)
    sources = partial(context.parallelize, [path.absolute() for path in files.paths])
    return replace(local, documents=_on_spark(context, ship, files, size, sources))


class _Entry(NamedTuple):
    """A file in a folder listing; the size is in bytes."""

    name: str
    size: int


def _on_spark(
    context: Any, ship: Ship, files: Files, size: int, sources: Callable[[int], Any]
) -> SparkDocuments:
    """Returns a collection for workers; ``size`` and ``sources`` as in ``SparkDocuments``."""
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
    """A folder in a file system that Spark can read, such as ``hdfs://host/clueweb12``."""

    context: Any
    uri: str

    @property
    def is_local(self) -> bool:
        """Whether these are ordinary files, which all machines must see under the same path."""
        return self.uri.lower().startswith(_LOCAL_SCHEME)

    def path(self, name: str) -> Path:
        """Returns the path for a name that Spark lists. You can open it only if the folder is local."""
        if self.is_local:  # don't decode it as an address: Spark doesn't encode blanks
            return Path(name[len(_LOCAL_SCHEME) :])
        return Path(name)

    def entries(self) -> dict[Path, _Entry]:
        """Returns all files at any depth by path, except hidden ones."""
        with spark_errors():
            files = self._read().options(recursiveFileLookup="true").load(self.uri)
            rows = files.select("path", "length").collect()  # without contents
        return {self.path(row.path): _Entry(row.path, row.length) for row in rows}

    def readable_file(self, entry: _Entry) -> Path:
        """Returns a file that this process can read. Raises InputError if it is too large for Spark."""
        if self.is_local:
            return self.path(entry.name)
        _check_sizes([entry])
        with spark_errors():
            (content,) = self._read().load(entry.name).select("content").head()  # a row with one column
            return FileInMemory.from_bytes(entry.name, bytes(content))

    def contents(self, paths: Iterable[str], tasks: int) -> Any:
        """Returns an RDD with files' contents. Spark chooses the number of tasks, so ``tasks`` is ignored."""
        selected = frozenset(paths)
        # Spark selects by a pattern, such as {*.gz,*.json}. Other files that match are dropped below.
        patterns = sorted({f"*{Path(path).suffix}" for path in selected})
        reader = self._read().options(recursiveFileLookup="true", pathGlobFilter=f"{{{','.join(patterns)}}}")
        rows = reader.load(self.uri).select("path", "content").rdd
        return rows.mapPartitions(partial(_selected_contents, selected))

    def _read(self) -> Any:
        from pyspark.sql import SparkSession  # optional

        return SparkSession(self.context).read.format("binaryFile")


def find_remote(context: Any, ship: Ship, uri: str, topics: Path | None) -> Input:
    """Finds the input in any file system that Spark can read; documents may be at any depth.

    Workers open ``file:`` files themselves; Spark passes them the contents of others.

    Args:
        topics: a file of topics on this machine; None if the topics are in the folder.
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
    if not folder.is_local:  # only local files can be read again, for their MD5
        input = replace(input, files=(topics,) if topics else ())
    size = sum(entry.size for entry in collection_entries)
    return replace(input, documents=_on_spark(context, ship, files, size, sources))


def _check_sizes(entries: Iterable[_Entry]) -> None:
    for entry in entries:
        if entry.size > _MAX_FILE_BYTES:
            remedy = "split it, or mount its file system on all machines and pass its folder as file:///..."
            raise InputError(entry.name, "2 GB or more, too large for Spark", remedy)


def _selected_contents(selected: frozenset[str], rows: Iterable[Any]) -> Iterator[Path]:
    return (FileInMemory.from_bytes(row.path, row.content) for row in rows if row.path in selected)
