"""Indexes a stream of documents."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from itertools import islice
from typing import Any

import jpype

from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError
from touche.io.progress import processors
from touche.io.temporary import temporary_folder
from touche.lucene.analysis import Chain, analyzer_named, only_these_terms, tokens
from touche.lucene.java import bytes_ref, java, java_path, string
from touche.lucene.searching import Index

_CHUNK_DOCUMENTS = 64  # documents a thread takes at a time
_RAM_BUFFER_MB = 256.0  # when this buffer is full, documents are written to disk

_log = logging.getLogger(__name__)

Fields = Mapping[str, Callable[[Any], str]]  # a document's fields by name
_Converter = Callable[[AnyDocument], Any]  # returns Lucene's fields, filled from a document


def index(
    documents: Iterable[AnyDocument],
    *,
    analyzer: str | Chain,
    similarity: Any,
    fields: Fields | None = None,
    queries: Iterable[str] | None = None,
    threads: int | None = None,
) -> Index:
    """Indexes documents in a temporary directory, which is already removed when this function returns.

    Args:
        documents: the collection. It's read once, and never in memory as a whole.
        analyzer: a ``Chain`` or an analyzer's name: ``standard`` is Elasticsearch's default, ``english``
            Anserini's, and ``plural`` resembles ChatNoir's.
        similarity: what ``dirichlet``, ``bm25`` or ``classic`` returned.
        fields: the fields by name, each a function of the document; only ``text`` by default.
        queries: all texts that you will search for, if you know them. The index then only distinguishes their
            terms: it's built faster and is a quarter of the size, and scores stay the same.
        threads: how many threads index and search; one per processor by default. Scores and order don't
            depend on it.

    Raises:
        ToucheError: if Lucene isn't installed, or the temporary directory is full.
    """
    fields = fields or {"text": lambda document: document.text}
    threads = threads or processors()
    analysis = analyzer_named(analyzer)
    vocabulary = None
    if queries is not None:
        vocabulary = frozenset().union(*(tokens(analysis, text) for text in queries))
    config = java("org.apache.lucene.index.IndexWriterConfig")(analysis)
    memory_mb = java("java.lang.Runtime").getRuntime().maxMemory() / 2**20
    # At most a quarter of Java's memory, because flushing the buffer needs memory too.
    config.setRAMBufferSizeMB(min(_RAM_BUFFER_MB, float(memory_mb / 4)))
    config.setSimilarity(similarity)
    # Merging files would cost more than it saves: the index is only used for one run.
    config.setUseCompoundFile(False)
    config.setMergePolicy(java("org.apache.lucene.index.NoMergePolicy").INSTANCE)
    began = time.monotonic()
    with temporary_folder("touche-index-") as folder:
        directory = java("org.apache.lucene.store.MMapDirectory")(java_path(folder))
        new_converter = partial(_new_converter, fields, analyzer, vocabulary)
        _write(directory, config, iter(documents), new_converter, threads)
        # The reader maps the files into memory, so it keeps working after the directory is removed.
        reader = java("org.apache.lucene.index.DirectoryReader").open(directory)
    seconds = time.monotonic() - began
    counts = ", ".join(f"{reader.getSumTotalTermFreq(name)} terms in {name}" for name in fields)
    _log.debug("indexed %d documents in %.1f s: %s", reader.numDocs(), seconds, counts)
    return Index(
        reader=reader,
        analyzer=analysis,
        similarity=similarity,
        fields=tuple(fields),
        vocabulary=vocabulary,
        threads=threads,
    )


def _new_converter(fields: Fields, analyzer: str | Chain, vocabulary: frozenset[str] | None) -> _Converter:
    """Returns a function that turns documents into Lucene's fields, for use in one thread.

    It fills the same objects with each document, because creating new ones is slower.
    """
    id_field = java("org.apache.lucene.document.SortedDocValuesField")("id", bytes_ref(""))
    # One analyzer per field, because an analyzer only has one token stream per thread.
    analyzers = {name: analyzer_named(analyzer) for name in fields}
    field_type = java("org.apache.lucene.document.FieldType")()
    field_type.setTokenized(True)
    # The formulas in similarities.py don't need positions, which would be half of the index.
    field_type.setIndexOptions(java("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    lucene_fields = java("java.util.ArrayList")([id_field])
    for name, field_analyzer in analyzers.items():
        stream = field_analyzer.tokenStream(name, "")
        if vocabulary is not None:
            stream = only_these_terms(vocabulary, stream)
        lucene_fields.add(java("org.apache.lucene.document.Field")(name, stream, field_type))

    def convert(document: AnyDocument) -> Any:
        id_field.setBytesValue(bytes_ref(document.id))
        for name, text_of in fields.items():
            # Sets the new text in this thread's token stream, which the Lucene field already uses.
            analyzers[name].tokenStream(name, string(text_of(document)))
        return lucene_fields

    return convert


def _write(
    directory: Any,
    config: Any,
    documents: Iterator[AnyDocument],
    new_converter: Callable[[], _Converter],
    threads: int,
) -> None:
    """Writes documents to an index in a directory. Each thread calls ``new_converter`` once."""
    writer = java("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        # One thread adds the first document: JPype examines a class when it's first used, and can
        # crash if two threads do that at once.
        for document in islice(documents, 1):
            writer.addDocument(new_converter()(document))
        _add_all(writer, documents, new_converter, threads)
        writer.commit()
    except jpype.JException as error:
        user_error = _user_error(error)
        if user_error is None:
            raise
        raise user_error from error
    finally:
        writer.rollback()  # closes the writer without flushing again; what was committed stays


def _add_all(
    writer: Any, documents: Iterator[AnyDocument], new_converter: Callable[[], _Converter], threads: int
) -> None:
    """Adds all documents using several threads, whose work is in Java, outside Python's lock.

    Args:
        writer: Lucene's IndexWriter.
        documents: the documents.
        new_converter: returns a function that converts documents; each thread needs its own.
        threads: the number of threads.
    """
    documents_lock = threading.Lock()
    must_stop = threading.Event()

    def take_chunk() -> list[AnyDocument]:
        """Returns the next documents; none at the end, or after another thread's error."""
        with documents_lock:
            return [] if must_stop.is_set() else list(islice(documents, _CHUNK_DOCUMENTS))

    def add_chunks() -> None:
        convert = new_converter()
        for chunk in iter(take_chunk, []):  # until an empty chunk
            for document in chunk:
                writer.addDocument(convert(document))

    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in as_completed([pool.submit(add_chunks) for _ in range(threads)]):
                future.result()  # raises the thread's error
        finally:  # after an error or Ctrl-C, other threads stop
            must_stop.set()


def _user_error(error: Any) -> ToucheError | None:
    """Turns a Java exception that the user can prevent into an error with a remedy; None for others."""
    while error is not None:
        if isinstance(error, java("java.io.IOException")):
            problem = f"the index cannot be written ({error.getMessage()})"
            return ToucheError(f"{problem}; set TMPDIR to a directory with more space")
        if isinstance(error, java("java.lang.OutOfMemoryError")):
            # By default, Java takes a quarter of the machine's memory.
            problem = "Java needs more than the quarter of the memory that it may use"
            return ToucheError(f"{problem}; give the process more memory")
        error = error.getCause()
    return None
