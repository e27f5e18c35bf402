"""Ranks with the package rank_bm25, or with another one that scores lists of words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from touche.documents.document_records import AnyDocument
from touche.trec.runs import with_unmatched
from touche.trec.topics import Topic


class _WordModel(Protocol):
    """A model with the interface of rank_bm25, which identifies documents by their indexes."""

    doc_freqs: Sequence[Mapping[str, int]]  # how often each document contains its words

    def get_batch_scores(self, query: Any, doc_ids: Any) -> Sequence[float]:
        """Returns the scores of some documents for a query in words."""


def rank_by_words(
    topics: Sequence[Topic],
    documents: Iterable[AnyDocument],
    words_of: Callable[[str], list[str]],
    model_of: Callable[[Iterable[list[str]]], _WordModel],
    depth: int,
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Ranks the documents that share a word with the topic's title, with a model such as rank_bm25's.

    If a topic has candidates, only they are ranked. Those that share no word are last.

    Args:
        topics: the topics.
        documents: the collection, which is read once and kept in memory.
        words_of: splits a text into words.
        model_of: returns a model of all documents, which are lists of words, such as ``BM25Okapi``.
        depth: the maximum number of documents for each topic.

    Yields:
        Each topic with its (document id, score) pairs, best first.

    Examples:
        >>> import touche
        >>> from rank_bm25 import BM25Okapi
        >>> topics = [touche.Topic("1", "Do cats purr?")]
        >>> documents = [touche.Document(text, text) for text in ("cats", "dogs", "birds")]
        >>> rankings = touche.rank_by_words(topics, documents, touche.words, BM25Okapi, depth=10)
        >>> [(_, hits)] = rankings
        >>> [document for document, score in hits]
        ['cats']
    """
    texts = {document.id: document.text for document in documents}
    # Without any word, rank_bm25 would divide by 0. Then no document matches a title.
    has_words = any(map(words_of, texts.values()))
    model = model_of(map(words_of, texts.values())) if has_words else None
    indexes = {id: index for index, id in enumerate(texts)}
    for topic in topics:
        title = words_of(topic.title)
        ids = texts.keys() if topic.candidates is None else texts.keys() & topic.candidates
        hits: list[tuple[str, float]] = []
        if model:
            # Scores can be 0 or negative, so they don't tell whether a document contains a word of the title.
            matching = [id for id in ids if not model.doc_freqs[indexes[id]].keys().isdisjoint(title)]
            scores = model.get_batch_scores(title, [indexes[id] for id in matching])
            hits = sorted(zip(matching, scores, strict=True), key=lambda hit: (hit[1], hit[0]), reverse=True)
        # Candidates are ranked even if they contain no word of the title; other documents are not.
        unmatched = ids - {id for id, _ in hits} if topic.candidates is not None else set[str]()
        yield topic, with_unmatched(hits[:depth], unmatched, depth)
