"""Lucene, embedded in this process: the engine that Elasticsearch, Anserini and ChatNoir are built on."""

from touche.lucene.indexing import index
from touche.lucene.java import PYSERINI, jar
from touche.lucene.searching import Index, all_of, any_of, having_id, labelled
from touche.lucene.similarities import bm25, classic, dirichlet
from touche.lucene.simple import wanted

__all__ = [
    "PYSERINI",
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
    "wanted",
]
