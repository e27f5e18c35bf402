"""ElrondKRun: DirichletLM over Krovetz stems, of the premises and of the debate's title; the best of 2021."""

from touche import Documents, Rankings, Topics, baseline, lucene
from touche.formats.documents import discussion_of, premises_of

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
    """Ranks arguments by the sum of what premises and the title of their debate score.

    Premises must have a term of the topic's title, the title of the debate may. Of a document that is no
    argument, the text stands for the premises.

    stop_words: lucene, snowball, none, or a file with a word on each line; that of the team is not shipped.
    mu: the weight of the collection's language model, in tokens.
    depth: how many documents are returned per topic.
    """
    analyzer = lucene.Chain(("lowercase", "stop", "kStem"), lucene.stop_words(stop_words))
    queries, model = [topic.title for topic in topics], lucene.dirichlet(mu)
    with lucene.index(
        documents, fields=FIELDS, queries=queries, analyzer=analyzer, similarity=model
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, required="premises")
