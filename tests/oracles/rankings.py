"""Rankings by Lucene, for comparison with the scan."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from touche import lucene
from touche.documents.document_records import conclusion_of, premises_of
from touche.trec.topics import Topic


def by_lucene(
    topics: Sequence[Topic], documents: Iterable[Any], similarity: Any, analysis: str, **options: Any
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Yields each topic with Lucene's hits for its title."""
    fields = options.pop("fields", None)
    depth = options.pop("depth", 1000)
    queries = [topic.title for topic in topics]
    with lucene.index(
        documents, queries=queries, analyzer=analysis, similarity=similarity, fields=fields
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, **options)


def baseline_by_lucene(
    name: str, topics: Sequence[Topic], documents: Iterable[Any], depth: int = 1000, **options: Any
) -> list[tuple[Topic, list[tuple[str, float]]]]:
    """Ranks with Lucene as ``dirichletlm``, ``bm25`` or ``tfidf`` with Lucene's formula."""
    if name == "dirichletlm":
        fields = {"premises": premises_of, "conclusion": conclusion_of}
        model = lucene.dirichlet(options.get("mu", 2000))
        how = {"fields": fields, "best_field": True}
        return list(by_lucene(topics, documents, model, "standard", depth=depth, **how))
    bm25 = lucene.bm25(**{"k1": 0.9, "b": 0.4} | options) if name == "bm25" else None
    return list(by_lucene(topics, documents, bm25 or lucene.classic(), "english", depth=depth))
