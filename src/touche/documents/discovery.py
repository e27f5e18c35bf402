"""Finds topics and documents in an input directory by their file names."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from touche.documents import clueweb22
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import beginning, is_argsme, is_list, pieces_of_argsme
from touche.documents.collection import Documents, MissingDocuments
from touche.documents.files import Candidates, FileFormat, Files
from touche.documents.folders import files_below
from touche.documents.html_folder import read_pages_csv
from touche.documents.image_collection import FOLDER, Images, is_image_folder
from touche.documents.ir_datasets import IrDataset
from touche.documents.jsonl import pieces_of_jsonl, read_rerank_jsonl
from touche.documents.recognition import (
    NAMES_OF_TEXTS,
    RERANK_FILE,
    check_archives,
    check_nothing_is_left_out,
    has_documents,
    has_texts,
    is_query_file_name,
)
from touche.documents.side_files import PAGE_RANKS, SPAM_RANKS, side_files
from touche.documents.warc import read_warc
from touche.errors import InputError, counted
from touche.io.opening import PACKED_SUFFIXES, is_file_or_folder, plain_name
from touche.trec.topics import TOPIC_FILES, Topic, paths_named, read_topics, topics_named

_IMAGES = FileFormat(
    f"{FOLDER}/",
    "images of 2022 and 2023 task 3, in folders as the publisher has them",
    "images",
    fits=is_image_folder,
    name_suffices=False,
)
# The first format that fits a file reads it. The documentation page on files shows a row for each.
FORMATS: tuple[FileFormat, ...] = (
    FileFormat("documents.jsonl", "TIRA, also for web pages", "documents", pieces_of_jsonl),
    FileFormat("corpus.jsonl", "BEIR", "documents", pieces_of_jsonl),
    FileFormat("passages*.jsonl", "2022 task 2", "passages", pieces_of_jsonl),
    FileFormat("args_processed*.csv", "2022 task 1", "arguments in sentences", pieces_of_args_processed),
    FileFormat(
        "pages.csv", "a list of HTML files", "web pages", whole_reader=read_pages_csv, name_suffices=False
    ),
    _IMAGES,
    FileFormat(
        "*.warc",
        "web archives",
        "web pages",
        whole_reader=read_warc,
        unit="archives",
        subfolder_pattern=re.compile(r".*\.warc(?:\.gz)?"),
        is_web_scale=True,
    ),
    FileFormat(
        "*.json",
        "texts of ClueWeb22",
        "web pages",
        whole_reader=clueweb22.read_clueweb22_json,
        subfolder_pattern=clueweb22.NAME,
        is_web_scale=True,
        fits=clueweb22.is_clueweb22_json,
    ),
    FileFormat("*.json", "args.me", "arguments", pieces_of_argsme, fits=is_argsme),
    FileFormat(
        "*.jsonl",
        "a document, or an argument of args.me, on each line",
        "documents",
        pieces_of_jsonl,
        fits=has_documents,
        name_suffices=False,
    ),
    FileFormat(
        "*.jsonl",
        "an id and a text on each line, if the folder has no other documents",
        "documents",
        pieces_of_jsonl,
        fits=has_texts,
        name_suffices=False,
        is_last_resort=True,
    ),
)
# pandas calls that read formats we don't read.
_READ_BY_PANDAS = {
    "*.parquet": "read_parquet({})",
    "*.csv": "read_csv({}, dtype=str, keep_default_na=False)",
    "*.tsv": "read_csv({}, sep='\\t', dtype=str, keep_default_na=False)",
    "*.json": "read_json({}, dtype=False)",  # a JSON array
}
_IGNORED_BEGINNINGS = (".", "metadata.json")  # of names; metadata.json is TIRA's description of a dataset
_STATISTICS_NAME = re.compile(r"statistics-.*\.json$")  # written by --keep-statistics next to the documents
_NAMES_IN_SUBFOLDERS = re.compile(
    "|".join(f"(?:{format.subfolder_pattern.pattern})" for format in FORMATS if format.subfolder_pattern)
    + f"|(?i:{NAMES_OF_TEXTS.pattern})"
)
_NO_DOCUMENTS_BELOW = (FOLDER, *clueweb22.LINKS)
_NO_DOCUMENTS = "no documents in this folder"
_INPUT_NAMES = (*TOPIC_FILES, RERANK_FILE, SPAM_RANKS, PAGE_RANKS)
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z")


@dataclass(frozen=True)
class Input:
    """A baseline's input.

    Attributes:
        topics: all topics, in the file's order.
        description: a line that names where topics and documents come from.
        files: the files with topics and documents; none for ir_datasets.
        statistics: the name under which baselines publish the whole collection's statistics, such as
            ``argsme-2020-04-01``; empty if there are none, as for a folder.
        is_whole: whether the documents are that whole collection, not a part.
        dataset: the dataset's id; empty for a folder.
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
        """Combines topics with a collection. ``not_read`` describes topic files that were not used."""
        all_topics = tuple(topics)
        number = counted(len(all_topics), "topic")
        description = f"{number} from {topics_file.name}{not_read}"
        if not isinstance(documents, MissingDocuments):
            description += f", {documents}"
        files = (topics_file, *documents.paths, *documents.side_files)
        return cls(topics=all_topics, documents=documents, description=description, files=files)


def find(directory: Path, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Finds topics and documents in an input directory.

    Re-ranking input (rerank.jsonl) takes priority, unless you pass ``corpus``. The first of ``TOPIC_FILES``
    is used. The documents must be a single collection in one of
    ``FORMATS``. All files may be compressed (.gz, .bz2, .xz, .zst). Web archives and ClueWeb22's
    texts may also be in subfolders or linked folders, under their original names.

    Args:
        corpus: the id of an ir_datasets corpus that replaces the directory's documents.
        needs_documents: whether missing documents are an error now, or only when someone iterates over them.

    Raises:
        InputError: if the directory, its topics or its documents are missing or unreadable.
    """
    paths = _listed(directory)
    rerank_files = paths_named(paths, [RERANK_FILE])
    if rerank_files and not corpus:  # a corpus replaces the candidates
        return _read_reranking(rerank_files[0], side_files(paths))
    topics_path = topics_named(paths, directory)
    others = paths_named(paths, TOPIC_FILES)[1:]
    not_read = f" (not {' or '.join(path.name for path in others)})" if others else ""
    topics = read_topics(topics_path)
    try:
        documents = _collection(directory, paths, corpus)
    except InputError as error:
        if needs_documents:
            raise
        documents = MissingDocuments(error)
    return Input.combine(topics, topics_path, documents, not_read)


def find_documents(directory: Path) -> Documents:
    """Finds the documents in a directory, as ``find`` does."""
    return _collection(directory, _listed(directory))


def _listed(directory: Path) -> list[Path]:
    """Returns a directory's visible files and folders, sorted."""
    try:
        # ``exists`` is False for a broken link.
        paths = sorted(path for path in _visible(directory.iterdir()) if path.exists())
    except OSError as error:
        remedy = "pass a directory with topics and documents"
        raise InputError(directory, f"cannot be read ({error.strerror})", remedy) from error

    stored = [path for path in paths if is_file_or_folder(path)]
    for path in paths:
        name = plain_name(path.name)
        if path not in stored and (name in _INPUT_NAMES or any(format.has_name(path) for format in FORMATS)):
            problem = "neither a file nor a folder"
            raise InputError(path, problem, "replace it with a file, or remove it")
    return stored


def _visible(paths: Iterable[Path]) -> list[Path]:
    """Drops hidden files, statistics, and TIRA's metadata.json."""
    return [
        path
        for path in paths
        if not path.name.startswith(_IGNORED_BEGINNINGS) and not _STATISTICS_NAME.match(path.name)
    ]


def _collection(directory: Path, paths: Sequence[Path], corpus: str | None = None) -> Documents:
    """Returns the only collection in a directory, or the ir_datasets corpus that replaces it.

    Args:
        paths: the directory's own files and folders.
    """
    if corpus:
        return IrDataset(corpus, side_files=side_files(paths))
    # Ignore links to other files in the directory, but not to folders: images/ may be a link.
    targets = {path.resolve() for path in paths if path.is_file() and not path.is_symlink()}
    own = [path for path in paths if not path.is_symlink() or path.resolve() not in targets]
    by_format = _by_format(own, FileFormat.takes)
    below = [*files_below(directory, _NAMES_IN_SUBFOLDERS, _NO_DOCUMENTS_BELOW)]
    for format, paths_below in _by_format(below, FileFormat.takes_in_subfolder).items():
        by_format.setdefault(format, []).extend(paths_below)
    if not by_format:
        raise _no_documents(directory, paths)
    format, files = _only(by_format, directory)
    others = [path for path in own if path not in {*files}]
    if format is _IMAGES:
        check_archives(directory, [*others, *files])
        return Images(paths=files, side_files=side_files(paths))
    if format.is_web_scale:
        check_archives(directory, others)
    else:
        texts_below = [path for path in below if NAMES_OF_TEXTS.fullmatch(path.name)]
        has_json_lines = format.splitter is pieces_of_jsonl
        check_nothing_is_left_out(directory, files, others, texts_below, has_json_lines=has_json_lines)
    return Files(format, paths=files, side_files=side_files(paths))


def files_named(paths: Iterable[Path], folder: str) -> Files:
    """Selects document files by name alone, in any folders; ``folder`` is for error messages."""
    visible = _visible(sorted(set(paths)))
    by_format = _by_format(visible, FileFormat.recognizes)
    if not by_format:
        known = [format for format in FORMATS if format.name_suffices]
        raise InputError(folder, _NO_DOCUMENTS, _what_to_put(known))
    format, files = _only(by_format, folder)
    check_archives(folder, [path for path in visible if path not in {*files}])
    return Files(format, paths=files)


def _by_format(
    paths: Iterable[Path], takes: Callable[[FileFormat, Path], bool]
) -> dict[FileFormat, list[Path]]:
    """Returns the files by the first format that takes them. Other files are left out."""
    by_format: dict[FileFormat, list[Path]] = {}
    for path in paths:
        format = next((format for format in FORMATS if takes(format, path)), None)
        if format:
            by_format.setdefault(format, []).append(path)
    return by_format


def _only(by_format: dict[FileFormat, list[Path]], folder: Path | str) -> tuple[FileFormat, tuple[Path, ...]]:
    """Returns the only format and its files, or raises InputError if there are several collections."""
    first_resorts = {format: files for format, files in by_format.items() if not format.is_last_resort}
    by_format = first_resorts or by_format
    if len(by_format) > 1:
        # Files in the folder itself come first.
        files = sorted(map(min, by_format.values()), key=lambda path: (len(path.parts), path))
        problem = f"two collections, {files[0].name} and {files[1].name}"
        raise InputError(folder, problem, "keep one in this folder and move the other elsewhere")
    [(format, paths)] = by_format.items()
    distinct_paths = set(paths)
    for path in paths:
        if path.suffix in PACKED_SUFFIXES and path.with_suffix("") in distinct_paths:
            raise InputError(path, f"the folder also contains {path.stem}", "remove one of the two")
    return format, tuple(sorted(paths))


def _no_documents(directory: Path, paths: Iterable[Path]) -> InputError:
    """Returns the error for a folder without documents, which points to a file that may contain them."""
    for path in paths:
        name = plain_name(path.name.lower())
        if name.endswith(_ARCHIVES):
            remedy = f"unpack it, so that its files, or its folder images, are in {directory}"
            return InputError(path, "an archive is not read", remedy)
        if path.is_dir() and is_image_folder(path / FOLDER):
            return InputError(directory, _NO_DOCUMENTS, f"move {path.name}/images there")
        begin = beginning(path) if name.endswith(".json") else b""
        if is_list(begin) and b'"premises"' in begin:
            remedy = 'write {"arguments": before it and } after it'
            return InputError(path, "a list of arguments without an object around it", remedy)
        if b'"contents"' in begin:  # Anserini's JsonCollection
            remedy = "write one object on each line of documents.jsonl: jq -c . *.json > documents.jsonl"
            return InputError(path, "a single document is not read", remedy)
        call = next((call for pattern, call in _READ_BY_PANDAS.items() if fnmatchcase(name, pattern)), None)
        is_other_json = name.endswith(".json") and not is_list(begin)
        if call and not is_other_json and not is_query_file_name(path):
            target = path.with_name(f"{path.name[: name.rindex('.')]}.jsonl")
            read = call.format(repr(str(path)))
            remedy = f"pandas.{read}.to_json({str(target)!r}, orient='records', lines=True)"
            return InputError(path, "documents in this format are not read", f"write JSON lines: {remedy}")
    return InputError(
        directory, _NO_DOCUMENTS, f"{_what_to_put(FORMATS)}, or name an ir_datasets corpus with --corpus"
    )


def _what_to_put(formats: Iterable[FileFormat]) -> str:
    patterns = ", ".join(dict.fromkeys(format.pattern for format in formats if format is not _IMAGES))
    return f"put {patterns} there, plain or packed ({', '.join(PACKED_SUFFIXES)})"


def _read_reranking(path: Path, side_files: tuple[Path, ...]) -> Input:
    topics: dict[str, Topic] = {}
    candidates: dict[str, set[str]] = {}  # document ids by topic number
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
    description = f"{counted(len(topics), 'topic')} and their {counted(count, 'candidate')} from {path.name}"
    documents = Candidates(paths=(path,), side_files=side_files)
    return Input(
        topics=topics_with_candidates,
        documents=documents,
        description=description,
        files=(path, *documents.side_files),
    )
