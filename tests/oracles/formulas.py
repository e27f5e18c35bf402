"""The formulas of the baselines in plain Python, written from their definitions, not from Lucene."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import e, log, log2, pi, sqrt

from touche.scan.statistics import Term


def length_in_one_byte(tokens: int) -> int:
    """Returns a length as in Lucene: below 24 exact, then 24 plus the four leading bits of the rest."""
    if tokens < 24:
        return tokens
    cut = max(0, (tokens - 24).bit_length() - 4)
    return 24 + ((tokens - 24) >> cut << cut)


class Collection:
    """Term frequencies of every document, and the statistics that follow from them."""

    def __init__(
        self,
        documents: Mapping[str, Counter[str]],
        stored_length: Callable[[int], float] = length_in_one_byte,
    ) -> None:
        self.documents = documents
        self.stored_length = stored_length
        self.df = Counter(term for terms in documents.values() for term in terms)
        self.ttf = Counter[str]()
        for terms in documents.values():
            self.ttf.update(terms)
        self.tokens = self.ttf.total()
        self.n = sum(1 for terms in documents.values() if terms)

    def dirichlet(self, query: Sequence[str], document: str, mu: float) -> float:
        terms = self.documents[document]
        length = self.stored_length(terms.total())
        score = 0.0
        for term in query:
            if tf := terms[term]:
                background = (self.ttf[term] + 1) / (self.tokens + 1)
                score += max(0.0, log(1 + tf / (mu * background)) + log(mu / (length + mu)))
        return score

    def saturation(self, tf: float, document: str, k1: float, b: float) -> float:
        length = self.stored_length(self.documents[document].total())
        return tf / (tf + k1 * (1 - b + b * length / (self.tokens / self.n)))

    def bm25(self, query: Sequence[str], document: str, k1: float, b: float) -> float:
        terms = self.documents[document]
        return sum(
            log(1 + (self.n - self.df[term] + 0.5) / (self.df[term] + 0.5))
            * self.saturation(terms[term], document, k1, b)
            for term in query
            if term in terms
        )

    def terrier_tfidf(self, query: Sequence[str], document: str, k1: float, b: float) -> float:
        """Each token of the query on its own, divided by k1 tf: 1 / (1 / k1 + relative length / tf)."""
        terms = self.documents[document]
        relative = 1 + b * (terms.total() * self.n / self.tokens - 1)
        score = 0.0
        for term in query:
            if tf := terms.get(term):
                score += (log(self.n + self.df[term]) - log(self.df[term])) / (1 / k1 + relative / tf)
        return score / log(2)

    def classic_tfidf(self, query: Sequence[str], document: str) -> float:
        terms = self.documents[document]
        length = self.stored_length(terms.total())
        return sum(
            sqrt(terms[term]) * (1 + log((self.n + 1) / (self.df[term] + 1))) / sqrt(length)
            for term in query
            if term in terms
        )

    def by_chance(self, query: Sequence[str], document: str, formula: Callable[..., float]) -> float:
        """Sums up a divergence from randomness, with exact lengths."""
        terms = self.documents[document]
        statistics = {
            term: Term(df=self.df[term], ttf=self.ttf[term], documents=self.n, tokens=self.tokens)
            for term in query
        }
        return sum(formula(terms[term], terms.total(), statistics[term]) for term in query if term in terms)


def dph(tf: float, length: float, term: Term) -> float:
    f = tf / length if tf < length else 0.99999  # as in Terrier
    avgdl = term.tokens / term.documents
    gain = tf * log2((tf * avgdl / length) * (term.documents / term.ttf)) + 0.5 * log2(2 * pi * tf * (1 - f))
    return (1 - f) * (1 - f) / (tf + 1) * gain


def dlh(tf: float, length: float, term: Term) -> float:
    f = tf / length if tf < length else 0.99999  # as in Terrier
    avgdl = term.tokens / term.documents
    gain = tf * log2((tf * avgdl / length) * (term.documents / term.ttf))
    return (gain + (length - tf) * log2(1 - f) + 0.5 * log2(2 * pi * tf * (1 - f))) / (tf + 0.5)


def pl2(tf: float, length: float, term: Term, c: float = 1) -> float:
    """In Terrier's notation."""
    tfn = tf * log2(1 + c * term.tokens / term.documents / length)
    f = term.ttf / term.documents
    gain = tfn * log2(1 / f) + f * log2(e) + 0.5 * log2(2 * pi * tfn) + tfn * (log2(tfn) - log2(e))
    return gain / (tfn + 1)
