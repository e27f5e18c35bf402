"""DirichletLM: Dirichlet-smoothed query likelihood (Zhai and Lafferty 2001), by the better of two fields."""

from typing import Literal

import numpy as np

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import check_range
from touche.formats.documents import conclusion_of, premises_of

FIELDS = {"premises": premises_of, "conclusion": conclusion_of}


@baseline
def dirichletlm(
    topics: Topics,
    documents: Documents,
    *,
    mu: float = 2000.0,
    depth: int = 1000,
    engine: Literal["scan", "lucene"] = "scan",
) -> Rankings:
    """Ranks documents by the probability that their smoothed language model draws the topic's title.

    Of an argument, premises and conclusion are two fields, each with its own statistics; the one with the
    higher score counts. Any other document is one field.

    mu: the weight of the collection's language model, in tokens; 2000 is the default of Elasticsearch.
    depth: how many documents are returned per topic.
    engine: scan computes the formula as it stands here; lucene has Lucene rank, which takes longer.
    """
    check_range("mu", mu, 1e-9, 1e9)
    mu = float(np.float32(mu))  # which is as much of it as Lucene keeps

    def likelihood(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        gain: scan.Array = np.log(1 + tf / (mu * term.probability)) + np.log(mu / (mu + length))
        return np.maximum(0, gain)

    if engine == "lucene":
        yield from by_lucene(topics, documents, mu, depth)
    else:
        yield from scan.rank(
            topics, documents, likelihood, analysis="standard", fields=FIELDS, best_field=True, depth=depth
        )


def by_lucene(topics: Topics, documents: Documents, mu: float, depth: int) -> Rankings:
    """The same, as Elasticsearch has it: Lucene's LMDirichletSimilarity."""
    from touche import lucene

    queries, model = [topic.title for topic in topics], lucene.dirichlet(mu)
    with lucene.index(
        documents, fields=FIELDS, queries=queries, analyzer="standard", similarity=model
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, best_field=True)
