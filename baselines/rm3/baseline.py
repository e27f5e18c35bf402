"""RM3: titles expanded by a relevance model (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004)."""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, scan

Weights = Mapping[str, float]  # per word

_log = logging.getLogger("touche.rm3")  # the command line shows the loggers below touche


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
    """Ranks documents twice: for the title, then for the title and the likeliest words of the best
    documents.

    A word's probability is its weighted mean over the best documents of the first ranking. A document's
    weight is the title's probability in it, or its BM25 score.

    model: formula of both rankings.
    mu: weight of the collection's language model, in tokens; no effect on bm25.
    k1: BM25's saturation of the term frequency; no effect on dirichletlm.
    b: influence of the document's length in BM25, from 0 to 1; no effect on dirichletlm.
    feedback: how many documents are assumed to be relevant.
    words: how many of their words are added to the title.
    title: the title's share in the second query, from 0 to 1.
    depth: number of documents per topic.
    """
    check_range("mu", mu, 1e-9, 1e9)
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)
    check_range("feedback", feedback, 1, 1000)
    check_range("words", words, 1, 1000)
    check_range("title", title, 0, 1)

    formula = scan.dirichletlm(mu) if model == "dirichletlm" else scan.bm25(k1, b)
    collection = scan.Collection.of(topics, documents, "english")
    # Unlike ``scan.rank``, this appends no candidates without one of the title's terms: they give no
    # feedback.
    rankings = list(collection.rank(topics, scan.Scoring(formula), feedback))
    feedback_documents = scan.picked(documents, {id for _, hits in rankings for id, _ in hits})
    counts = {document.id: Counter(scan.terms(document.text, "english")) for document in feedback_documents}
    queries = {}
    for topic, hits in rankings:
        query = Counter(scan.terms(topic.title, "english"))
        if model == "bm25":
            weights = [score for _, score in hits]
        else:
            log_likelihoods = [log_likelihood(score, query, counts[id], mu) for id, score in hits]
            # Relative to the greatest likelihood, because likelihoods are too small for floats.
            greatest = max(log_likelihoods, default=0.0)
            weights = [exp(value - greatest) for value in log_likelihoods]
        relevant = [(shares(counts[id]), weight) for (id, _), weight in zip(hits, weights, strict=True)]
        query_of_topic = mix(shares(query), expansion(relevant, words), title)
        queries[topic.number] = query_of_topic
        heaviest_first = sorted(query_of_topic.items(), key=lambda pair: (-pair[1], pair[0]))
        terms = ", ".join(f"{word} {weight:.4f}" for word, weight in heaviest_first)
        _log.debug("topic %s, terms of title and expansion: %s", topic.number, terms)
    yield from scan.rank(topics, documents, formula, analysis="english", queries=queries, depth=depth)


def log_likelihood(score: float, title: Counter[str], document: Counter[str], mu: float) -> float:
    """Returns ln P(q|d), the log probability of a title q in a document d.

    A word's probability in a document is P (1 + tf / (mu P)) mu / (mu + length), where P is its share of the
    collection. We leave out the factor P, which is the same for all documents. For words that the document
    contains, Lucene's score is the logarithm of the other two factors. For other words, only
    ln(mu / (mu + length)) remains, which is added here. Like in Lucene, a word that is rarer in the document
    than in the collection adds 0.

    Args:
        score: Lucene's DirichletLM.
        title: the title's words with their frequencies.
        document: the document's words with their frequencies.
        mu: as in ``rm3``.
    """
    lacking = sum(frequency for word, frequency in title.items() if word not in document)
    return score + lacking * log(mu / (mu + document.total()))


def expansion(documents: Sequence[tuple[Weights, float]], words: int) -> Weights:
    """Returns the likeliest words with their shares: P(w|R) is the sum over documents of P(w|d) P(q|d).

    Args:
        documents: each document's word shares P(w|d), and its weight, proportional to P(q|d).
        words: the number of words.
    """
    relevance = defaultdict[str, float](float)
    for word_shares, weight in documents:
        for word, share in word_shares.items():
            relevance[word] += share * weight
    likeliest = sorted(relevance.items(), key=lambda pair: (-pair[1], pair[0]))
    return shares(dict(likeliest[:words]))


def mix(title: Weights, expansion: Weights, share: float) -> dict[str, float]:
    """Mixes two sets of weighted words; ``share`` is the title's weight."""
    words = {**title, **expansion}  # in the title's order, then the expansion's
    weights = {word: share * title.get(word, 0) + (1 - share) * expansion.get(word, 0) for word in words}
    # If the share is 0 or 1, some weights are 0. Their words would still match documents.
    return {word: weight for word, weight in weights.items() if weight}


def shares(weights: Weights) -> Weights:
    """Normalizes weights to a sum of 1; without weights, the result is empty."""
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total else {}
