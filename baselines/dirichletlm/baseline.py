"""DirichletLM: Dirichlet-smoothed query likelihood (Zhai and Lafferty 2001), by the better of two fields."""

from touche import Documents, Rankings, Topics, baseline, lucene
from touche.formats.documents import conclusion_of, premises_of

FIELDS = {"premises": premises_of, "conclusion": conclusion_of}


@baseline
def dirichletlm(topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000) -> Rankings:
    """Ranks documents by the probability that their smoothed language model draws the topic's title.

    Of an argument, premises and conclusion are two fields, each with its own statistics; the one with the
    higher score counts. Any other document is one field.

    mu: the weight of the collection's language model, in tokens; 2000 is the default of Elasticsearch.
    depth: how many documents are returned per topic.
    """
    queries, model = [topic.title for topic in topics], lucene.dirichlet(mu)
    with lucene.index(
        documents, fields=FIELDS, queries=queries, analyzer="standard", similarity=model
    ) as index:
        for topic in topics:
            yield topic, index.search(topic.title, depth, among=topic.candidates, best_field=True)
