"""Exact search for the embeddings nearest to a title's, in one pass over all documents."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from touche import Topic, Topics

Vectors = npt.NDArray[np.floating]

_COSINE_DECIMALS = 6  # further digits depend on the processor and on the other texts of a batch


def nearest(
    topics: Topics, titles: Vectors, blocks: Iterable[tuple[Sequence[str], Vectors]], depth: int
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Yields each topic with its (document id, cosine) pairs, best first, ties by descending id.

    Args:
        topics: topics; for a topic with candidates, only these are ranked.
        titles: embeddings of the topics' titles with norm 1, a row for each topic.
        blocks: ids of documents, and their embeddings with norm 1, documents x dimensions.
        depth: maximum number of documents per topic.
    """
    # For each topic its best documents, best first; the cosine is first, because it sorts them.
    best_by_topic: list[list[tuple[float, str]]] = [[] for _ in topics]
    for ids, vectors in blocks:
        # In float64, because in float32 the sixth digit depends on the number of threads.
        cosines = np.round(vectors.astype(np.float64) @ titles.T.astype(np.float64), _COSINE_DECIMALS)
        for index, topic in enumerate(topics):
            hits = best_by_topic[index]
            lowest_useful = hits[-1][0] if len(hits) == depth else -np.inf
            cosines_of_topic = cosines[:, index]
            for row in np.flatnonzero(cosines_of_topic >= lowest_useful).tolist():
                if topic.candidates is None or ids[row] in topic.candidates:
                    hits.append((float(cosines_of_topic[row]), ids[row]))
            best_by_topic[index] = sorted(hits, reverse=True)[:depth]
    for topic, best in zip(topics, best_by_topic, strict=True):
        yield topic, [(id, cosine) for cosine, id in best]
