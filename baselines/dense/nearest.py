"""Exact search for the embeddings nearest to a title's, in one pass over all documents."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from touche import Topic, Topics

Vectors = npt.NDArray[np.floating]

_COSINE_DECIMALS = 6  # further digits depend on the processor and on the other texts of a batch


class Nearest:
    """Best documents of each topic among the added documents.

    Args:
        topics: topics; for a topic with candidates, only these are ranked.
        titles: embeddings of the topics' titles with norm 1, a row for each topic.
        depth: maximum number of documents per topic.
    """

    def __init__(self, topics: Topics, titles: Vectors, depth: int) -> None:
        self._topics = topics
        self._titles = titles
        self._depth = depth
        # For each topic its best documents, best first; the cosine is first, because it sorts them.
        self._best: list[list[tuple[float, str]]] = [[] for _ in topics]

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Adds documents.

        Args:
            ids: ids of the documents.
            vectors: embeddings with norm 1, documents x dimensions.
        """
        # In float64, because in float32 the sixth digit depends on the number of threads.
        cosines = np.round(vectors.astype(np.float64) @ self._titles.T.astype(np.float64), _COSINE_DECIMALS)
        for index, topic in enumerate(self._topics):
            best = self._best[index]
            scores = cosines[:, index]
            lowest = best[-1][0] if len(best) == self._depth else -np.inf
            hits = list(best)
            for row in np.flatnonzero(scores >= lowest).tolist():
                if topic.candidates is None or ids[row] in topic.candidates:
                    hits.append((float(scores[row]), ids[row]))
            self._best[index] = sorted(hits, reverse=True)[: self._depth]

    def rankings(self) -> Iterator[tuple[Topic, list[tuple[str, float]]]]:
        """Yields each topic with its (document id, cosine) pairs, best first, ties by descending id."""
        for topic, best in zip(self._topics, self._best, strict=True):
            yield topic, [(id, cosine) for cosine, id in best]
