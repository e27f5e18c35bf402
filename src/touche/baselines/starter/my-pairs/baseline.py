"""Pairs of sentences, ranked by DirichletLM and by the length of the shorter sentence."""

from touche import Documents, Rankings, Topics, baseline, pairs


@baseline
def my_team(
    topics: Topics,
    documents: Documents,
    *,
    mu: float = 2000.0,
    shortest: int = 40,
    depth: int = 1000,
) -> Rankings:
    """Ranks pairs of sentences with DirichletLM. Pairs with a short sentence come last.

    mu: weight of the collection's language model, in tokens.
    shortest: number of characters from which a sentence is not short.
    depth: number of pairs per topic.
    """
    ranked = pairs.by_dirichletlm(topics, documents, mu, depth)
    yield from pairs.hits(((topic, short_ones_last(best, shortest)) for topic, best in ranked), depth)


def short_ones_last(best: list[pairs.Pair], shortest: int) -> list[pairs.Pair]:
    """Returns the pairs with new scores: 1 for the first, 1/2 for the second, and so on."""
    in_order = sorted(best, key=lambda pair: min(len(pair.first.text), len(pair.second.text)) < shortest)
    return [pair.scored(1 / rank) for rank, pair in enumerate(in_order, 1)]
