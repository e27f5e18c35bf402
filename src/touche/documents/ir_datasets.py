"""Corpora from ir_datasets (MacAvaney et al. 2021)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any

from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument, Argument, Document, Sentence
from touche.documents.image_collection import image_of_record
from touche.documents.pages import RawPage, Skipped
from touche.documents.warc import page_from_response, read_warc
from touche.errors import ToucheError, one_line
from touche.io.identifiers import check_new_id
from touche.io.progress import watched
from touche.trec.topics import Topic, with_single_blanks

_LONGEST_REASON = 120  # characters of an ir_datasets error


def library() -> Any:
    """Imports ir_datasets, which creates a folder in the home directory."""
    try:
        # imported late: missing in container images, takes 158 ms
        import ir_datasets
    except ImportError as error:
        raise ToucheError("ir_datasets is not installed; run the command outside of the image") from error
    except (OSError, RuntimeError) as error:  # the home directory is read-only or missing
        problem = f"ir_datasets cannot create its folder ({error})"
        raise ToucheError(f"{problem}; set IR_DATASETS_HOME to a writable folder") from error
    return ir_datasets


@dataclass(frozen=True)
class IrDataset(Documents):
    """An ir_datasets corpus.

    Attributes:
        id: the id, such as ``argsme/2020-04-01``.
    """

    id: str

    def __str__(self) -> str:
        return f"documents from {self.id} (ir_datasets)"

    def __iter__(self) -> Iterator[AnyDocument]:
        """Yields every document. If the corpus is missing, ir_datasets downloads it first."""
        from touche.documents.html.parsing import parsed  # imported late: takes 2 ms

        records = self._read()
        first = next(records, None)
        if first is None:
            raise ToucheError(f"{self.id!r} of ir_datasets is empty; download the corpus again")
        yield from parsed(chain([first], records), self.parser)

    def __len__(self) -> int:
        count = _count(self._dataset())
        if count is None:
            return super().__len__()  # raises TypeError
        return count

    def topics(self) -> list[Topic]:
        """Returns the topics. If they are missing, ir_datasets downloads them first."""
        dataset = self._dataset()
        if not dataset.has_queries():
            problem = f"{self.id!r} of ir_datasets has no topics"
            raise ToucheError(f"{problem}; name a task of it, such as argsme/2020-04-01/touche-2021-task-1")
        with self._errors_as_one_type():
            seen: set[str] = set()
            return [_convert_query(query, seen, self.id) for query in dataset.queries_iter()]

    def _read(self) -> Iterator[AnyDocument | RawPage | Skipped]:
        dataset = self._dataset()  # first: its error says if ir_datasets is not installed
        from ir_datasets.formats import WarcDocs  # optional

        with self._errors_as_one_type():
            documents = dataset.docs_handler()
            if isinstance(documents, WarcDocs):
                for path in self._archives(documents):
                    # Check ids only within an archive, because all ids would need too much memory.
                    yield from read_warc(path, set())
                return
            seen: set[str] = set()
            for record in watched(dataset.docs_iter(), f"reading {self.id}", "documents", _count(dataset)):
                check_new_id(record.doc_id, "document", seen, self.id)
                yield convert_record(record)

    def _dataset(self) -> Any:
        try:
            dataset = library().load(self.id)
        except KeyError as error:
            problem = f"ir_datasets has no corpus {self.id!r}"
            raise ToucheError(f"{problem}; choose a corpus from https://ir-datasets.com") from error
        if not dataset.has_docs():
            problem = f"{self.id!r} of ir_datasets has no documents"
            raise ToucheError(f"{problem}; pass the id of its corpus")
        return dataset

    def _archives(self, documents: Any) -> list[Path]:
        """Returns the corpus's web archives, e.g. for ClueWeb12.

        We don't use ir_datasets' own reader: it needs more packages and a 4 GB index, and stops at broken
        archives.
        """
        folder = Path(documents.docs_path(force=False))  # don't download
        paths = documents._docs_iter_source_files() if folder.is_dir() else []
        archives = [Path(path) for path in paths]
        if not archives:
            problem = f"ir_datasets finds no archives of {self.id!r} in {one_line(str(folder))}"
            raise ToucheError(f"{problem}; get the corpus from its publisher, and link its folder there")
        return archives

    @contextmanager
    def _errors_as_one_type(self) -> Iterator[None]:
        """Turns any ir_datasets error (network, disk, files) into a ToucheError."""
        try:
            yield
        except ToucheError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {shorten(str(error), _LONGEST_REASON)}"
            problem = f"ir_datasets cannot read {self.id!r} ({reason})"
            raise ToucheError(f"{problem}; https://ir-datasets.com explains how to get the corpus") from error


def _count(dataset: Any) -> int | None:
    return dataset.docs_metadata().get("count") if hasattr(dataset, "docs_metadata") else None


def _convert_query(query: Any, seen: set[str], dataset_id: str) -> Topic:
    """Converts an ir_datasets query, collapsing whitespace.

    Only some datasets' queries come with a title. ``default_text`` works for all.
    """

    def text_of(name: str) -> str:
        return with_single_blanks(getattr(query, name, None) or "")

    objects = getattr(query, "objects", ())  # the two that a comparative question compares
    return Topic(
        number=check_new_id(query.query_id, "topic", seen, dataset_id),
        title=text_of("title") or with_single_blanks(query.default_text()),
        objects=tuple(objects) if isinstance(objects, list | tuple) else (),  # elsewhere it may be a string
        description=text_of("description"),
        narrative=text_of("narrative"),
    )


def convert_record(record: Any) -> AnyDocument | RawPage | Skipped:
    """Converts an ir_datasets record to a raw web page, an image, an argument with all fields, or a text.

    The records' classes share no base class, so the attributes decide.
    """
    if hasattr(record, "http_headers"):
        headers = record.http_headers  # a string in the .gov collections
        http = headers.encode("latin-1", "replace") if isinstance(headers, str) else headers
        return page_from_response(record.doc_id, record.url, http.rstrip() + b"\r\n\r\n" + record.body)
    if hasattr(record, "phash"):  # a picture's hash
        return image_of_record(record)
    if not hasattr(record, "premises"):
        return _convert_text_record(record)
    sentences = getattr(record, "sentences", None)
    if sentences is not None:
        sentences = tuple(Sentence(sentence.id, sentence.text) for sentence in sentences)
    return Argument(
        id=record.doc_id,
        conclusion=record.conclusion,
        premises=tuple(premise.text for premise in record.premises),
        stance=record.premises[0].stance.name if record.premises else "",  # as in argsme.py
        sentences=sentences,
        page=getattr(record, "source_text", None) or "",
        discussion=record.topic,
    )


def _convert_text_record(record: Any) -> AnyDocument:
    """Converts title and text as documents/beir.py does; otherwise takes just the text."""
    if not (hasattr(record, "title") and hasattr(record, "text")):
        return Document(record.doc_id, record.default_text())
    title = record.title or ""
    text = record.text or ""
    stance = getattr(record, "stance", None) or ""
    if title or stance:
        return Argument(id=record.doc_id, conclusion=title, premises=(text,), stance=stance)
    return Document(record.doc_id, text)
