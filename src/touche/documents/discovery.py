"""Finds topics and documents in an input directory, by the names of the files."""

import re
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from touche.documents import clueweb22
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import pieces_of_argsme
from touche.documents.beir import pieces_of_beir_corpus
from touche.documents.collection import PAGE_RANKS, SPAM_RANKS, Documents, MissingDocuments
from touche.documents.files import Candidates, FileFormat, Files
from touche.documents.folders import files_below
from touche.documents.html_folder import read_pages_csv
from touche.documents.images import FOLDER, Images, has_images
from touche.documents.ir_datasets import IrDataset
from touche.documents.json_array import is_json_array, pieces_of_json_array
from touche.documents.jsonl import (
    pieces_of_documents,
    pieces_of_passages,
    read_rerank_jsonl,
)
from touche.documents.parquet import count_rows, read_documents_parquet
from touche.documents.tables import check_table, read_table
from touche.documents.warc import read_warc
from touche.errors import InputError
from touche.io.json_lines import read_jsonl
from touche.trec.topics import TOPIC_FILES, Topic, paths_named, read_topics, topics_named

_ANY_JSONL = "*.jsonl"
_RERANK_FILE = "rerank.jsonl"
# Finds names of files with queries; but arguments-by-topic.csv has documents.
_QUERIES = re.compile(r"(?<!by[-_])(?<!per[-_])(?:quer(?:y|ies)|topic)", re.IGNORECASE)


@dataclass(frozen=True)
class HasFields:
    """Decides whether the first record of a file of JSON lines is a document, and not a query.

    Attributes:
        names: the fields that the record needs.
    """

    names: Set[str]

    def __call__(self, path: Path) -> bool:
        """Returns whether the first record is a document.

        False if the file cannot be read, or has the name of another input.
        """
        if path.name.removesuffix(".gz") in (*TOPIC_FILES, _RERANK_FILE):
            return False
        with suppress(InputError):
            _, record = next(read_jsonl(path), (0, {}))  # an empty file has no record, so no fields
            is_query_of_tira = "qid" in record
            # A query of BEIR has the fields of a document without a title, so the file's name decides.
            is_query_of_beir = "title" not in record and _has_name_of_queries(path)
            return self.names <= record.keys() and not (is_query_of_tira or is_query_of_beir)
        return False


def _has_name_of_queries(path: Path) -> bool:
    """Returns whether a file's name says that it contains queries."""
    return _QUERIES.search(path.name) is not None


def _is_array_of_documents(path: Path) -> bool:
    """Returns whether a file begins as a JSON array, unless it has the name of queries."""
    return not _has_name_of_queries(path) and is_json_array(path)


def _is_table(path: Path) -> bool:
    """Returns whether a table's header has the fields of documents; False for a name of queries."""
    return not _has_name_of_queries(path) and _has_header_of_documents(path)


def _has_header_of_documents(path: Path) -> bool:
    """Returns whether a table's header has the fields of documents; False if the file cannot be read."""
    with suppress(InputError):
        check_table(path)
        return True
    return False


_TABLE = FileFormat("*.[ct]sv", "documents", whole_reader=read_table, fits=_is_table)
# If a directory has several topic or document formats, the first in this order is used.
# docs/reference/files.md repeats the order.
_FORMATS = (
    FileFormat("documents.jsonl", "documents", pieces_of_documents),
    FileFormat("corpus.jsonl", "documents", pieces_of_beir_corpus),
    FileFormat("passages*.jsonl", "passages", pieces_of_passages),
    FileFormat("args_processed*.csv", "arguments in sentences", pieces_of_args_processed),
    FileFormat("pages.csv", "web pages", whole_reader=read_pages_csv, is_complete=False),
    FileFormat(
        "*.parquet",
        "documents",
        whole_reader=read_documents_parquet,
        count=count_rows,
        subfolder_pattern=re.compile(r".*\.parquet"),
    ),
    FileFormat(
        "*.warc",
        "web pages",
        whole_reader=read_warc,
        unit="archives",
        subfolder_pattern=re.compile(r".*\.warc(?:\.gz)?"),
    ),
    FileFormat(
        "*.json",
        "web pages",
        whole_reader=clueweb22.read_clueweb22_json,
        subfolder_pattern=clueweb22.NAME,
        fits=clueweb22.is_clueweb22_json,
    ),
    FileFormat("*.json", "documents", pieces_of_json_array, fits=_is_array_of_documents),
    FileFormat("*.json", "arguments", pieces_of_argsme),
    FileFormat(_ANY_JSONL, "documents", pieces_of_documents, fits=HasFields({"docno"})),
    FileFormat(_ANY_JSONL, "documents", pieces_of_beir_corpus, fits=HasFields({"_id", "title"})),
    FileFormat(_ANY_JSONL, "passages", pieces_of_passages, fits=HasFields({"id", "contents"})),
    FileFormat(_ANY_JSONL, "documents", pieces_of_beir_corpus, fits=HasFields({"_id", "text"})),
    _TABLE,
)
_FORMATS_IN_SUBFOLDERS = [format for format in _FORMATS if format.subfolder_pattern]
_NAMES_IN_SUBFOLDERS = re.compile(
    "|".join(f"(?:{format.subfolder_pattern.pattern})" for format in _FORMATS if format.subfolder_pattern)
)
_STATISTICS_NAME = re.compile(r"statistics-.*\.json$")  # files of --keep-statistics next to the documents
_IGNORED_BEGINNINGS = (".", "metadata.json")  # of names; the latter is TIRA's note on a dataset


@dataclass(frozen=True)
class Input:
    """The input of a baseline.

    Attributes:
        topics: all topics, in the order of the file.
        documents: the collection.
        description: a line that names the sources of topics and documents.
        files: the files of topics and documents; ir_datasets adds none.
        statistics: the name under which baselines publish statistics of the whole collection, such as
            ``argsme-2020-04-01``; empty for a folder, and if none are published.
        is_whole: whether the documents are this whole collection, instead of a part of it.
        dataset: the id of the dataset; empty for a folder.
    """

    topics: tuple[Topic, ...]
    documents: Documents
    description: str
    files: tuple[Path, ...] = ()
    statistics: str = ""
    is_whole: bool = False
    dataset: str = ""

    @classmethod
    def combine(cls, topics: Iterable[Topic], topics_file: Path, documents: Documents) -> "Input":
        """Combines topics with the collection in which to search."""
        all_topics = tuple(topics)
        description = f"{len(all_topics)} topics from {topics_file.name}, {documents}"
        files = (topics_file, *documents.paths, *documents.side_files)
        return cls(topics=all_topics, documents=documents, description=description, files=files)


def find(directory: Path, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Finds topics and documents in an input directory.

    Without ``corpus``, re-ranking input (rerank.jsonl) has priority over topics and documents. If there are
    several formats, the first one is used. The order of topics is topics.xml, queries.jsonl. The order of
    documents is documents.jsonl, corpus.jsonl (BEIR), passages*.jsonl, args_processed*.csv, pages.csv,
    images/, *.parquet, *.warc, *.json of ClueWeb22, *.json with an array, other *.json, other *.jsonl, and
    *.csv and *.tsv whose header names an id and a text. The other *.jsonl are ordered by their content:
    documents, BEIR with titles, passages, BEIR without titles. All except Parquet may be gzipped. Parquet
    files, archives and texts of ClueWeb22 may also be in subfolders or linked folders, under their original
    names.

    Args:
        directory: the input directory.
        corpus: the id of an ir_datasets corpus, for a directory that has only topics; its documents replace
            those of the directory.
        needs_documents: whether missing documents are an error at once, or only when someone iterates over
            them.

    Raises:
        InputError: if the directory, its topics or its documents are missing or unreadable.
    """
    paths = _visible_in(directory)
    rerank_files = paths_named(paths, [_RERANK_FILE])
    if rerank_files and corpus is None:  # a corpus replaces the candidates
        return _read_reranking(rerank_files[0])
    topics_path = topics_named(paths, directory)
    topics = read_topics(topics_path)
    try:
        documents = IrDataset(corpus, side_files=side_files(paths)) if corpus else find_documents(directory)
    except InputError as error:
        if needs_documents:
            raise
        return Input(
            topics=topics,
            documents=MissingDocuments(error),
            description=f"{len(topics)} topics from {topics_path.name}",
            files=(topics_path,),
        )
    return Input.combine(topics, topics_path, documents)


def find_documents(directory: Path) -> Files | Images:
    """Finds the documents in a directory, as ``find`` does.

    Files in the directory decide first if their format has no subfolders. The folder of images is next.
    Formats with subfolders are last: that of files in the directory, else the first one of files below it.

    Raises:
        InputError: if the directory has no documents.
    """
    direct_paths = _visible_in(directory)
    format_here = next((format for format in _FORMATS if _of_format(direct_paths, format)), None)
    if format_here and not format_here.subfolder_pattern:
        return _files(format_here, _of_format(direct_paths, format_here), side_files(direct_paths))
    if has_images(directory):
        return Images(directory / FOLDER, paths=(directory / FOLDER,))
    paths_in_subfolders = list(files_below(directory, _NAMES_IN_SUBFOLDERS, without=clueweb22.LINKS))
    formats = [format_here] if format_here else _FORMATS_IN_SUBFOLDERS
    for format in formats:
        paths = [path for path in paths_in_subfolders if format.has_name_in_subfolder(path.name)]
        paths += _of_format(direct_paths, format)
        if paths:
            return _files(format, paths, side_files(direct_paths))
    tables = [path for path in direct_paths if _TABLE.has_name(path.name)]
    for path in tables:
        if not _has_name_of_queries(path):
            check_table(path)  # always raises, because no format fits; the error says what the header lacks
    more_remedies = ", or name an ir_datasets corpus with --corpus"
    skipped = [path.name for path in tables if _has_header_of_documents(path)]  # all have the name of queries
    if skipped:
        more_remedies += f", or rename {skipped[0]}, which was not read because of the name of queries"
    raise _no_documents(directory, _FORMATS, more_remedies)


def files_named(paths: Iterable[Path], folder: str) -> Files:
    """Selects the files of documents from a list of paths in any folders, by their names alone.

    Args:
        paths: all files; if they have several formats, the first in the order of ``find`` is used.
        folder: their folder, for error messages.

    Raises:
        InputError: if none of the files has documents.
    """
    visible = _visible(paths)
    # Only formats that a name alone shows: formats without ``fits``, and those with names in subfolders, for
    # which ``fits`` is not called. They are complete, because the list may lack the files that others name.
    formats = [
        format
        for format in _FORMATS
        if format.is_complete and (format.subfolder_pattern or format.fits is None)
    ]
    for format in formats:
        has_name = format.has_name_in_subfolder if format.subfolder_pattern else format.has_name
        paths_of_format = [path for path in visible if has_name(path.name)]
        if paths_of_format:
            return _files(format, paths_of_format)
    raise _no_documents(folder, formats)


def side_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Selects the side files, which rate web pages, from the files of a folder, plain or gzipped."""
    return paths_named(paths, (SPAM_RANKS, PAGE_RANKS))


def _visible_in(directory: Path) -> list[Path]:
    """Returns the files and folders of a directory, sorted, as ``_visible`` selects them.

    Raises:
        InputError: if the directory cannot be read.
    """
    try:
        # ``exists`` is False for a broken link.
        return sorted(path for path in _visible(directory.iterdir()) if path.exists())
    except OSError as error:
        remedy = "pass a directory with topics and documents"
        raise InputError(directory, f"cannot be read ({error.strerror})", remedy) from error


def _visible(paths: Iterable[Path]) -> list[Path]:
    """Returns the paths without hidden files, statistics, and TIRA's note on a dataset."""
    return [
        path
        for path in paths
        if not path.name.startswith(_IGNORED_BEGINNINGS) and not _STATISTICS_NAME.match(path.name)
    ]


def _of_format(paths: Iterable[Path], format: FileFormat) -> list[Path]:
    """Selects the files of a format from the paths directly in a directory."""
    paths_with_name = (path for path in paths if format.has_name(path.name))
    return [path for path in paths_with_name if format.fits is None or format.fits(path)]


def _files(format: FileFormat, paths: Iterable[Path], side_files: tuple[Path, ...] = ()) -> Files:
    """Returns a collection in files, which are read in the order of their paths."""
    return Files(format, paths=tuple(sorted(paths)), side_files=side_files)


def _no_documents(folder: Path | str, formats: Iterable[FileFormat], more_remedies: str = "") -> InputError:
    """Returns the error that a folder has no documents; more remedies continue the sentence."""
    patterns = ", ".join(dict.fromkeys(format.pattern for format in formats))  # several formats can share one
    remedy = f"put {patterns} there, plain or .gz{more_remedies}"
    return InputError(folder, "no documents in this folder", remedy)


def _read_reranking(path: Path) -> Input:
    """Returns the topics and the candidates in rerank.jsonl."""
    topics: dict[str, Topic] = {}
    candidates: dict[str, set[str]] = {}  # ids of documents by the number of the topic
    for topic, document in read_rerank_jsonl(path):
        topics.setdefault(topic.number, topic)
        candidates.setdefault(topic.number, set()).add(document.id)
    if not topics:
        remedy = 'put one {"qid", "query", "docno", "text"} on each line'
        raise InputError(path, "no candidates in this file", remedy)
    topics_with_candidates = tuple(
        replace(topic, candidates=frozenset(candidates[number])) for number, topic in topics.items()
    )
    count = sum(len(ids) for ids in candidates.values())
    description = f"{len(topics)} topics and their {count} candidates from {path.name}"
    documents = Candidates(paths=(path,), side_files=side_files(path.parent.iterdir()))
    return Input(
        topics=topics_with_candidates,
        documents=documents,
        description=description,
        files=(path, *documents.side_files),
    )
