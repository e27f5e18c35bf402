"""Score: BM25 and BM25F with Lucene's arithmetic, float32 with sums as double."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from touche import scan

from .fields import SETTINGS
from .match import Indexes, Matching
from .query import Bool, Boosted, Combined, Phrase, Query, Term, terms_in

K1 = np.float32(SETTINGS["bm25"]["k1"])
B = np.float32(SETTINGS["bm25"]["b"])
LENGTH_FORMATS: Mapping[str, Callable[[scan.Array], scan.Array]] = {
    "before Lucene 7": scan.before_lucene_7,
    "one byte": scan.one_byte,
}


@dataclass(frozen=True)
class Scoring:
    """Scores pages using the whole collection's statistics.

    Attributes:
        matching: the pages.
        statistics: each field's statistics.
        length_format: how the index stores lengths, a name in ``LENGTH_FORMATS``.
    """

    matching: Matching
    statistics: Mapping[str, scan.Statistics]
    length_format: str

    def scored(self, query: Query, boost: float = 1.0) -> tuple[Indexes, scan.Array]:
        """Returns the matching pages, ascending, and their scores times the boost, float32."""
        match query:
            case Boosted():
                return self.scored(query.query, float(np.float32(boost) * np.float32(query.boost)))
            case Term() | Phrase():
                return self._bm25(query, boost)
            case Combined():
                return self._bm25f(query, boost)
        # The query is a Bool or a label.
        indexes = np.flatnonzero(self.matching.matches(query))
        if isinstance(query, Bool):  # Lucene rounds both sums to float32 before adding them
            return indexes, self._sum(query.must, boost)[indexes] + self._sum(query.should, boost)[indexes]
        return indexes, np.full(len(indexes), boost, dtype=np.float32)  # a label scores 1

    def _sum(self, queries: Iterable[Query], boost: float) -> scan.Array:
        """Returns each page's score summed over the queries, as float32; 0 if no query matches."""
        total = np.zeros(len(self.matching.pages.rows))
        for query in queries:
            indexes, scores = self.scored(query, boost)
            total[indexes] += scores
        return total.astype(np.float32)

    def _bm25(self, query: Term | Phrase, boost: float) -> tuple[Indexes, scan.Array]:
        """BM25 for a term, or for a phrase, whose idf is the sum over its terms."""
        indexes, tf = self.matching.postings(query)
        terms = self._statistics_of_terms(query)
        any_term = terms[0]  # all terms come from one field and share its mean length
        lengths = self._lengths(query.field, indexes)
        return indexes, _saturate(tf.astype(np.float32), lengths, any_term, np.float32(boost) * _idf(terms))

    def explained(self, query: Query, boost: float = 1.0) -> Iterator[str]:
        """Yields a line per term or phrase that matches the first page, which is the explained one.

        Combined terms and labels have no line: each is a whole part, whose score the caller prints.
        """
        if not self.matching.matches(query)[0]:
            return
        match query:
            case Boosted():
                # Not float32 as in ``scored``, because only four digits are printed.
                yield from self.explained(query.query, boost * query.boost)
            case Bool():
                for part in (*query.must, *query.should):
                    yield from self.explained(part, boost)
            case Term() | Phrase():
                _, scores = self._bm25(query, boost)  # the first page matches, so its values come first
                indexes, tf = self.matching.postings(query)
                lengths = self._lengths(query.field, indexes)
                words = " ".join(term.term for term in terms_in(query))
                terms = self._statistics_of_terms(query)
                dfs = " + ".join(str(term.df) for term in terms)
                any_term = terms[0]  # all terms come from one field and share its mean length
                yield (
                    f"{words}: {scores[0]:.4f} by frequency {tf[0]:.4g}, "
                    f"idf {_idf(terms):.4f} (df {dfs} of {any_term.documents}), "
                    f"length {lengths[0]:.2f} (mean {any_term.mean_length:.2f})"
                )

    def _bm25f(self, query: Combined, boost: float) -> tuple[Indexes, scan.Array]:
        """BM25F (Robertson et al. 2004), which first sums weighted frequencies and lengths over fields."""
        indexes = np.flatnonzero(self.matching.matches(query))
        tf = np.zeros(len(self.matching.pages.rows), dtype=np.float32)
        lengths = np.zeros_like(tf)
        for field, weight in query.weights:
            field_indexes, field_tf = self.matching.postings(Term(field, query.term))
            tf[field_indexes] += np.float32(weight) * field_tf.astype(np.float32)
            lengths += np.float32(weight) * self._lengths(field, slice(None))  # for all pages
        term = self._combined_statistics(query)
        # Like in Lucene, the sum of stored lengths is rounded and stored again.
        stored = self._stored(np.floor(lengths[indexes] + np.float32(0.5)))
        return indexes, _saturate(tf[indexes], stored, term, np.float32(boost) * _idf([term]))

    def _lengths(self, field: str, indexes: Indexes | slice) -> scan.Array:
        """Returns a field's stored lengths in some pages."""
        return self._stored(self.matching.pages.fields[field].lengths[indexes])

    def _stored(self, lengths: scan.Array) -> scan.Array:
        """Returns lengths as the index stores them, float32. An empty field has no length."""
        stored = LENGTH_FORMATS[self.length_format](lengths.astype(np.float64))
        return np.where(lengths > 0, stored, 0).astype(np.float32)

    def _combined_statistics(self, query: Combined) -> scan.Term:
        """Returns a term's statistics over fields: greatest df and documents, weighted ttf and tokens."""
        terms = [
            (weight, self._statistics_of_term(Term(field, query.term))) for field, weight in query.weights
        ]
        return scan.Term(
            df=max(term.df for _, term in terms),
            ttf=sum(weight * term.ttf for weight, term in terms),  # unused in BM25F
            documents=max(term.documents for _, term in terms),
            tokens=sum(int(weight * term.tokens) for weight, term in terms),  # exact for whole weights
        )

    def _statistics_of_terms(self, query: Term | Phrase) -> list[scan.Term]:
        return [self._statistics_of_term(term) for term in terms_in(query)]

    def _statistics_of_term(self, term: Term) -> scan.Term:
        return self.statistics[term.field].term(self.matching.index(term))


def _idf(terms: Iterable[scan.Term]) -> np.float32:
    """Returns the sum of the terms' idf, each rounded to float32."""
    ratios = ((term.documents - term.df + 0.5) / (term.df + 0.5) for term in terms)
    return np.float32(sum(float(np.float32(log(1 + ratio))) for ratio in ratios))


def _saturate(tf: scan.Array, lengths: scan.Array, term: scan.Term, boosted_idf: np.float32) -> scan.Array:
    """Returns boosted_idf tf / (tf + k1 (1 - b + b length / mean)), in Lucene's order of operations."""
    one = np.float32(1)
    mean = np.float32(term.mean_length if len(tf) else 1)  # without documents, the mean would divide by 0
    inverse_k = one / (K1 * ((one - B) + B * lengths / mean))
    return boosted_idf - boosted_idf / (one + tf * inverse_k)
