"""Lucene, embedded in this process: the engine that Elasticsearch, Anserini and ChatNoir are built on."""

from touche.lucene.indexing import index
from touche.lucene.java import PYSERINI, jar
from touche.lucene.searching import Index
from touche.lucene.similarities import bm25, classic, dirichlet

__all__ = ["PYSERINI", "Index", "bm25", "classic", "dirichlet", "index", "jar"]
