"""Stances from a lexicon: which of two compared objects is closer to words of praise?"""

from touche import Documents, Rankings, Topics, baseline, check_range, scan

from .stances import lexicon, sides_of_words, stance


@baseline
def stance_lexicon(topics: Topics, documents: Documents, *, window: int = 5, depth: int = 1000) -> Rankings:
    """Ranks passages with BM25, and detects which of the topic's two objects each passage prefers.

    window: largest distance, in words, between a word of praise or blame and the object.
    depth: number of passages per topic.
    """
    check_range("window", window, 1, 1000)
    model = scan.bm25(k1=0.9, b=0.4)  # the settings of the baseline bm25
    ranked = scan.rank(topics, documents, model, analysis="english", depth=depth)
    rankings = [(topic, list(hits)) for topic, hits in ranked]
    ids = {id for _, hits in rankings for id, _ in hits}
    texts = {document.id: document.text for document in scan.picked(documents, ids)}
    polarities = lexicon()
    for topic, hits in rankings:
        sides = sides_of_words(topic)
        yield topic, [(id, score, stance(texts[id], sides, polarities, window)) for id, score in hits]
