"""From a stream of documents to an index."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from itertools import islice
from typing import Any

import jpype

from touche.errors import ToucheError
from touche.formats.documents import AnyDocument
from touche.io.temporary import temporary_folder
from touche.lucene.analysis import Chain, analyzer_named, only_telling_apart, terms
from touche.lucene.java import bytes_ref, java, java_path, string
from touche.lucene.searching import Index
from touche.progress import processors

_CHUNK = 64  # documents that a thread takes from the stream at a time
_RAM_BUFFER_MB = 256.0

_log = logging.getLogger(__name__)

Fields = Mapping[str, Callable[[Any], str]]  # of a document
_Fill = Callable[[AnyDocument], Any]


def index(
    documents: Iterable[AnyDocument],
    *,
    analyzer: str | Chain,
    similarity: Any,
    fields: Fields | None = None,
    queries: Iterable[str] | None = None,
    threads: int | None = None,
) -> Index:
    """Indexes documents for searching, in a temporary directory that is gone when this returns.

    Args:
        documents: the collection; read once, and never held in memory as a whole.
        analyzer: the name of an analyzer: ``standard`` is Elasticsearch's default, ``english`` is Anserini's,
            and ``plural`` is close to ChatNoir's; or a ``Chain``.
        similarity: what ``dirichlet``, ``bm25`` or ``classic`` returns.
        fields: the fields by name, each a function of the document; by default one, ``text``.
        queries: all texts that will be searched for, where they are known. Then only their terms are told
            apart in the index, which makes it faster to build and a quarter of the size; lengths, totals
            and scores are the same.
        threads: how many index and search at once; by default one for each processor of this process.
            Scores and order do not depend on it.

    Raises:
        ToucheError: if Lucene is not installed or the temporary directory is full.
    """
    fields = fields or {"text": lambda document: document.text}
    threads = threads or processors()
    analysis = analyzer_named(analyzer)
    vocabulary = None
    if queries is not None:
        vocabulary = frozenset().union(*(terms(analysis, text) for text in queries))
    config = java("org.apache.lucene.index.IndexWriterConfig")(analysis)
    quarter = java("java.lang.Runtime").getRuntime().maxMemory() / 2**22  # of Java's memory, in megabytes
    config.setRAMBufferSizeMB(min(_RAM_BUFFER_MB, float(quarter)))
    config.setSimilarity(similarity).setUseCompoundFile(False)
    # Merging pays for an index that is searched for years, not once.
    config.setMergePolicy(java("org.apache.lucene.index.NoMergePolicy").INSTANCE)
    began = time.monotonic()
    with temporary_folder("touche-index-") as folder:
        directory = java("org.apache.lucene.store.MMapDirectory")(java_path(folder))
        begin = partial(_filler, fields, analyzer, vocabulary)
        _write(directory, config, iter(documents), begin, threads)
        # Once opened, every file is mapped into memory, and the directory can go.
        reader = java("org.apache.lucene.index.DirectoryReader").open(directory)
    seconds = time.monotonic() - began
    terms_of = ", ".join(f"{reader.getSumTotalTermFreq(name)} terms in {name}" for name in fields)
    _log.debug("indexed %d documents in %.1f s: %s", reader.numDocs(), seconds, terms_of)
    return Index(reader, analysis, similarity, tuple(fields), vocabulary, threads)


def _filler(fields: Fields, analyzer: str | Chain, vocabulary: frozenset[str] | None) -> _Fill:
    """Returns a function that fills one set of Lucene's fields with a document, and returns them."""
    id_field = java("org.apache.lucene.document.SortedDocValuesField")("id", bytes_ref(""))
    # An analyzer has one token stream for each thread, so that each field needs an analyzer of its own.
    analyzers = {name: analyzer_named(analyzer) for name in fields}
    options = java("org.apache.lucene.document.FieldType")()
    options.setTokenized(True)
    # A bag of words asks for no positions, and they are half of an index.
    options.setIndexOptions(java("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    filled = java("java.util.ArrayList")([id_field])
    for name, each in analyzers.items():
        tokens = each.tokenStream(name, "")
        if vocabulary is not None:
            tokens = only_telling_apart(vocabulary, tokens)
        filled.add(java("org.apache.lucene.document.Field")(name, tokens, options))

    def fill(document: AnyDocument) -> Any:
        id_field.setBytesValue(bytes_ref(document.id))
        for name, text_of in fields.items():
            analyzers[name].tokenStream(name, string(text_of(document)))  # sets the stream to the text
        return filled

    return fill


def _write(
    directory: Any, config: Any, documents: Iterator[AnyDocument], begin: Callable[[], _Fill], threads: int
) -> None:
    writer = java("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        # The first goes in alone: JPype learns of a class where it is first used, and can crash where two
        # threads make it do so at once.
        for document in islice(documents, 1):
            writer.addDocument(begin()(document))
        _add_all(writer, documents, begin, threads)
        writer.commit()
    except jpype.JException as error:
        raise (_understood(error) or error) from error
    finally:
        writer.rollback()  # closes the writer without another flush; what is committed stays


def _add_all(writer: Any, documents: Iterator[AnyDocument], begin: Callable[[], _Fill], threads: int) -> None:
    """Adds all documents by several threads: the work is done in Java, which needs no lock of Python."""
    taking, ended = threading.Lock(), threading.Event()

    def take() -> list[AnyDocument]:
        with taking:
            return list(islice(documents, _CHUNK))

    def add_until_none_is_left() -> None:
        fill = begin()
        while not ended.is_set() and (chunk := take()):
            for document in chunk:
                writer.addDocument(fill(document))

    with ThreadPoolExecutor(threads) as pool:
        work = [pool.submit(add_until_none_is_left) for _ in range(threads)]
        try:
            for done in as_completed(work):
                done.result()
        finally:  # with the first fault, or by Ctrl-C
            ended.set()


def _understood(error: Any) -> ToucheError | None:
    """The error to show for a Java exception, whose cause may lie in another thread; None if it is a bug."""
    while error is not None:
        if isinstance(error, java("java.io.IOException")):
            problem = f"the index cannot be written ({error.getMessage()})"
            return ToucheError(f"{problem}; set TMPDIR to a directory with more room")
        if isinstance(error, java("java.lang.OutOfMemoryError")):
            return ToucheError("Java has used up its quarter of the memory; give the process more memory")
        error = error.getCause()
    return None
