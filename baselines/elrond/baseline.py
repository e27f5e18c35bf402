"""ElrondKRun, the best run of 2021: DirichletLM over Krovetz stems in premises and the debate's title."""

from touche import Documents, Rankings, Topics, baseline, discussion_of, lucene, premises_of

FIELDS = {"premises": premises_of, "discussion": discussion_of}


@baseline
def elrond(
    topics: Topics,
    documents: Documents,
    *,
    stop_words: str = "snowball",
    mu: float = 2000.0,
    depth: int = 1000,
) -> Rankings:
    """Ranks arguments by the sum of two scores: for their premises and for their debate's title.

    The premises must contain a term of the topic's title, the debate's title needn't. For documents other
    than arguments, the text replaces the premises.

    stop_words: lucene, snowball, none, or a file with one word per line; the team's own list isn't shipped.
    mu: weight of the collection's language model, in tokens.
    depth: number of documents per topic.
    """
    analyzer = lucene.Chain(("lowercase", "stop", "kStem"), lucene.stop_words(stop_words))
    with lucene.index(
        documents,
        fields=FIELDS,
        queries=[topic.title for topic in topics],
        analyzer=analyzer,
        similarity=lucene.dirichlet(mu),
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, required="premises")
