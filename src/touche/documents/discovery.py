"""Finds topics and documents in an input directory, by the names of the files."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from touche.documents import clueweb22
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import is_no_array, pieces_of_argsme
from touche.documents.collection import PAGE_RANKS, SPAM_RANKS, Documents, MissingDocuments
from touche.documents.files import Candidates, FileFormat, Files
from touche.documents.folders import files_below
from touche.documents.html_folder import read_pages_csv
from touche.documents.images import FOLDER, Images, has_images
from touche.documents.ir_datasets import IrDataset
from touche.documents.jsonl import has_document, has_text, pieces_of_jsonl, read_rerank_jsonl
from touche.documents.warc import read_warc
from touche.errors import InputError
from touche.io.json_lines import read_jsonl
from touche.trec.topics import TOPIC_FILES, Topic, paths_named, read_topics, topics_named

_RERANK_FILE = "rerank.jsonl"
# Finds names of files with queries; but arguments-by-topic.csv has documents.
_QUERIES = re.compile(r"(?<!by[-_])(?<!per[-_])(?:quer(?:y|ies)|topic)", re.IGNORECASE)


def _has_name_of_queries(path: Path) -> bool:
    """Returns whether a file's name says that it contains queries."""
    return _QUERIES.search(path.name) is not None


def _has_documents(path: Path) -> bool:
    """Returns whether the first line of a file of JSON lines is a document, by its fields."""
    return has_document(_first_record(path))


def _has_texts(path: Path) -> bool:
    """Returns whether the first line of a file of JSON lines has an id and a text."""
    return has_text(_first_record(path))


def _first_record(path: Path) -> dict[str, Any]:
    """Returns the first record of JSON lines; empty if the file cannot be read or has no documents."""
    if path.name.removesuffix(".gz") in (*TOPIC_FILES, _RERANK_FILE):
        return {}
    with suppress(InputError):
        _, record = next(read_jsonl(path), (0, {}))  # an empty file has no record, so no fields
        is_query_of_tira = "qid" in record
        # A query of BEIR has the fields of a document without a title, so the file's name decides.
        is_query_of_beir = "title" not in record and _has_name_of_queries(path)
        return {} if is_query_of_tira or is_query_of_beir else record
    return {}


# If a directory has several topic or document formats, the first in this order is used.
# docs/reference/files.md repeats the order.
_FORMATS = (
    FileFormat("documents.jsonl", "documents", pieces_of_jsonl),
    FileFormat("corpus.jsonl", "documents", pieces_of_jsonl),
    FileFormat("passages*.jsonl", "passages", pieces_of_jsonl),
    FileFormat("args_processed*.csv", "arguments in sentences", pieces_of_args_processed),
    FileFormat("pages.csv", "web pages", whole_reader=read_pages_csv, is_known_by_name=False),
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
    FileFormat("*.json", "arguments", pieces_of_argsme, fits=is_no_array),
    FileFormat("*.jsonl", "documents", pieces_of_jsonl, fits=_has_documents, is_known_by_name=False),
    FileFormat("*.jsonl", "documents", pieces_of_jsonl, fits=_has_texts, is_known_by_name=False),
)
# Calls of pandas that read what users may have instead.
_READ_BY_PANDAS = {
    "*.parquet": "read_parquet({})",
    "*.csv": "read_csv({}, dtype=str, keep_default_na=False)",
    "*.tsv": "read_csv({}, sep='\\t', dtype=str, keep_default_na=False)",
    "*.json": "read_json({}, dtype=False)",  # an array
}
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
    images/, *.warc, *.json of ClueWeb22, other *.json (args.me), and other *.jsonl. Among the latter, files
    that have only ids and texts are last, because these may be queries. All may be gzipped. Archives and
    texts of ClueWeb22 may also be in subfolders or linked folders, under their original names.

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
    for path in direct_paths:
        name = path.name.lower().removesuffix(".gz")
        call = next((call for pattern, call in _READ_BY_PANDAS.items() if fnmatchcase(name, pattern)), None)
        if call and not _has_name_of_queries(path):
            target = path.with_name(f"{path.name[: name.rindex('.')]}.jsonl")
            read = call.format(repr(str(path)))
            remedy = f"pandas.{read}.to_json({str(target)!r}, orient='records', lines=True)"
            raise InputError(path, "documents in this format are not read", f"write JSON lines: {remedy}")
    raise _no_documents(directory, _FORMATS, ", or name an ir_datasets corpus with --corpus")


def files_named(paths: Iterable[Path], folder: str) -> Files:
    """Selects the files of documents from a list of paths in any folders, by their names alone.

    Args:
        paths: all files; if they have several formats, the first in the order of ``find`` is used.
        folder: their folder, for error messages.

    Raises:
        InputError: if none of the files has documents.
    """
    visible = _visible(paths)
    formats = [format for format in _FORMATS if format.is_known_by_name]
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
