"""Finds topics and documents in an input directory, by the names of the files."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from touche.documents import clueweb22
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import (
    is_argsme,
    is_document_of_anserini,
    is_list,
    is_list_of_arguments,
    pieces_of_argsme,
)
from touche.documents.collection import Documents, MissingDocuments
from touche.documents.files import Candidates, FileFormat, Files
from touche.documents.finding import Finder, Folder, visible
from touche.documents.html_folder import read_pages_csv
from touche.documents.image_collection import FOLDER, Images, is_folder_of_images
from touche.documents.ir_datasets import IrDataset
from touche.documents.jsonl import has_document, has_text, pieces_of_jsonl, read_rerank_jsonl
from touche.documents.warc import read_warc
from touche.errors import InputError, counted
from touche.io.json_lines import read_jsonl
from touche.io.opening import PACKED_SUFFIXES, plain_name
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
    if plain_name(path.name) in (*TOPIC_FILES, _RERANK_FILE):
        return {}
    with suppress(InputError):
        _, record = next(read_jsonl(path), (0, {}))  # an empty file has no record, so no fields
        is_query_of_tira = "qid" in record
        # A query of BEIR has the fields of a document without a title, so the file's name decides.
        is_query_of_beir = "title" not in record and _has_name_of_queries(path)
        return {} if is_query_of_tira or is_query_of_beir else record
    return {}


# Each file belongs to the first finder that takes it. The page about files has a row for each.
FINDERS: tuple[Finder, ...] = (
    IrDataset,
    FileFormat("documents.jsonl", "TIRA, also for web pages", "documents", pieces_of_jsonl),
    FileFormat("corpus.jsonl", "BEIR", "documents", pieces_of_jsonl),
    FileFormat("passages*.jsonl", "2022 task 2", "passages", pieces_of_jsonl),
    FileFormat("args_processed*.csv", "2022 task 1", "arguments in sentences", pieces_of_args_processed),
    FileFormat(
        "pages.csv", "a list of HTML files", "web pages", whole_reader=read_pages_csv, is_known_by_name=False
    ),
    Images,
    FileFormat(
        "*.warc",
        "web archives",
        "web pages",
        whole_reader=read_warc,
        unit="archives",
        subfolder_pattern=re.compile(r".*\.warc(?:\.gz)?"),
    ),
    FileFormat(
        "*.json",
        "texts of ClueWeb22",
        "web pages",
        whole_reader=clueweb22.read_clueweb22_json,
        subfolder_pattern=clueweb22.NAME,
        fits=clueweb22.is_clueweb22_json,
    ),
    FileFormat("*.json", "args.me", "arguments", pieces_of_argsme, fits=is_argsme),
    FileFormat(
        "*.jsonl",
        "a document, or an argument of args.me, on each line",
        "documents",
        pieces_of_jsonl,
        fits=_has_documents,
        is_known_by_name=False,
    ),
    FileFormat(
        "*.jsonl",
        "an id and a text on each line, if the folder has no other documents",
        "documents",
        pieces_of_jsonl,
        fits=_has_texts,
        is_known_by_name=False,
        is_last_resort=True,
    ),
)
_FORMATS = [finder for finder in FINDERS if isinstance(finder, FileFormat)]
# Calls of pandas that read what users may have instead.
_READ_BY_PANDAS = {
    "*.parquet": "read_parquet({})",
    "*.csv": "read_csv({}, dtype=str, keep_default_na=False)",
    "*.tsv": "read_csv({}, sep='\\t', dtype=str, keep_default_na=False)",
    "*.json": "read_json({}, dtype=False)",  # an array
}
_Collection = TypeVar("_Collection", bound=Documents)
_NAMES_IN_SUBFOLDERS = re.compile(
    "|".join(f"(?:{format.subfolder_pattern.pattern})" for format in _FORMATS if format.subfolder_pattern)
)
_NO_DOCUMENTS_BELOW = (FOLDER, *clueweb22.LINKS)  # subfolders
_NO_DOCUMENTS = "no documents in this folder"
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z")


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
    def combine(
        cls, topics: Iterable[Topic], topics_file: Path, documents: Documents, not_read: str = ""
    ) -> "Input":
        """Combines topics with the collection in which to search.

        Args:
            topics, topics_file: the topics and their file.
            documents: the collection.
            not_read: the words of the description about other files of topics.
        """
        all_topics = tuple(topics)
        number = counted(len(all_topics), "topic")
        description = f"{number} from {topics_file.name}{not_read}, {documents}"
        files = (topics_file, *documents.paths, *documents.side_files)
        return cls(topics=all_topics, documents=documents, description=description, files=files)


def find(directory: Path, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Finds topics and documents in an input directory.

    Without ``corpus``, re-ranking input (rerank.jsonl) has priority over topics and documents. Of topics.xml,
    queries.jsonl, queries.tsv and topics.tsv, the first one is used. The documents have to be one collection,
    of one of ``FINDERS``. All files may be packed (.gz, .bz2, .xz, .zst). Archives and texts of ClueWeb22 may
    also be in subfolders or linked folders, under their original names.

    Args:
        directory: the input directory.
        corpus: the id of an ir_datasets corpus, for a directory that has only topics; its documents replace
            those of the directory.
        needs_documents: whether missing documents are an error at once, or only when someone iterates over
            them.

    Raises:
        InputError: if the directory, its topics or its documents are missing or unreadable.
    """
    folder = Folder(directory, _NAMES_IN_SUBFOLDERS, _NO_DOCUMENTS_BELOW, corpus)
    rerank_files = paths_named(folder.paths, [_RERANK_FILE])
    if rerank_files and not corpus:  # a corpus replaces the candidates
        return _read_reranking(rerank_files[0], folder.side_files)
    topics_path = topics_named(folder.paths, directory)
    others = paths_named(folder.paths, TOPIC_FILES)[1:]
    not_read = f" (not {' or '.join(path.name for path in others)})" if others else ""
    topics = read_topics(topics_path)
    try:
        documents = _only_collection(folder)
    except InputError as error:
        if needs_documents:
            raise
        return Input(
            topics=topics,
            documents=MissingDocuments(error),
            description=f"{counted(len(topics), 'topic')} from {topics_path.name}{not_read}",
            files=(topics_path,),
        )
    return Input.combine(topics, topics_path, documents, not_read)


def find_documents(directory: Path) -> Documents:
    """Finds the documents in a directory, as ``find`` does.

    Raises:
        InputError: if the directory has no documents, or two collections.
    """
    return _only_collection(Folder(directory, _NAMES_IN_SUBFOLDERS, _NO_DOCUMENTS_BELOW))


def _only_collection(folder: Folder) -> Documents:
    """Returns the documents in a folder.

    Raises:
        InputError: if it has no documents, or two collections.
    """
    for finder in FINDERS:
        documents = finder.find(folder)
        if documents is not None:
            folder.found.append(documents)
    if not folder.found:
        raise _no_documents(folder.path, folder.paths)
    return _only(folder.found, folder.path)


def files_named(paths: Iterable[Path], folder: str) -> Files:
    """Selects the files of documents from a list of paths in any folders, by their names alone.

    Args:
        paths: all files.
        folder: their folder, for error messages.

    Raises:
        InputError: if none of the files has documents, or there are two collections.
    """
    left = visible(paths)
    collections: list[Files] = []
    for format in _FORMATS:
        named = {path for path in left if format.is_known_by(path)}
        if named:
            collections.append(Files(format, paths=tuple(sorted(named))))
            left = [path for path in left if path not in named]
    if not collections:
        known = [format for format in _FORMATS if format.is_known_by_name]
        raise InputError(folder, _NO_DOCUMENTS, _what_to_put(known))
    return _only(collections, folder)


def _only(collections: Sequence[_Collection], folder: Path | str) -> _Collection:
    """Returns the only collection.

    Raises:
        InputError: if there are two, or the files of one are there twice, plain and packed.
    """
    if len(collections) > 1:
        # Those in the folder itself come first.
        files = sorted(
            (collection.paths[0] for collection in collections), key=lambda path: (len(path.parts), path)
        )
        problem = f"two collections, {files[0].name} and {files[1].name}"
        raise InputError(folder, problem, "keep one in this folder and move the other elsewhere")
    paths = collections[0].paths
    plain_names = {path for path in paths if path.suffix not in PACKED_SUFFIXES}
    for path in paths:
        if path.suffix in PACKED_SUFFIXES and path.with_suffix("") in plain_names:
            raise InputError(path, f"the folder also contains {path.stem}", "remove one of the two")
    return collections[0]


def _no_documents(directory: Path, paths: Iterable[Path]) -> InputError:
    """Returns the error that a folder has no documents; it names a file that may contain them."""
    for path in paths:
        name = plain_name(path.name.lower())
        if name.endswith(_ARCHIVES):
            remedy = f"unpack it, so that its files, or its folder images, are in {directory}"
            return InputError(path, "an archive is not read", remedy)
        if path.is_dir() and is_folder_of_images(path / FOLDER):
            return InputError(directory, _NO_DOCUMENTS, f"move {path.name}/images there")
        if name.endswith(".json") and is_list_of_arguments(path):
            remedy = 'write {"arguments": before it and } after it'
            return InputError(path, "a list of arguments without an object around it", remedy)
        if name.endswith(".json") and is_document_of_anserini(path):
            remedy = "write one object on each line of documents.jsonl: jq -c . *.json > documents.jsonl"
            return InputError(path, "a single document is not read", remedy)
        call = next((call for pattern, call in _READ_BY_PANDAS.items() if fnmatchcase(name, pattern)), None)
        is_other_json = name.endswith(".json") and not is_list(path)
        if call and not is_other_json and not _has_name_of_queries(path):
            target = path.with_name(f"{path.name[: name.rindex('.')]}.jsonl")
            read = call.format(repr(str(path)))
            remedy = f"pandas.{read}.to_json({str(target)!r}, orient='records', lines=True)"
            return InputError(path, "documents in this format are not read", f"write JSON lines: {remedy}")
    return InputError(
        directory, _NO_DOCUMENTS, f"{_what_to_put(_FORMATS)}, or name an ir_datasets corpus with --corpus"
    )


def _what_to_put(formats: Iterable[FileFormat]) -> str:
    """Returns a remedy that lists the names of files of these formats."""
    patterns = ", ".join(dict.fromkeys(format.pattern for format in formats))  # several formats can share one
    return f"put {patterns} there, plain or packed ({', '.join(PACKED_SUFFIXES)})"


def _read_reranking(path: Path, side_files: tuple[Path, ...]) -> Input:
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
    description = f"{counted(len(topics), 'topic')} and their {count} candidates from {path.name}"
    documents = Candidates(paths=(path,), side_files=side_files)
    return Input(
        topics=topics_with_candidates,
        documents=documents,
        description=description,
        files=(path, *documents.side_files),
    )
