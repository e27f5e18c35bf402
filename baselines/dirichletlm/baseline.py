"""DirichletLM: Dirichlet-smoothed query likelihood (Zhai and Lafferty 2001), the better of two fields."""

from touche import Documents, Rankings, Topics, baseline, check_range, conclusion_of, premises_of, scan

FIELDS = {"premises": premises_of, "conclusion": conclusion_of}


@baseline
def dirichletlm(topics: Topics, documents: Documents, *, mu: float = 2000.0, depth: int = 1000) -> Rankings:
    """Ranks documents by how likely their smoothed language model is to produce the topic's title.

    An argument's premises and conclusion are two fields with their own statistics; the higher score counts.
    All other documents are a single field.

    mu: weight of the collection's language model, in tokens; 2000 is Elasticsearch's default.
    depth: number of documents per topic.
    """
    check_range("mu", mu, 1e-9, 1e9)
    likelihood = scan.dirichletlm(mu)
    yield from scan.rank(
        topics, documents, likelihood, analysis="standard", fields=FIELDS, best_field=True, depth=depth
    )
