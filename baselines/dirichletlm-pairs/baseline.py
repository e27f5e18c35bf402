"""DirichletLM (Zhai and Lafferty 2001) for pairs of sentences from the best arguments."""

from touche import Documents, Rankings, Topics, baseline, pairs


@baseline
def dirichletlm_pairs(
    topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000
) -> Rankings:
    """Ranks pairs of sentences by the probability that their smoothed language models draw the topic's title.

    The sentences are from the 100 best arguments of a topic. A sentence has the sum of two log likelihoods:
    its own one and its argument's. The score of a pair is the mean of its two sentences.

    mu: weight of the collection's language model, in tokens; 2000 is Elasticsearch's default.
    depth: number of pairs per topic.
    """
    ranked = pairs.by_dirichletlm(topics, documents, mu, depth)
    yield from pairs.hits(ranked, depth)  # warns of topics with few pairs
