"""DirichletLM with other stop words, stemmers and mu: runs of Pippin Took and Goemon Ishikawa of 2021."""

from typing import Literal

from touche import Documents, Rankings, Topics, baseline, lucene, premises_of

STEMMERS = {"krovetz": ("kStem",), "none": ()}  # Lucene's names of token filters


@baseline
def dirichletlm_variants(
    topics: Topics,
    documents: Documents,
    *,
    stop_words: str = "snowball",
    stemmer: Literal["krovetz", "none"] = "krovetz",
    mu: float = 2000.0,
    depth: int = 1000,
) -> Rankings:
    """Ranks arguments by the Dirichlet-smoothed query likelihood (Zhai and Lafferty 2001) of their premises.

    stop_words: lucene, snowball, none, or a file with one word per line; the teams' own lists aren't shipped.
    stemmer: Lucene's Krovetz stemmer, or none.
    mu: weight of the collection's language model, in tokens.
    depth: number of documents per topic.
    """
    filters = ("lowercase", "stop", *STEMMERS[stemmer])
    analyzer = lucene.Chain(filters, stop_words=lucene.stop_words(stop_words))
    with lucene.index(
        documents,
        fields={"premises": premises_of},
        queries=[topic.title for topic in topics],
        analyzer=analyzer,
        similarity=lucene.dirichlet(mu),
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates)
