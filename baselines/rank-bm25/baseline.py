"""BM25 (Robertson et al. 1994) using the package rank_bm25."""

from functools import partial

from rank_bm25 import BM25Okapi

from touche import Documents, Rankings, Topics, baseline, check_range, rank_by_words, words


@baseline
def rank_bm25(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 1.5,
    b: float = 0.75,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents for the topic's title with BM25, using rank_bm25's defaults.

    k1: saturation of the word frequency; with a larger k1, repeated words add more.
    b: influence of the document's length, from 0 to 1.
    depth: number of documents per topic.
    """
    check_range("b", b, 0, 1)
    yield from rank_by_words(topics, documents, tokenize, partial(BM25Okapi, k1=k1, b=b), depth)


def tokenize(text: str) -> list[str]:
    """Returns a text's words in lower case."""
    return words(text.lower())
