"""DirichletLM: query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001)."""

from touche import Documents, Rankings, Topics, baseline, lucene


@baseline
def dirichletlm(topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000) -> Rankings:
    """Ranks documents by the probability that their smoothed language model draws the topic's title.

    mu: the weight of the collection's language model, in tokens; 2000 is the default of Elasticsearch.
    depth: how many documents are returned per topic.
    """
    queries, model = [topic.title for topic in topics], lucene.dirichlet(mu)
    with lucene.index(documents, queries=queries, analyzer="standard", similarity=model) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates)
