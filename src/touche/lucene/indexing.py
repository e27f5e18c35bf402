"""Builds an index from a stream of documents."""

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

_CHUNK_DOCUMENTS = 64  # number that a thread takes at a time
_RAM_BUFFER_MB = 256.0  # documents are written to the disk whenever they fill this buffer

_log = logging.getLogger(__name__)

Fields = Mapping[str, Callable[[Any], str]]  # the fields of a document by name
_Converter = Callable[[AnyDocument], Any]  # returns a list of Lucene's fields, filled with the document


def index(
    documents: Iterable[AnyDocument],
    *,
    analyzer: str | Chain,
    similarity: Any,
    fields: Fields | None = None,
    queries: Iterable[str] | None = None,
    threads: int | None = None,
) -> Index:
    """Indexes documents in a temporary directory, which is removed before this function returns.

    Args:
        documents: the collection; it is read once, and never completely in memory.
        analyzer: a ``Chain``, or the name of an analyzer: ``standard`` is Elasticsearch's default,
            ``english`` is Anserini's, and ``plural`` is similar to ChatNoir's.
        similarity: the result of ``dirichlet``, ``bm25`` or ``classic``.
        fields: the fields by name, each a function of the document; by default only ``text``.
        queries: all texts that will be searched for, if they are known. The index then distinguishes only
            their terms: it is built faster, and has a quarter of the size. Scores stay the same.
        threads: the number of threads for indexing and searching; by default one per processor. The number
            changes neither scores nor order.

    Raises:
        ToucheError: if Lucene is not installed, or the temporary directory is full.
    """
    fields = fields or {"text": lambda document: document.text}
    threads = threads or processors()
    analysis = analyzer_named(analyzer)
    vocabulary = None
    if queries is not None:
        vocabulary = frozenset().union(*(tokens(analysis, text) for text in queries))
    config = java("org.apache.lucene.index.IndexWriterConfig")(analysis)
    memory_mb = java("java.lang.Runtime").getRuntime().maxMemory() / 2**20
    # At most a quarter of Java's memory, because flushing the buffer also needs memory.
    config.setRAMBufferSizeMB(min(_RAM_BUFFER_MB, float(memory_mb / 4)))
    config.setSimilarity(similarity)
    # Combining and merging files costs more than it saves, because the index is used for one run.
    config.setUseCompoundFile(False)
    config.setMergePolicy(java("org.apache.lucene.index.NoMergePolicy").INSTANCE)
    began = time.monotonic()
    with temporary_folder("touche-index-") as folder:
        directory = java("org.apache.lucene.store.MMapDirectory")(java_path(folder))
        new_converter = partial(_new_converter, fields, analyzer, vocabulary)
        _write(directory, config, iter(documents), new_converter, threads)
        # The reader maps the files into memory, so it works after the directory is removed.
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
    """Returns a function that converts documents to Lucene's fields, for one thread.

    The function fills the same objects with each document, because new ones take longer.
    """
    id_field = java("org.apache.lucene.document.SortedDocValuesField")("id", bytes_ref(""))
    # One analyzer for each field, because an analyzer has only one token stream per thread.
    analyzers = {name: analyzer_named(analyzer) for name in fields}
    field_type = java("org.apache.lucene.document.FieldType")()
    field_type.setTokenized(True)
    # The formulas of similarities.py need no positions, which would be half of the index.
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
            # This call sets the stream of this thread, which the Lucene field already has, to the new text.
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
    """Writes the documents to an index in a directory; each thread calls ``new_converter`` once."""
    writer = java("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        # The first document is added by one thread: JPype examines a class at its first use, and can crash
        # if two threads do this at once.
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
        writer.rollback()  # closes the writer without another flush; the commit stays


def _add_all(
    writer: Any, documents: Iterator[AnyDocument], new_converter: Callable[[], _Converter], threads: int
) -> None:
    """Adds all documents with several threads; their work is in Java, without Python's lock.

    Args:
        writer: Lucene's IndexWriter.
        documents: the documents.
        new_converter: returns a function that converts documents; each thread needs its own.
        threads: the number of threads.
    """
    documents_lock = threading.Lock()
    must_stop = threading.Event()

    def take_chunk() -> list[AnyDocument]:
        """Returns the next documents; none at the end, or after an error of another thread."""
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
                future.result()  # raises the error of this thread
        finally:  # after an error or Ctrl-C, the other threads stop
            must_stop.set()


def _user_error(error: Any) -> ToucheError | None:
    """Returns an error with a remedy for a Java exception that the user can prevent; None for others."""
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
