"""TF-IDF as Terrier has it (TF_IDF), the one of Potthast et al. 2019; Lucene's own as a variant."""

from math import log, log2
from typing import Literal

import numpy as np

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import check_range


@baseline
def tfidf(
    topics: Topics,
    documents: Documents,
    *,
    variant: Literal["terrier", "classic"] = "terrier",
    k1: float = 1.2,
    b: float = 0.75,
    depth: int = 1000,
    engine: Literal["scan", "lucene"] = "scan",
) -> Rankings:
    """Ranks documents by TF-IDF for the topic's title.

    terrier: sum over the terms of qtf * k1 tf / (tf + k1 (1 - b + b dl / avgdl)) * log2(N / df + 1).
    classic: Lucene's ClassicSimilarity, sum over the terms of
        qtf * sqrt(tf) * (1 + ln((N + 1) / (df + 1))) / sqrt(dl).

    variant: which of the two.
    k1, b: the saturation of Robertson's term frequency in Terrier's formula; without effect on classic.
    depth: how many documents are returned per topic.
    engine: scan computes the formula as it stands here; lucene has Lucene rank, which takes longer.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)

    def terrier(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        saturated: scan.Array = k1 * tf / (tf + k1 * (1 - b + b * length / term.mean_length))
        return saturated * log2(term.documents / term.df + 1)

    def classic(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        """In float32 where Lucene has it."""
        idf = np.float32(term.weight) * np.float32(log((term.documents + 1) / (term.df + 1)) + 1)
        score: scan.Array = np.sqrt(tf).astype(np.float32) * idf * (1 / np.sqrt(length)).astype(np.float32)
        return score

    if engine == "lucene":
        yield from by_lucene(topics, documents, variant, k1, b, depth)
    else:
        model = terrier if variant == "terrier" else scan.Weighted(classic)
        yield from scan.rank(topics, documents, model, analysis="english", depth=depth)


def by_lucene(
    topics: Topics, documents: Documents, variant: str, k1: float, b: float, depth: int
) -> Rankings:
    """The same by Lucene's ClassicSimilarity, or by its BM25, whose saturation is that of Terrier."""
    from touche import lucene

    similarity = lucene.bm25(k1, b) if variant == "terrier" else lucene.classic()
    queries = [topic.title for topic in topics]
    with lucene.index(documents, queries=queries, analyzer="english", similarity=similarity) as index:

        def from_bm25(term: str) -> float:
            """What turns Lucene's idf tf / (tf + K) into Terrier's k1 tf / (tf + K) log2(N / df + 1)."""
            n, df = index.size(), index.document_frequency(term)
            idf = log(1 + (n - df + 0.5) / (df + 0.5))
            return k1 * log2(n / df + 1) / idf if df else 0.0

        for topic in topics:
            frequencies = index.terms(topic.title).items()
            weights = {t: qtf * (from_bm25(t) if variant == "terrier" else 1.0) for t, qtf in frequencies}
            yield topic, index.search(weights, depth, among=topic.candidates)
