"""BM25 (Robertson et al. 1994) with the package rank_bm25."""

from rank_bm25 import BM25Okapi
from touche import Documents, Rankings, Topics, baseline, with_unmatched, words


@baseline
def my_team(
    topics: Topics,
    documents: Documents,
    *,
    k1: float = 1.5,
    b: float = 0.75,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by BM25 for the topic's title, with the defaults of rank_bm25.

    k1: saturation of the word frequency; with a larger k1, repeated words add more.
    b: influence of the document's length, from 0 to 1.
    depth: number of documents per topic.
    """
    texts = {document.id: document.text for document in documents}
    if not any(map(tokenize, texts.values())):  # rank_bm25 would divide by 0, the number of different words
        for topic in topics:
            candidates = texts.keys() & (topic.candidates or ())  # no other documents are ranked
            yield topic, with_unmatched([], candidates, depth)
        return
    indexes = {id: index for index, id in enumerate(texts)}  # by which rank_bm25 knows documents
    bm25 = BM25Okapi(map(tokenize, texts.values()), k1=k1, b=b)
    for topic in topics:
        query = tokenize(topic.title)
        among = texts.keys() if topic.candidates is None else topic.candidates & texts.keys()
        # Scores can be negative or 0, and so do not show whether a document has a word of the title.
        # doc_freqs has the words of each document.
        matching = [id for id in among if bm25.doc_freqs[indexes[id]].keys() & query]
        scores = bm25.get_batch_scores(query, [indexes[id] for id in matching])
        ranked = sorted(zip(scores, matching, strict=True), reverse=True)  # best first
        # Candidates are ranked even if they have no word of the title, other documents are not.
        unmatched = set() if topic.candidates is None else among - set(matching)
        yield topic, with_unmatched([(id, score) for score, id in ranked[:depth]], unmatched, depth)


def tokenize(text: str) -> list[str]:
    """Returns the words of a text in lower case."""
    return words(text.lower())
