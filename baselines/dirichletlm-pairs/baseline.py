"""DirichletLM (Zhai and Lafferty 2001) for pairs of sentences from the best arguments."""

from touche import Documents, Rankings, Topics, baseline, pairs


@baseline
def dirichletlm_pairs(
    topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000
) -> Rankings:
    """Ranks pairs of sentences by how likely their smoothed language models are to produce the topic's
    title.

    The sentences come from a topic's 100 best arguments. A sentence's score is its own log likelihood plus
    its argument's. A pair's score is the mean of its two sentences' scores.

    mu: weight of the collection's language model, in tokens; 2000 is Elasticsearch's default.
    depth: number of pairs per topic.
    """
    ranked = pairs.by_dirichletlm(topics, documents, mu, depth)
    yield from pairs.hits(ranked, depth)  # warns of topics with few pairs
