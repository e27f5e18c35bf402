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
    classic: Lucene's ClassicSimilarity, sum over the terms of
        qtf * sqrt(tf) * (1 + ln((N + 1) / (df + 1))) / sqrt(dl).

    variant: which of the two.
    k1, b: the saturation of Robertson's term frequency in Terrier's formula; without effect on classic.
    depth: how many documents are returned per topic.
    """
    terrier = variant == "terrier"
    queries = [topic.title for topic in topics]
    similarity = lucene.bm25(k1, b) if terrier else lucene.classic()
    with lucene.index(documents, queries=queries, analyzer="english", similarity=similarity) as index:
        for topic in topics:
            frequencies = index.terms(topic.title).items()
            weights = {t: qtf * (from_bm25(index, t, k1) if terrier else 1.0) for t, qtf in frequencies}
            yield topic, index.search(weights, depth, among=topic.candidates)


def from_bm25(index: lucene.Index, term: str, k1: float) -> float:
    """What turns Lucene's idf tf / (tf + K) into Terrier's k1 tf / (tf + K) log2(N / df + 1)."""
    n, df = index.size(), index.document_frequency(term)
    idf = log(1 + (n - df + 0.5) / (df + 0.5))
    return k1 * log2(n / df + 1) / idf if df else 0.0
