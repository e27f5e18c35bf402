"""Query likelihood with Jelinek-Mercer smoothing (Zhai and Lafferty 2001)."""

import numpy as np

from touche import Documents, Rankings, Topics, baseline, check_range, scan


@baseline
def my_method(
    topics: Topics,
    documents: Documents,
    *,
    weight: float = 0.1,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by the probability that their smoothed language model draws the topic's title.

    weight: share of the document's own frequencies in its model, above 0 and below 1.
    depth: number of documents per topic.
    """
    check_range("weight", weight, 1e-6, 1 - 1e-6)

    def likelihood(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        return np.log1p(weight * tf / ((1 - weight) * length * term.probability))

    yield from scan.rank(topics, documents, likelihood, analysis="english", depth=depth)
