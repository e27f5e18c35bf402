"""DirichletLM: query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001)."""

from touche import Documents, Rankings, Topics, baseline, lucene, pairs


@baseline
def dirichletlm(topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000) -> Rankings:
    """Ranks documents by the probability that their smoothed language model draws the topic's title.

    Of arguments that come in sentences (args_processed.csv) it ranks pairs of sentences: arguments first,
    then the sentences within them, then pairs of these.

    mu: the weight of the collection's language model, in tokens; 2000 is the default of Elasticsearch.
    depth: how many documents or pairs are returned per topic.
    """
    if pairs.are_asked_for(documents):
        yield from pairs.hits(pairs.by_dirichletlm(topics, documents, mu, depth), depth)
        return
    queries = [topic.title for topic in topics]
    index = lucene.index(documents, queries=queries, analyzer="standard", similarity=lucene.dirichlet(mu))
    for topic in topics:
        yield topic, index.search(topic.title, depth, among=topic.candidates)
