"""ArgsRank: the two most central sentences of each argument (Alshomary et al. 2020)."""

from touche import Documents, Rankings, Topics, baseline, check_range, pairs

from .centrality import most_central


@baseline
def argsrank(
    topics: Topics, documents: Documents, *, damping: float = 0.5, mu: float = 2000.0, depth: int = 100
) -> Rankings:
    """Ranks arguments with DirichletLM, and returns the two most central sentences of each argument.

    A random walk over an argument's sentences moves to similar sentences. With probability d it jumps to
    sentences with discourse markers and claim words. The walk visits central sentences most often.

    damping: probability d of a jump.
    mu: DirichletLM's weight of the collection's language model, in tokens.
    depth: number of pairs per topic, one for each argument.
    """
    check_range("damping", damping, 0, 1)
    ranked = pairs.Arguments.read(topics, documents, mu).best(depth, min_sentences=2)
    two_sentences = most_central((argument for _, best in ranked for argument, _ in best), damping)
    ranked_pairs = []
    for topic, best in ranked:
        pairs_of_topic = [
            pairs.pair_in_argument(argument, *two_sentences[argument.id], score) for argument, score in best
        ]
        ranked_pairs.append((topic, pairs_of_topic))
    yield from pairs.hits(ranked_pairs, depth)
