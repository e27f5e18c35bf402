"""Rankings by Lucene itself, with which those of the scan are compared."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from touche import lucene
from touche.formats.topics import Topic


def by_lucene(
    topics: Sequence[Topic], documents: Iterable[Any], similarity: Any, analysis: str, **options: Any
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Each topic with Lucene's hits for its title."""
    fields, depth = options.pop("fields", None), options.pop("depth", 1000)
    queries = [topic.title for topic in topics]
    with lucene.index(
        documents, queries=queries, analyzer=analysis, similarity=similarity, fields=fields
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, **options)
