"""Topics and documents in an input directory: which files are taken, by their names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from touche.collection.documents import PAGE_RANKS, SPAM_RANKS, Documents, MissingDocuments
from touche.collection.files import Candidates, FileFormat, Files
from touche.collection.folders import files_below
from touche.collection.ir_datasets import IrDataset
from touche.errors import InputError
from touche.formats import clueweb22
from touche.formats.args_processed import pieces_of_args_processed
from touche.formats.argsme import pieces_of_argsme
from touche.formats.beir import pieces_of_beir_corpus
from touche.formats.html_folder import read_pages_csv
from touche.formats.jsonl import (
    pieces_of_documents,
    pieces_of_passages,
    read_rerank_jsonl,
)
from touche.formats.parquet import read_documents_parquet
from touche.formats.topics import Topic, read_topics
from touche.formats.warc import read_warc

# Of several topic or document formats in a directory, the first is taken.
_TOPIC_FILES = ("topics.xml", "queries.jsonl")
_FORMATS = (
    FileFormat("documents.jsonl", "documents", pieces_of_documents),
    FileFormat("corpus.jsonl", "documents", pieces_of_beir_corpus),
    FileFormat("passages*.jsonl", "passages", pieces_of_passages),
    FileFormat("args_processed*.csv", "arguments in sentences", pieces_of_args_processed),
    FileFormat("pages.csv", "web pages", None, read_pages_csv, alone=False),
    FileFormat("*.parquet", "documents", None, read_documents_parquet, below=re.compile(r".*\.parquet")),
    FileFormat("*.warc", "web pages", None, read_warc, "archives", re.compile(r".*\.warc(?:\.gz)?")),
    FileFormat(
        "*.json",
        "web pages",
        None,
        clueweb22.read_clueweb22_json,
        below=clueweb22.NAME,
        holds=clueweb22.is_clueweb22_json,
    ),
    FileFormat("*.json", "arguments", pieces_of_argsme),
)
_IN_FOLDERS = [each for each in _FORMATS if each.below]
_BELOW = re.compile("|".join(f"(?:{each.below.pattern})" for each in _IN_FOLDERS if each.below))
_RERANK_FILE = "rerank.jsonl"
_HIDDEN = (".", "metadata.json")  # how names of other files begin; the latter is TIRA's note about a dataset


@dataclass(frozen=True)
class Input:
    """The input of a baseline.

    Attributes:
        topics: all topics, in the order of the file.
        documents: the collection.
        took: one line that names what was taken.
        files: the files that were taken, without those of ir_datasets.
    """

    topics: tuple[Topic, ...]
    documents: Documents
    took: str
    files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, topics: Iterable[Topic], topics_file: Path, documents: Documents) -> "Input":
        """Joins topics and the collection to search for them."""
        all_topics = tuple(topics)
        took = f"{len(all_topics)} topics from {topics_file.name}, {documents}"
        return cls(all_topics, documents, took, (topics_file, *documents.paths, *documents.side_files))


def find(directory: Path, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Finds topics and documents in an input directory.

    Re-ranking input (rerank.jsonl) goes before topics and documents; of several topic or document formats the
    first is taken in the order topics.xml, queries.jsonl; documents.jsonl, corpus.jsonl of BEIR,
    passages*.jsonl, args_processed*.csv, pages.csv, *.parquet, *.warc, *.json of ClueWeb22, other *.json.
    Each may be gzipped (Parquet is packed in itself). Parquet, archives, and the texts of ClueWeb22 by their
    names there, are also found in the folders below, and in those that links in the directory itself lead to.

    Args:
        directory: the input directory.
        corpus: the id of an ir_datasets corpus to search, for a directory with topics only.
        needs_documents: whether missing documents are an error now; else only iterating over them is.

    Raises:
        InputError: if the directory is missing or unreadable, or topics or documents are not in it.
    """
    names = _listed(directory)
    if corpus is None and (rerank := _first_named(names, [_RERANK_FILE])):
        return _reranking(rerank[0])
    topics_path = topics_named(names, directory)
    topics = read_topics(topics_path)
    try:
        documents = IrDataset(corpus, side_files=side_files(names)) if corpus else find_documents(directory)
    except InputError as error:
        if needs_documents:
            raise
        took = f"{len(topics)} topics from {topics_path.name}"
        return Input(topics, MissingDocuments(error), took, (topics_path,))
    return Input.of(topics, topics_path, documents)


def find_documents(directory: Path) -> Files:
    """Finds the documents in a directory, as ``find`` does.

    Raises:
        InputError: if there are none.
    """
    names = _listed(directory)
    first = next((each for each in _FORMATS if _beside(names, each)), None)
    if first and not first.below:
        return _files(first, _beside(names, first), side_files(names))
    below = list(files_below(directory, _BELOW, without=clueweb22.LINKS))  # which is walked once for all
    for each in [first] if first else _IN_FOLDERS:
        if paths := _beside(names, each) + [path for path in below if each.is_name_below(path.name)]:
            return _files(each, paths, side_files(names))
    raise _no_documents(directory, _FORMATS, ", or name an ir_datasets corpus with --corpus")


def files_named(paths: Iterable[Path], where: str) -> Files:
    """Selects the files of documents among those of a file system, in any folders, by their names alone.

    Args:
        paths: all files; of several formats the first is taken, in the order of ``find``.
        where: the folder that they are in, for errors.

    Raises:
        InputError: if there are none.
    """
    names, formats = _visible(paths), [each for each in _FORMATS if each.alone]
    for each in formats:
        is_name = each.is_name_below if each.below else each.is_name
        if named := [path for path in names if is_name(path.name)]:
            return _files(each, named)
    raise _no_documents(where, formats)


def topics_named(paths: Iterable[Path], where: Path | str, more: str = "") -> Path:
    """Selects the file of topics among those of a folder, by its name.

    Args:
        paths: all files.
        where: the folder, for the error.
        more: another remedy, for the error.

    Raises:
        InputError: if there is none.
    """
    if topics := _first_named(paths, _TOPIC_FILES):
        return topics[0]
    remedy = f"put {' or '.join(_TOPIC_FILES)} there, plain or .gz{more}"
    raise InputError(where, "no topics in it", remedy)


def side_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Selects the files with more about documents among those of a folder, plain or gzipped."""
    return _first_named(paths, (SPAM_RANKS, PAGE_RANKS))


def _first_named(paths: Iterable[Path], names: Iterable[str]) -> tuple[Path, ...]:
    """The files of these names, plain before gzipped, in the order of the names."""
    by_name = {path.name: path for path in paths}
    return tuple(by_name[file] for name in names for file in (name, f"{name}.gz") if file in by_name)


def _listed(directory: Path) -> list[Path]:
    """The files and folders of a directory, sorted.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        return sorted(path for path in _visible(directory.iterdir()) if path.exists())
    except OSError as error:
        remedy = "give a directory that holds topics and documents"
        raise InputError(directory, f"cannot be read ({error.strerror})", remedy) from error


def _visible(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if not path.name.startswith(_HIDDEN)]


def _beside(names: Iterable[Path], format: FileFormat) -> list[Path]:
    """The files of a format in the directory itself."""
    return [path for path in names if format.is_name(path.name) and (not format.holds or format.holds(path))]


def _files(format: FileFormat, paths: Iterable[Path], side_files: tuple[Path, ...] = ()) -> Files:
    return Files(format, paths=tuple(sorted(paths)), side_files=side_files)


def _no_documents(where: Path | str, formats: Iterable[FileFormat], more: str = "") -> InputError:
    patterns = ", ".join(dict.fromkeys(each.pattern for each in formats))
    return InputError(where, "no documents in it", f"put {patterns} there, plain or .gz{more}")


def _reranking(path: Path) -> Input:
    topics: dict[str, Topic] = {}
    candidates: dict[str, set[str]] = {}
    for topic, document in read_rerank_jsonl(path):
        topics.setdefault(topic.number, topic)
        candidates.setdefault(topic.number, set()).add(document.id)
    if not topics:
        remedy = 'put one {"qid", "query", "docno", "text"} on each line'
        raise InputError(path, "no candidates in it", remedy)
    with_candidates = tuple(
        replace(topic, candidates=frozenset(candidates[number])) for number, topic in topics.items()
    )
    took = f"{len(topics)} topics and their {sum(map(len, candidates.values()))} candidates from {path.name}"
    documents = Candidates(paths=(path,), side_files=side_files(path.parent.iterdir()))
    return Input(with_candidates, documents, took, (path, *documents.side_files))
