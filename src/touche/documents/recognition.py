"""Tells documents from other files, by their names and first lines."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from touche.documents.argsme import beginning, is_list
from touche.documents.document_records import IDS
from touche.documents.jsonl import TEXTS
from touche.errors import InputError, listed
from touche.io.json_lines import read_jsonl
from touche.io.opening import PACKED_SUFFIXES, plain_name
from touche.trec.topics import TOPIC_FILES

RERANK_FILE = "rerank.jsonl"
# Matches names of query files. But arguments-by-topic.csv contains documents.
_QUERIES = re.compile(r"(?<!by[-_])(?<!per[-_])(?:quer(?:y|ies)|topic)", re.IGNORECASE)
# Words in names of other files that people keep next to documents.
_OTHER_FILES = re.compile(
    r"(?<![a-z])(?:qrels?|judge?ments?|truths?|labels?|annotations?|runs?|results?|scores?|rank(?:s|ings?)?"
    r"|logs?|metadata|statistics|stats|config)(?![a-z])",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"\.(?:zip|7z|rar|tar)(?:\.\w+)?$|\.(?:tgz|tbz2?|txz|tzst)$", re.IGNORECASE)
# Packed in a way that we don't read, such as a.jsonl.lz4.
_PACKED_OTHERWISE = re.compile(r"\.(?:lz4|lzma|lzo|z|br|sz|snappy|gzip|bzip2|zstd)$", re.IGNORECASE)
_TABLE = re.compile(r"\.(?:ndjson|jl|csv|tsv|parquet|arrow|feather|orc|avro)$", re.IGNORECASE)
_FIELDS_IN_JSON = tuple(f'"{name}"'.encode() for name in ("docno", "doc_id", "contents", "premises", "text"))
_PACKED = "|".join(map(re.escape, PACKED_SUFFIXES))
NAMES_OF_TEXTS = re.compile(
    rf"(?:.*\.jsonl|args_processed.*\.csv|args-me.*\.json)(?:{_PACKED})?", re.IGNORECASE
)
"""Names of files with texts or arguments, which are only read if they are in the input folder itself."""


def is_query_file_name(path: Path) -> bool:
    """Returns whether a name suggests queries or topics."""
    return _QUERIES.search(path.name) is not None


def has_documents(path: Path) -> bool:
    """Returns whether the first JSON line must be a document; just an id and a text could be a query."""
    record = _first_record(path)
    if "qid" in record or ("query_id" in record and not _has_any(record, TEXTS)):  # TIRA's queries, or qrels
        return False
    if _has_any(record, ("docno", "doc_id", "premises")) or ("id" in record and "contents" in record):
        return True
    return "_id" in record and "title" in record


def has_texts(path: Path) -> bool:
    """Returns whether the first JSON line contains an id and a text, and the name doesn't suggest queries."""
    record = _first_record(path)
    # A BEIR query looks like a document without a title, so the file name decides.
    is_query = "qid" in record or ("title" not in record and is_query_file_name(path))
    return not is_query and _has_any(record, IDS) and _has_any(record, TEXTS)


def _has_any(record: Mapping[str, Any], names: Iterable[str]) -> bool:
    return any(name in record for name in names)


def _first_record(path: Path) -> dict[str, Any]:
    """Returns the first JSON line; empty if the file has no JSON line, or if its name says that it has
    topics.

    Raises:
        InputError: if it can't be read. A collection must not lose a file without a word.
    """
    if plain_name(path.name) in (*TOPIC_FILES, RERANK_FILE):
        return {}
    _, record = next(read_jsonl(path), (0, {}))  # an empty file
    return record


def check_nothing_is_left_out(
    folder: Path,
    files: Iterable[Path],
    others: Iterable[Path],
    in_subfolders: Iterable[Path],
    *,
    has_json_lines: bool,
) -> None:
    """Raises an error if a collection of texts could be missing a part, which would be ranked without.

    Args:
        folder: the input folder.
        files: the collection's files.
        others: files and folders in it that nothing reads.
        in_subfolders: files in its subfolders that have ``NAMES_OF_TEXTS``.
        has_json_lines: whether the collection consists of JSON lines.
    """
    stems = {_stem(path) for path in files}
    # cats.csv next to cats.jsonl is probably what it was converted from.
    tables = [path for path in others if _TABLE.search(plain_name(path.name)) or _has_name(path, "*.json")]
    others = [path for path in others if path not in tables or _stem(path) not in stems]
    for path in others:
        if has_json_lines and _has_name(path, "*.jsonl") and _could_have_documents(path):
            problem = "could be a part of the collection, but its first line is not clearly a document"
            remedy = 'name its fields "docno" and "text", put "queries" into its name, or move it elsewhere'
            raise InputError(path, problem, remedy)
        if _has_name(path, "*.json") and any(name in beginning(path) for name in _FIELDS_IN_JSON):
            form = "a list" if is_list(beginning(path)) else "an object"
            problem = f"could be a part of the collection, but is {form} instead of JSON lines"
            raise InputError(
                path, problem, "write one object on each line of a .jsonl file, or move it elsewhere"
            )
    check_archives(folder, others, _TABLE)
    for path in others:
        if has_json_lines and _has_documents_under_another_name(path):
            problem = "could be a part of the collection, but its name does not end with .jsonl"
            raise InputError(path, problem, "rename it, or move it elsewhere")
    for path in sorted(in_subfolders):
        if not _is_other_dataset(path, folder) and _has_texts_in_subfolder(path):
            problem = "could be a part of the collection, but is in a subfolder"
            raise InputError(path, problem, f"move it into {folder}, or out of it")


def check_archives(folder: Path | str, others: Sequence[Path], *more: re.Pattern[str]) -> None:
    """Raises an error that names the files whose names say that they are packed in a way that we don't read,
    unless their names suggest something else than documents.

    Args:
        folder: their folder.
        others: files and folders that nothing reads.
        more: patterns of further names.
    """
    names = {path.name for path in others}
    unread = [
        path.name
        for path in others
        if any(pattern.search(plain_name(path.name)) for pattern in (_ARCHIVE, _PACKED_OTHERWISE, *more))
        and not _has_other_name(path)
        and _ARCHIVE.sub("", path.name) not in names - {path.name}  # images.zip next to images/
    ]
    if unread:
        problem = f"{listed(unread)} could be a part of the collection, but cannot be read"
        raise InputError(folder, problem, "unpack or convert it, or move it elsewhere")


def _stem(path: Path) -> str:
    """Returns a file's name without .jsonl.gz and the like."""
    return Path(plain_name(path.name)).stem


def _has_name(path: Path, pattern: str) -> bool:
    return fnmatchcase(plain_name(path.name.lower()), pattern) and path.is_file()


def _has_other_name(path: Path) -> bool:
    return is_query_file_name(path) or _OTHER_FILES.search(path.name) is not None


def _could_have_documents(path: Path) -> bool:
    """Returns whether JSON lines that aren't recognized as documents could be some."""
    record = _first_record(path)
    if _has_any(record, ("docno", "doc_id")) and _has_any(record, TEXTS):
        return True
    if not record or _has_any(record, ("qid", "query_id", "query")):
        return False
    if _has_any(record, IDS) and _has_any(record, TEXTS):  # only a query looks like this
        return not is_query_file_name(path)
    return not _has_other_name(path)


def _has_documents_under_another_name(path: Path) -> bool:
    """Returns whether a file, such as documents.jsonl.part, begins like a JSON line with a document."""
    if not path.is_file() or _has_name(path, "*.jsonl") or _has_name(path, "*.json"):
        return False
    first_line = beginning(path).lstrip().partition(b"\n")[0]
    return first_line.startswith(b"{") and any(name in first_line for name in _FIELDS_IN_JSON)


def _is_other_dataset(path: Path, folder: Path) -> bool:
    """Returns whether a file's subfolder, or one around it, has topics of its own."""
    subfolders = [parent for parent in path.parents if parent.is_relative_to(folder) and parent != folder]
    return any(plain_name(file.name) in TOPIC_FILES for parent in subfolders for file in parent.iterdir())


def _has_texts_in_subfolder(path: Path) -> bool:
    try:
        return not _has_name(path, "*.jsonl") or has_documents(path) or has_texts(path)
    except InputError:  # broken, so it's not certain that it contains documents
        return False
