"""DirichletLM (Zhai and Lafferty 2001) for pairs of sentences: arguments, their sentences, pairs of these."""

from touche import Documents, Rankings, Topics, baseline, pairs


@baseline
def dirichletlm_pairs(
    topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000
) -> Rankings:
    """Ranks pairs of sentences by the probability that their smoothed language models draw the topic's title.

    The sentences are those of the 100 best arguments of a topic. A sentence scores what it and its argument
    score together, and a pair the mean of its two sentences.

    mu: the weight of the collection's language model, in tokens; 2000 is the default of Elasticsearch.
    depth: how many pairs are returned per topic.
    """
    yield from pairs.hits(pairs.by_dirichletlm(topics, documents, mu, depth), depth)
