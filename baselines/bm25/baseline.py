"""BM25 (Robertson et al. 1994) over English stems: the Puss in Boots of 2022."""

from typing import Literal

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
    engine: scan computes the formula itself; lucene has Lucene rank, which takes longer.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    if engine == "lucene":
        yield from by_lucene(topics, documents, k1, b, depth)
    else:
        yield from scan.rank(topics, documents, scan.bm25(k1, b), analysis="english", depth=depth)


def by_lucene(topics: Topics, documents: Documents, k1: float, b: float, depth: int) -> Rankings:
    """The same, as Anserini has it: Lucene's BM25Similarity."""
    from touche import lucene

    queries, model = [topic.title for topic in topics], lucene.bm25(k1, b)
    with lucene.index(documents, queries=queries, analyzer="english", similarity=model) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates)
