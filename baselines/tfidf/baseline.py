"""TF-IDF as Terrier has it (TF_IDF), the one of Potthast et al. 2019; Lucene's own as a variant."""

from math import log, log2
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, lucene


@baseline
def tfidf(
    topics: Topics,
    documents: Documents,
    *,
    variant: Literal["terrier", "classic"] = "terrier",
    k1: float = 1.2,
    b: float = 0.75,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by TF-IDF for the topic's title.

    terrier: sum over the terms of qtf * k1 tf / (tf + k1 (1 - b + b dl / avgdl)) * log2(N / df + 1).
    classic: Lucene's ClassicSimilarity, sum over the terms of qtf * sqrt(tf) * idf^2 / sqrt(dl).

    variant: which of the two.
    k1, b: the saturation of Robertson's term frequency in Terrier's formula; without effect on classic.
    depth: how many documents are returned per topic.
    """
    similarity = lucene.bm25(k1, b) if variant == "terrier" else lucene.classic()
    index = lucene.index(documents, analyzer="english", similarity=similarity)
    for topic in topics:
        weights = index.terms(topic.title)
        if variant == "terrier":
            weights = {term: qtf * _terrier_weight(index, term, k1) for term, qtf in weights.items()}
        yield topic, index.search(weights, depth, among=topic.candidates)


def _terrier_weight(index: lucene.Index, term: str, k1: float) -> float:
    """The factor from BM25's idf tf / (tf + K) to Terrier's k1 tf / (tf + K) log2(N / df + 1)."""
    n, df = index.size(), index.document_frequency(term)
    if df == 0:
        return 0.0
    idf_of_bm25 = log(1 + (n - df + 0.5) / (df + 0.5))
    return k1 * log2(n / df + 1) / idf_of_bm25
