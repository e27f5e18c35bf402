"""Exact search for the embeddings nearest to a title's, in one pass over all documents."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from touche import Topic, Topics

Vectors = npt.NDArray[np.floating]

_COSINE_DECIMALS = 6  # further digits depend on the processor and on a batch's other texts


def nearest(
    topics: Topics, titles: Vectors, blocks: Iterable[tuple[Sequence[str], Vectors]], depth: int
) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
    """Yields each topic with its (document id, cosine) pairs, best first, ties by descending id.

    Args:
        topics: topics; if a topic comes with candidates, only they are ranked.
        titles: the titles' embeddings with norm 1, a row per topic.
        blocks: document ids, and their embeddings with norm 1, documents x dimensions.
        depth: the maximum number of documents per topic.
    """
    # Each topic's best documents, best first. The cosine comes first, because it sorts them.
    best_by_topic: list[list[tuple[float, str]]] = [[] for _ in topics]
    for ids, vectors in blocks:
        # float64, because in float32 the sixth digit depends on the number of threads.
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
