"""ElrondKRun, the best run of 2021: DirichletLM over Krovetz stems of premises and the debate's title."""

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
    """Ranks arguments by the sum of the scores of their premises and of their debate's title.

    A term of the topic's title is required in the premises, but not in the debate's title. Documents
    that are not arguments have their text instead of premises.

    stop_words: lucene, snowball, none, or a file with a word on each line; the team's own list is not
        shipped.
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
