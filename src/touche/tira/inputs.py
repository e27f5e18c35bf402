"""What an input directory of TIRA may hold: topics, and documents or candidates."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any, Protocol, TypeVar, runtime_checkable

from touche.errors import InputError, ToucheError, one_line
from touche.formats import clueweb22
from touche.formats.args_processed import pieces_of_args_processed, read_args_processed_csv
from touche.formats.argsme import pieces_of_argsme, read_argsme_json
from touche.formats.documents import AnyDocument, Argument, Document, Sentence
from touche.formats.html_folder import read_pages_csv
from touche.formats.jsonl import (
    pieces_of_documents,
    pieces_of_passages,
    read_documents_jsonl,
    read_passages_jsonl,
    read_rerank_jsonl,
)
from touche.formats.parquet import kept, read_documents_parquet
from touche.formats.pieces import Piece, Splitter
from touche.formats.statistics import StatisticsFiles
from touche.formats.topics import Topic, read_queries_jsonl, read_topics_xml
from touche.formats.warc import page_of_response, read_warc
from touche.io.folders import files_below, folder_of, names_of
from touche.io.identifiers import new_id
from touche.io.writing import make_folder, whole
from touche.progress import watched
from touche.web.page import RawPage, Skipped
from touche.web.parsing import Parser, parsed

_T = TypeVar("_T")

INPUT_VARIABLE = "inputDataset"  # set by TIRA

Reader = Callable[[Path, set[str]], Iterator[AnyDocument | RawPage | Skipped]]


@dataclass(frozen=True)
class _Format:
    """Files that documents come in.

    Attributes:
        pattern: their names in the directory itself; each may be gzipped.
        reader: what reads one of them.
        noun: what they hold, such as ``passages``.
        unit: what one of them is, in the plural.
        below: the names of those in the folders below, if they may lie there.
        holds: whether a file of such a name holds this; by default each does.
        pieces: what splits one of them, if files of this format can be split.
        alone: whether a file holds all by itself, and names no others.
    """

    pattern: str
    reader: Reader
    noun: str
    unit: str = "files"
    below: re.Pattern[str] | None = None
    holds: Callable[[Path], bool] = lambda path: True
    pieces: Splitter | None = None
    alone: bool = True

    @property
    def apart(self) -> bool:
        """As of ``Files``."""
        return self.below is not None

    def is_name(self, name: str) -> bool:
        """Whether a file that lies anywhere is one of these by its name."""
        if self.below:
            return self.below.fullmatch(name) is not None
        return fnmatchcase(name.removesuffix(".gz"), self.pattern)


# The first that is found is taken.
_TOPIC_FILES = ("topics.xml", "queries.jsonl")
_FORMATS = (
    _Format("documents.jsonl", read_documents_jsonl, "documents", pieces=pieces_of_documents),
    _Format("passages*.jsonl", read_passages_jsonl, "passages", pieces=pieces_of_passages),
    _Format(
        "args_processed*.csv",
        read_args_processed_csv,
        "arguments in sentences",
        pieces=pieces_of_args_processed,
    ),
    _Format("pages.csv", read_pages_csv, "web pages", alone=False),
    _Format("*.parquet", read_documents_parquet, "documents", below=re.compile(r".*\.parquet")),
    _Format("*.warc", read_warc, "web pages", "archives", below=re.compile(r".*\.warc(?:\.gz)?")),
    _Format(
        "*.json",
        clueweb22.read_clueweb22_json,
        "web pages",
        below=clueweb22.NAME,
        holds=clueweb22.is_clueweb22_json,
    ),
    _Format("*.json", read_argsme_json, "arguments", pieces=pieces_of_argsme),
)
SIDE_FILES = (SPAM_RANKS, PAGE_RANKS) = ("spam-ranks.txt", "page-ranks.txt")
_IN_FOLDERS = [each for each in _FORMATS if each.below]
_BELOW = re.compile("|".join(f"(?:{each.below.pattern})" for each in _IN_FOLDERS if each.below))
_REASON = 120  # characters of what ir_datasets says
_NAMED = 5  # files that are told by their names
_RERANK_FILE = "rerank.jsonl"
_MAY_BE_PAGES = ("documents", "web pages")
_KEPT_PAGES = "pages.parquet"
_NOT_ARGUMENTS = "metadata.json"  # TIRA's own note about a dataset


@dataclass(frozen=True)
class Files:
    """A collection in files, read anew each time it is iterated over.

    Attributes:
        paths: the files.
        reader: what reads one of them.
        noun: what they hold, such as ``passages``.
        side_files: what tells more about the documents.
        unit: what a file is, in the plural.
        parser: takes web pages apart; by default ``touche.web.extraction.parse``.
        splitter: what splits one of them, if files of this format can be split.
        fields: the folder where the web pages are kept once they are parsed, for a cluster also an address,
            or None.
        statistics: where its statistics are known from or kept, if that is asked for.
        apart: whether an id is checked against those of its file alone, as collections of this format may
            have more than can be held.
    """

    paths: tuple[Path, ...]
    reader: Reader
    noun: str = "documents"
    side_files: tuple[Path, ...] = ()
    unit: str = "files"
    parser: Parser | None = None
    splitter: Splitter | None = None
    fields: str | None = None
    statistics: StatisticsFiles | None = None
    apart: bool = False

    def __str__(self) -> str:
        if len(self.paths) <= _NAMED:
            return f"{self.noun} from {', '.join(names_of(self.paths))}"
        folder = folder_of(self.paths)
        where = "in" if all(path.parent == self.paths[0].parent for path in self.paths) else "below"
        return f"{self.noun} from {len(self.paths):,} {self.unit} {where} {folder.resolve().name}"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document.

        Raises:
            InputError: if a file is broken, an id occurs twice in the collection, or in a file of one whose
                files are apart, or there is no document.
        """
        problem = InputError(self.paths[0], "no documents in it", "check that this is the right file")
        pages = parsed(_some(self._records(), problem), self.parser)
        if self.fields:
            make_folder(Path(self.fields))
            pages = kept(pages, whole(Path(self.fields) / _KEPT_PAGES))
        yield from pages

    def pieces(self) -> Iterator[Piece] | None:
        """The pieces of all files, in order; None if files of this format cannot be split, or pages are kept.

        An id is not checked against those of other pieces, nor that there is a document at all.
        """
        splitter = self.splitter
        if splitter is None or self.fields:
            return None
        return (piece for path in self._watched() for piece in splitter(path))

    def parsed_by(self, parser: Parser) -> "Files":
        """The same, with its web pages, if it has such, taken apart by another parser."""
        return replace(self, parser=parser)

    def _records(self) -> Iterator[AnyDocument | RawPage | Skipped]:
        seen: set[str] = set()
        for path in self._watched():
            yield from self.reader(path, set() if self.apart else seen)

    def _watched(self) -> Iterable[Path]:
        """The files; of many, a bar tells how far the run has come, beside that of each large file."""
        many = len(self.paths) > _NAMED
        return watched(self.paths, f"reading {self.unit}", self.unit, len(self.paths)) if many else self.paths


@dataclass(frozen=True)
class Candidates:
    """The collection that the candidates of a re-ranking input form: each document once.

    Attributes:
        path: the file.
        side_files: what tells more about the documents.
        statistics: as of ``Files``.
    """

    path: Path
    side_files: tuple[Path, ...] = ()
    statistics: StatisticsFiles | None = None

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document.

        Raises:
            InputError: if the file is broken.
        """
        seen: set[str] = set()
        for candidate in read_rerank_jsonl(self.path):
            if candidate.document.id not in seen:
                seen.add(candidate.document.id)
                yield candidate.document


@dataclass(frozen=True)
class Missing:
    """Documents that are not there, which only those hear who ask for them."""

    error: InputError

    def __iter__(self) -> Iterator[AnyDocument]:
        """Raises the error."""
        raise self.error


@dataclass(frozen=True)
class IrDataset:
    """A corpus of ir_datasets (MacAvaney et al. 2021), by its id, such as ``argsme/2020-04-01``.

    Attributes:
        id: the id.
        side_files: what tells more about the documents.
        parser: takes web pages apart; by default ``touche.web.extraction.parse``.
        statistics: as of ``Files``.
    """

    id: str
    side_files: tuple[Path, ...] = ()
    parser: Parser | None = None
    statistics: StatisticsFiles | None = None

    def __str__(self) -> str:
        return f"documents from {self.id} (ir_datasets)"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document; ir_datasets fetches the corpus first where it has not.

        Raises:
            ToucheError: if ir_datasets does not know the id, it has no documents, or they cannot be fetched.
        """
        problem = ToucheError(f"{self.id!r} of ir_datasets is empty; fetch the corpus again")
        yield from parsed(_some(self._documents(), problem), self.parser)

    def parsed_by(self, parser: Parser) -> "IrDataset":
        """The same, with its web pages, if it has such, taken apart by another parser."""
        return replace(self, parser=parser)

    def _documents(self) -> Iterator[AnyDocument | RawPage | Skipped]:
        dataset = self._dataset()
        if (archives := self._archives(dataset)) is not None:
            for path in archives:
                yield from read_warc(path)
            return
        seen: set[str] = set()
        records = self._said(lambda: iter(dataset.docs_iter()))
        about = self._said(dataset.docs_metadata) if hasattr(dataset, "docs_metadata") else {}
        all_records = iter(lambda: self._said(lambda: next(records, None)), None)
        for record in watched(all_records, f"reading {self.id}", "documents", about.get("count")):
            new_id(record.doc_id, "document", seen, self.id)
            yield document_of_ir_dataset(record)

    def _dataset(self) -> Any:
        import ir_datasets  # here, for it takes longer to import than all the rest

        try:
            dataset = ir_datasets.load(self.id)
        except KeyError as error:
            problem = f"ir_datasets knows no {self.id!r}"
            raise ToucheError(f"{problem}; choose a corpus from https://ir-datasets.com") from error
        if not dataset.has_docs():
            raise ToucheError(
                f"{self.id!r} of ir_datasets has no documents; name the corpus that it belongs to"
            )
        return dataset

    def _archives(self, dataset: Any) -> list[Path] | None:
        """The web archives of a corpus, such as those of ClueWeb12; None if it consists of something else.

        ir_datasets itself would read them with packages of which it installs none, along an index of 4 GB
        that it fetches first, and not beyond the first that is broken.
        """
        from ir_datasets.formats import WarcDocs

        documents = dataset.docs_handler()
        if not isinstance(documents, WarcDocs):
            return None
        folder = Path(self._said(lambda: documents.docs_path(force=False)))
        archives = self._said(lambda: [*documents._docs_iter_source_files()]) if folder.is_dir() else []
        if not archives:
            problem = f"ir_datasets finds no archives of {self.id!r} in {one_line(str(folder))}"
            raise ToucheError(f"{problem}; get the corpus from its publisher, and link its folder there")
        return [Path(path) for path in archives]

    def _said(self, ask: Callable[[], _T]) -> _T:
        """What ir_datasets answers, or one line that says why it cannot.

        No network, no licence, no space, no package, a broken file: it raises whatever it comes across.
        """
        try:
            return ask()
        except Exception as error:
            reason = f"{type(error).__name__}: {shorten(str(error), _REASON)}"
            problem = f"ir_datasets cannot read {self.id!r} ({reason})"
            raise ToucheError(f"{problem}; see https://ir-datasets.com on how to get the corpus") from error


@dataclass(frozen=True)
class Input:
    """What a baseline is given.

    Attributes:
        topics: all topics, in the order of the file.
        documents: the collection; may be iterated over more than once, and yields without holding it.
        took: one line that says what was found.
        files: the files that it was found in, without those of ir_datasets.
        statistics: files with the statistics of the whole collection, if any.
    """

    topics: tuple[Topic, ...]
    documents: Iterable[AnyDocument]
    took: str
    files: tuple[Path, ...] = ()
    statistics: StatisticsFiles = field(default_factory=StatisticsFiles)

    @classmethod
    def of(cls, topics: Iterable[Topic], topics_file: Path, documents: Files | IrDataset) -> "Input":
        """Topics and the collection to search for them, with the line that says so."""
        all_topics = tuple(topics)
        took = f"{len(all_topics)} topics from {topics_file.name}, {documents}"
        paths = documents.paths if isinstance(documents, Files) else ()
        return cls(all_topics, documents, took, (topics_file, *paths, *documents.side_files))


def _some(records: Iterator[_T], problem: ToucheError) -> Iterator[_T]:
    """The same records.

    Raises:
        ToucheError: the one given, if there are none.
    """
    first = next(records, None)
    if first is None:
        raise problem
    return chain([first], records)


def find(directory: Path, corpus: str | None = None, *, needs_documents: bool = True) -> Input:
    """Finds topics and documents in an input directory.

    Re-ranking input (rerank.jsonl) goes before topics and documents; of several topic or document formats the
    first is taken in the order topics.xml, queries.jsonl; documents.jsonl, passages*.jsonl,
    args_processed*.csv, pages.csv, *.parquet, *.warc, *.json of ClueWeb22, other *.json. Each may be gzipped
    (Parquet is packed in itself). Parquet, archives, and the texts of ClueWeb22 by their names there, are
    found in the folders below, too, and in those that links in the directory itself lead to.

    Args:
        directory: the input directory.
        corpus: the id of an ir_datasets corpus to search, for a directory that holds topics only.
        needs_documents: whether there have to be documents; else that there are none is not said before they
            are iterated over.

    Raises:
        InputError: if the directory is missing or unreadable, or topics or documents are not in it.
    """
    _check_directory(directory)
    if corpus is None and (rerank := _matching(directory, _RERANK_FILE)):
        return _reranking(rerank[0])
    topics_path = topics_named(directory.iterdir(), directory)
    topics = read_topics(topics_path)
    try:
        documents = IrDataset(corpus, side_files(directory)) if corpus else find_documents(directory)
    except InputError as error:
        if needs_documents:
            raise
        return Input(topics, Missing(error), f"{len(topics)} topics from {topics_path.name}", (topics_path,))
    return Input.of(topics, topics_path, documents)


def find_documents(directory: Path) -> Files:
    """Finds the documents in a directory, as ``find`` does.

    Raises:
        InputError: if there are none.
    """
    first = next((each for each in _FORMATS if _beside(directory, each)), None)
    if first and not first.below:
        return _files(first, _beside(directory, first), side_files(directory))
    below = list(files_below(directory, _BELOW, without=clueweb22.LINKS))  # which is walked once for all
    for each in [first] if first else _IN_FOLDERS:
        if found := _beside(directory, each) + _named(below, each):
            return _files(each, found, side_files(directory))
    files = ", ".join(dict.fromkeys(each.pattern for each in _FORMATS))
    remedy = f"put {files} there, plain or .gz, or name an ir_datasets corpus with --corpus"
    raise InputError(directory, "no documents in it", remedy)


def files_named(paths: Iterable[Path], where: str) -> Files:
    """The files of documents among those of a file system, in any folders, by their names alone.

    Args:
        paths: all files; of several formats the first is taken, in the order of ``find``.
        where: what they lie in, for errors.

    Raises:
        InputError: if there are none.
    """
    seen = [path for path in paths if not path.name.startswith((".", _NOT_ARGUMENTS))]
    for each in (each for each in _FORMATS if each.alone):
        if found := [path for path in seen if each.is_name(path.name)]:
            return _files(each, found)
    patterns = ", ".join(dict.fromkeys(each.pattern for each in _FORMATS if each.alone))
    raise InputError(where, "no documents in it", f"put {patterns} there, plain or .gz")


def topics_named(paths: Iterable[Path], where: Path | str, more: str = "") -> Path:
    """The file of topics among those of a folder, by its name.

    Args:
        paths: all files.
        where: what they lie in, for the error.
        more: what else can be done where there is none.

    Raises:
        InputError: if there is none.
    """
    found = {path.name: path for path in paths}
    for name in (each for file in _TOPIC_FILES for each in (file, f"{file}.gz")):
        if name in found:
            return found[name]
    remedy = f"put {' or '.join(_TOPIC_FILES)} there, plain or .gz{more}"
    raise InputError(where, "no topics in it", remedy)


def read_topics(path: Path) -> tuple[Topic, ...]:
    """The topics in a file, of JSON lines if its name says so, else of XML.

    Raises:
        InputError: if it is broken.
    """
    return tuple(read_queries_jsonl(path) if ".jsonl" in path.suffixes else read_topics_xml(path))


def _files(format: _Format, found: Iterable[Path], side_files: tuple[Path, ...] = ()) -> Files:
    return Files(
        tuple(sorted(found)),
        format.reader,
        format.noun,
        side_files,
        format.unit,
        splitter=format.pieces,
        apart=format.apart,
    )


def _beside(directory: Path, format: _Format) -> list[Path]:
    """The files of a format in the directory itself."""
    return [path for path in _matching(directory, format.pattern) if format.holds(path)]


def _named(paths: Iterable[Path], format: _Format) -> list[Path]:
    """Those that are named as files of a format in the folders below are."""
    return [path for path in paths if format.below and format.below.fullmatch(path.name)]


def side_files(directory: Path) -> tuple[Path, ...]:
    """The files of further knowledge in a directory, plain or gzipped."""
    return side_files_named(directory.iterdir())


def side_files_named(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files of further knowledge among those of a folder, by their names, plain or gzipped."""
    found = {path.name: path for path in paths}
    names = (each for name in SIDE_FILES for each in (name, f"{name}.gz"))
    return tuple(found[name] for name in names if name in found)


def side_file(documents: Iterable[AnyDocument], name: str) -> Path | None:
    """A file of further knowledge that lies beside the documents, plain or gzipped, if there is one."""
    found = documents.side_files if isinstance(documents, _Beside) else ()
    return next((path for path in found if path.name in (name, f"{name}.gz")), None)


def keeping_fields(documents: Iterable[AnyDocument], where: str) -> Files:
    """The same collection, whose web pages are kept, as Parquet, whenever they are parsed.

    Raises:
        ToucheError: if the collection is not in files, or these are of a format that holds no web pages.
    """
    if not isinstance(documents, Files) or documents.noun not in _MAY_BE_PAGES:
        raise ToucheError("only the web pages of an input directory can be kept; leave --keep-fields out")
    return replace(documents, fields=where)


def with_statistics(documents: Iterable[AnyDocument], files: StatisticsFiles) -> Iterable[AnyDocument]:
    """The same collection, with files of its statistics."""
    if isinstance(documents, Files | IrDataset | Candidates):
        return replace(documents, statistics=files)
    return documents


def parsed_by(parser: Parser, documents: Iterable[AnyDocument]) -> Iterable[AnyDocument]:
    """The same collection, with its web pages, if it has such, taken apart by another parser."""
    return documents.parsed_by(parser) if isinstance(documents, _Parsed) else documents


@runtime_checkable
class _Beside(Protocol):
    """A collection beside which other files may lie."""

    side_files: tuple[Path, ...]


@runtime_checkable
class _Parsed(Protocol):
    """A collection whose web pages are taken apart when they are read."""

    def parsed_by(self, parser: Parser) -> Iterable[AnyDocument]:
        """The same collection with another parser."""


def _check_directory(directory: Path) -> None:
    try:
        next(directory.iterdir(), None)
    except OSError as error:
        remedy = "give a directory that holds topics and documents"
        raise InputError(directory, f"cannot be read ({error.strerror})", remedy) from error


def _matching(directory: Path, pattern: str) -> list[Path]:
    found = {*directory.glob(pattern), *directory.glob(f"{pattern}.gz")}
    return sorted(path for path in found if not path.name.startswith((".", _NOT_ARGUMENTS)))


def _reranking(path: Path) -> Input:
    topics: dict[str, Topic] = {}
    documents: dict[str, set[str]] = {}
    for candidate in read_rerank_jsonl(path):
        topics.setdefault(candidate.topic.number, candidate.topic)
        documents.setdefault(candidate.topic.number, set()).add(candidate.document.id)
    if not topics:
        remedy = 'put one {"qid", "query", "docno", "text"} on each line'
        raise InputError(path, "no candidates in it", remedy)
    with_candidates = tuple(
        replace(topic, candidates=frozenset(documents[number])) for number, topic in topics.items()
    )
    took = f"{len(topics)} topics and their {sum(map(len, documents.values()))} candidates from {path.name}"
    beside = side_files(path.parent)
    return Input(with_candidates, Candidates(path, beside), took, (path, *beside))


def _sentences_of(record: Any) -> tuple[Sentence, ...]:
    return tuple(Sentence(each.id, each.text) for each in record.sentences)


def document_of_ir_dataset(record: Any) -> AnyDocument | RawPage | Skipped:
    """A record of ir_datasets: arguments keep their parts, and web pages are still to be parsed."""
    if hasattr(record, "http_headers"):
        headers = record.http_headers  # a text in the collections of .gov
        http = headers.encode("latin-1", "replace") if isinstance(headers, str) else headers
        return page_of_response(record.doc_id, record.url, http.rstrip() + b"\r\n\r\n" + record.body)
    if not hasattr(record, "premises"):
        return Document(record.doc_id, record.default_text())
    return Argument(
        id=record.doc_id,
        conclusion=record.conclusion,
        premises=tuple(premise.text for premise in record.premises),
        stance=record.premises[0].stance.name if record.premises else "",
        sentences=_sentences_of(record) if hasattr(record, "sentences") else None,
        page=getattr(record, "source_text", None) or "",
        discussion=record.topic,
    )
