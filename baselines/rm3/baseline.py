"""RM3: titles expanded by a relevance model (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import check_range

Weights = Mapping[str, float]  # of words


@baseline
def rm3(
    topics: Topics,
    documents: Documents,
    *,
    model: Literal["dirichletlm", "bm25"] = "dirichletlm",
    mu: float = 2000.0,
    k1: float = 1.2,
    b: float = 0.75,
    feedback: int = 10,
    words: int = 10,
    title: float = 0.5,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents twice: for the title, and for it and the likeliest words of what is first then.

    A word is as likely as it is in the first documents, each of which counts by the probability of the title
    in it; of BM25, which knows none, by its score.

    model: what ranks, both times.
    mu: the weight of the collection's language model, in tokens; without effect on bm25.
    k1, b: the saturation of BM25, and how much length counts in it; without effect on dirichletlm.
    feedback: how many documents are taken for relevant.
    words: how many of their words are kept.
    title: the share of the title in the second query, from 0 to 1.
    depth: how many documents are returned per topic.
    """
    check_range("mu", mu, 1e-9, 1e9)
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    check_range("feedback", feedback, 1, 1000)
    check_range("words", words, 1, 1000)
    check_range("title", title, 0, 1)

    formula = scan.dirichletlm(mu) if model == "dirichletlm" else scan.bm25(k1, b)
    first = list(scan.rank(topics, documents, formula, analysis="english", depth=feedback))
    found = scan.picked(documents, {document for _, hits in first for document, _ in hits})
    counts = {each.id: Counter(scan.terms(each.text, "english")) for each in found}
    queries = {}
    for topic, hits in first:
        asked = Counter(scan.terms(topic.title, "english"))
        weights = [
            score if model == "bm25" else likelihood(score, asked, counts[id], mu) for id, score in hits
        ]
        if model == "dirichletlm":
            weights = [exp(each - max(weights)) for each in weights]
        relevant = [(shares(counts[id]), weight) for (id, _), weight in zip(hits, weights, strict=True)]
        queries[topic.number] = mixed(shares(asked), expansion(relevant, words), title)
    yield from scan.rank(topics, documents, formula, analysis="english", queries=queries, depth=depth)


def likelihood(score: float, title: Counter[str], document: Counter[str], mu: float) -> float:
    """ln P(q|d), but for what all documents share, of Lucene's score, which leaves out what a document lacks.

    Of the smoothed probability (tf + mu P) / (mu + length), that of a word with tf = 0 differs in documents
    by mu / (mu + length). A word that is rarer in a document than everywhere counts as Lucene has it, 0.
    """
    lacking = sum(number for word, number in title.items() if word not in document)
    return score + lacking * log(mu / (mu + document.total()))


def expansion(documents: Sequence[tuple[Weights, float]], words: int) -> Weights:
    """The likeliest words of documents, each of which is given by its words, and counts so much.

    That is P(w|R), the sum of P(w|d) P(q|d) over the documents.
    """
    relevance = defaultdict[str, float](float)
    for of_document, probability in documents:
        for word, share in of_document.items():
            relevance[word] += share * probability
    likeliest = sorted(relevance.items(), key=lambda each: (-each[1], each[0]))
    return shares(dict(likeliest[:words]))


def mixed(title: Weights, expansion: Weights, share: float) -> dict[str, float]:
    """The words of both, those of the title with so large a share of the weight."""
    both = dict.fromkeys([*title, *expansion])
    weights = {word: share * title.get(word, 0) + (1 - share) * expansion.get(word, 0) for word in both}
    return {word: weight for word, weight in weights.items() if weight}  # 0 would find what has nothing else


def shares(weights: Weights) -> Weights:
    """The same weights, brought to a sum of 1."""
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total else {}
