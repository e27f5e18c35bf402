"""DirichletLM: Dirichlet-smoothed query likelihood (Zhai and Lafferty 2001), by the better of two fields."""

from typing import Literal

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
    engine: scan computes the formula itself; lucene has Lucene rank, which takes longer.
    """
    check_range("mu", mu, 1e-9, 1e9)
    likelihood = scan.dirichletlm(mu)
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
