"""DirichletLM (Zhai and Lafferty 2001) for pairs of sentences from the best arguments."""

from touche import Documents, Rankings, Topics, baseline, pairs


@baseline
def dirichletlm_pairs(
    topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000
) -> Rankings:
    """Ranks pairs of sentences by the probability that their smoothed language models draw the topic's title.

    The sentences are from the 100 best arguments of a topic. The score of a sentence is the sum of its own
    score and its argument's score. The score of a pair is the mean of its two sentences.

    mu: weight of the collection's language model, in tokens; 2000 is Elasticsearch's default.
    depth: number of pairs per topic.
    """
    yield from pairs.hits(pairs.by_dirichletlm(topics, documents, mu, depth), depth)
