"""Jean-Pierre Polnareff of 2021: premises, plus a quarter of all fields, with DirichletLM or BM25."""

from typing import Literal

from touche import (
    AnyDocument,
    Documents,
    Rankings,
    Topics,
    baseline,
    conclusion_of,
    discussion_of,
    lucene,
    premises_of,
)

# The team's code adds seven values, such as author and organization, and "null" for missing ones.
# They contain no word of a title, so only their length matters: eight tokens reproduce the most
# scores.
METADATA = " ".join(["null"] * 8)


def all_fields(document: AnyDocument) -> str:
    """Returns stand-ins for the metadata, the debate's title, premises and conclusion as one text."""
    return f"{METADATA} {discussion_of(document)} {premises_of(document)} {conclusion_of(document)}"


FIELDS = {"premises": premises_of, "everything": all_fields}
BOOSTS = {"everything": 0.25}
MU = 1800.0
K1 = 1.2
B = 0.75
ANALYSIS = lucene.Chain(
    (
        "lowercase",
        # sooo becomes soo
        ("patternReplace", "pattern", r"(.)\1{2,}", "replacement", "$1$1", "replace", "all"),
        "englishPossessive",
        ("length", "min", "3", "max", "20"),
    ),
    tokenizer="classic",
)


@baseline
def polnareff(
    topics: Topics,
    documents: Documents,
    *,
    model: Literal["dirichlet", "bm25"] = "dirichlet",
    stop_words: str = "lucene",
    depth: int = 1000,
) -> Rankings:
    """Ranks arguments by the score of their premises, plus a quarter of the score of all fields together.

    model: Lucene's LMDirichlet with mu = 1800, or its BM25 with k1 = 1.2 and b = 0.75.
    stop_words: words to ignore in titles (not in documents): lucene, snowball, none, or a file with one word
    per
        line; the team's own list isn't shipped.
    depth: number of documents per topic.
    """
    ignored = lucene.stop_words(stop_words)
    similarity = lucene.dirichlet(MU) if model == "dirichlet" else lucene.bm25(K1, B)
    with lucene.index(
        documents,
        fields=FIELDS,
        queries=[topic.title for topic in topics],
        analyzer=ANALYSIS,
        similarity=similarity,
    ) as index:
        for topic in topics:
            terms = index.terms(topic.title)
            weights = {term: float(count) for term, count in terms.items() if term not in ignored}
            yield topic, index.search(weights, depth, among=topic.candidates, boosts=BOOSTS)
