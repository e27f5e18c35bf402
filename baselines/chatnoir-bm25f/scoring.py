"""What pages score, as Lucene computes it: float32 where it does, sums as double, term after term."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from matching import Matching, Texts
from queries import All, Boosted, Combined, Phrase, Query, Some, Term

from touche.scan.kernel import Array
from touche.scan.lengths import one_byte
from touche.scan.statistics import Statistics
from touche.scan.statistics import Term as InNumbers


@dataclass(frozen=True)
class Scoring:
    """Pages that are scored by the statistics of the whole collection.

    Attributes:
        matching: the pages.
        statistics: of each field.
        k1: how slowly the weight of a term saturates with its frequency.
        b: how much the length of a field counts, from 0 to 1.
    """

    matching: Matching
    statistics: Mapping[str, Statistics]
    k1: float
    b: float

    def scored(self, query: Query, boost: float = 1.0) -> tuple[Texts, Array]:
        """The pages that match, ascending, and their scores, float32.

        Args:
            query: in its plain form.
            boost: what the score is multiplied by.
        """
        match query:
            case Boosted():
                return self.scored(query.query, float(np.float32(boost) * np.float32(query.boost)))
            case Term() | Phrase():
                return self._bm25(query, boost)
            case Combined():
                return self._bm25f(query, boost)
        texts = np.flatnonzero(self.matching.matches(query))
        if isinstance(query, All):
            return texts, self._sum(query.queries, boost)[texts] + self._sum(query.extra, boost)[texts]
        if isinstance(query, Some):
            return texts, self._sum(query.queries, boost)[texts]
        return texts, np.full(len(texts), boost, dtype=np.float32)

    def _sum(self, queries: Iterable[Query], boost: float) -> Array:
        """What each page scores for all of the queries."""
        found = np.zeros(len(self.matching.pages.ids))
        for query in queries:
            texts, scores = self.scored(query, boost)
            found[texts] += scores
        return found.astype(np.float32)

    def _bm25(self, query: Term | Phrase, boost: float) -> tuple[Texts, Array]:
        """BM25 of a term, or of a phrase, which is as rare as its terms together."""
        texts, tf = self.matching.postings(query)
        terms = (query.term,) if isinstance(query, Term) else query.terms
        known = [self._term(query.field, term) for term in terms]
        lengths = one_byte(self.matching.pages.fields[query.field].lengths[texts].astype(np.float64))
        idf = sum(float(_idf(each)) for each in known)
        mean = known[0].mean_length if len(texts) else 1.0
        return texts, self._saturated(tf.astype(np.float32), lengths, idf, mean, boost)

    def _bm25f(self, query: Combined, boost: float) -> tuple[Texts, Array]:
        """BM25F (Robertson et al. 2004): frequencies and lengths are summed over fields first."""
        texts = np.flatnonzero(self.matching.matches(query))
        tf, lengths = np.zeros((2, len(self.matching.pages.ids)), dtype=np.float32)
        for field, weight in query.weights:
            having, times = self.matching.postings(Term(field, query.term))
            tf[having] += np.float32(weight) * times.astype(np.float32)
            of_field = one_byte(self.matching.pages.fields[field].lengths.astype(np.float64))
            lengths += np.float32(weight) * of_field.astype(np.float32)
        combined = self._combined(query)
        mean = combined.mean_length if len(texts) else 1.0
        kept = one_byte(np.floor(lengths[texts].astype(np.float64) + 0.5))
        return texts, self._saturated(tf[texts], kept, float(_idf(combined)), mean, boost)

    def _combined(self, query: Combined) -> InNumbers:
        """A term in several fields: as many documents have it as in the field where most do."""
        known = [(weight, self._term(field, query.term)) for field, weight in query.weights]
        df = max(term.df for _, term in known)
        documents = max(term.documents for _, term in known)
        ttf = sum(int(weight * term.ttf) for weight, term in known)
        return InNumbers(df, ttf, documents, sum(int(weight * term.tokens) for weight, term in known))

    def _term(self, field: str, term: str) -> InNumbers:
        return self.statistics[field].term(self.matching.place(field, term))

    def _saturated(self, tf: Array, lengths: Array, idf: float, mean: float, boost: float) -> Array:
        """Boost idf tf / (tf + k1 (1 - b + b length / mean)), in the order in which Lucene computes it."""
        k1, b, one = np.float32(self.k1), np.float32(self.b), np.float32(1)
        weight = np.float32(boost) * np.float32(idf)
        inverse = one / (k1 * ((one - b) + b * lengths.astype(np.float32) / np.float32(mean)))
        found: Array = weight - weight / (one + tf * inverse)
        return found


def _idf(term: InNumbers) -> np.float32:
    return np.float32(log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5)))
