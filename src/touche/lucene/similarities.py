"""The Lucene scoring formulas that baselines use.

For a term, tf is its frequency in a document, ttf its frequency in the collection, and df the number of
documents that contain it. N is the number of documents, dl a document's length in tokens, and avgdl the
mean length. Lucene
stores dl in one byte: exact up to 40, then rounded down (100 becomes 96). Repeated query tokens count
repeatedly.
"""

from typing import Any

from touche.errors import check_range
from touche.lucene.java import java


def dirichlet(mu: float) -> Any:
    """Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001): LMDirichletSimilarity.

    score(q, d) = sum over the query tokens t in d of max(0, ln(1 + tf / (mu P(t))) + ln(mu / (dl + mu))),
    with P(t) = (ttf + 1) / (total number of tokens + 1).

    Args:
        mu: the weight of the collection's language model, in tokens.

    Raises:
        ParameterError: unless 1e-9 <= mu <= 1e9.
    """
    check_range("mu", mu, 1e-9, 1e9)
    return java("org.apache.lucene.search.similarities.LMDirichletSimilarity")(mu)


def bm25(k1: float, b: float) -> Any:
    """BM25 (Robertson et al. 1994): BM25Similarity.

    score(q, d) = sum over the query tokens t of idf tf / (tf + k1 (1 - b + b dl / avgdl)), with
    idf = ln(1 + (N - df + 0.5) / (df + 0.5)). The original's factor k1 + 1 is left out; it doesn't change
    rankings.

    Args:
        k1: how slowly term frequency saturates: the larger k1, the more repeated terms add.
        b: how much a document's length counts, from 0 to 1.

    Raises:
        ParameterError: unless 0 <= k1 <= 1e9 and 0 <= b <= 1.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    return java("org.apache.lucene.search.similarities.BM25Similarity")(k1, b)


def classic() -> Any:
    """Lucene's own TF-IDF: ClassicSimilarity.

    score(q, d) = sum over the query tokens t of sqrt(tf) idf / sqrt(dl), with
    idf = 1 + ln((N + 1) / (df + 1)).
    """
    return java("org.apache.lucene.search.similarities.ClassicSimilarity")()
