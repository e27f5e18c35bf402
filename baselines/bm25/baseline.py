"""BM25 (Robertson et al. 1994) over English stems: the Puss in Boots of 2022."""

from math import log
from typing import Literal

import numpy as np

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import check_range


@baseline
def bm25(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 0.9,
    b: float = 0.4,
    depth: int = 1000,
    engine: Literal["scan", "lucene"] = "scan",
) -> Rankings:
    """Ranks documents by BM25 for the topic's title, with the defaults of Anserini.

    k1: how slowly the weight of a term saturates with its frequency.
    b: how much the length of a document counts, from 0 to 1.
    depth: how many documents are returned per topic.
    engine: scan computes the formula as it stands here; lucene has Lucene rank, which takes longer.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    k1_, b_ = np.float32(k1), np.float32(b)

    def weighted(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        """The formula in float32, and in the order in which Lucene computes it: idf - idf / (1 + tf / K)."""
        rarity = log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5))
        idf = np.float32(term.weight) * np.float32(rarity)
        longer = b_ * length.astype(np.float32) / np.float32(term.mean_length)
        with np.errstate(divide="ignore"):  # k1 = 0: all frequencies count the same
            inverse = 1 / (k1_ * ((1 - b_) + longer))
        score: scan.Array = idf - idf / (1 + tf.astype(np.float32) * inverse)
        return score

    if engine == "lucene":
        yield from by_lucene(topics, documents, k1, b, depth)
    else:
        yield from scan.rank(topics, documents, scan.Weighted(weighted), analysis="english", depth=depth)


def by_lucene(topics: Topics, documents: Documents, k1: float, b: float, depth: int) -> Rankings:
    """The same, as Anserini has it: Lucene's BM25Similarity."""
    from touche import lucene

    queries, model = [topic.title for topic in topics], lucene.bm25(k1, b)
    with lucene.index(documents, queries=queries, analyzer="english", similarity=model) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates)
