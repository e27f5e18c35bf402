"""BM25 (Robertson et al. 1994) using the package rank_bm25."""

from rank_bm25 import BM25Okapi
from touche import Documents, Rankings, Topics, baseline, check_range, with_unmatched, words


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
    texts = {document.id: document.text for document in documents}
    if not any(map(tokenize, texts.values())):  # no words: rank_bm25 would divide by 0
        for topic in topics:
            candidates = texts.keys() & (topic.candidates or ())  # no other documents are ranked
            yield topic, with_unmatched([], candidates, depth)
        return
    indexes = {id: index for index, id in enumerate(texts)}  # which is how rank_bm25 identifies documents
    bm25 = BM25Okapi(map(tokenize, texts.values()), k1=k1, b=b)
    for topic in topics:
        query = tokenize(topic.title)
        among = texts.keys() if topic.candidates is None else topic.candidates & texts.keys()
        # Scores can be 0 or negative, so they don't tell whether a document contains a word from the
        # title. doc_freqs does.
        matching = [id for id in among if bm25.doc_freqs[indexes[id]].keys() & query]
        scores = bm25.get_batch_scores(query, [indexes[id] for id in matching])
        ranked = sorted(zip(scores, matching, strict=True), reverse=True)  # best first
        # Candidates are ranked even if they contain no word from the title; other documents are not.
        unmatched = set() if topic.candidates is None else among - set(matching)
        yield topic, with_unmatched([(id, score) for score, id in ranked[:depth]], unmatched, depth)


def tokenize(text: str) -> list[str]:
    """Returns a text's words in lower case."""
    return words(text.lower())
