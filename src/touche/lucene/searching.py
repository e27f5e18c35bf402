"""From an index to ranked documents."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import jpype

from touche.errors import ToucheError
from touche.lucene.analysis import stored_form, terms
from touche.lucene.java import bytes_ref, java


class Index:
    """Documents ready to be searched; made by ``touche.lucene.index``."""

    def __init__(
        self,
        reader: Any,
        analyzer: Any,
        similarity: Any,
        fields: tuple[str, ...],
        vocabulary: frozenset[str] | None,
        threads: int,
    ) -> None:
        pool = java("java.util.concurrent.ForkJoinPool")(threads)
        self._searcher = java("org.apache.lucene.search.IndexSearcher")(reader, pool)
        self._searcher.setSimilarity(similarity)
        self._reader, self._analyzer = reader, analyzer
        self._fields, self._vocabulary = fields, vocabulary

    def terms(self, text: str) -> Counter[str]:
        """The terms that the analyzer makes of a text, with how often each occurs."""
        return terms(self._analyzer, text)

    def size(self, field: str = "text") -> int:
        """The number of documents with at least one token in a field (N of the formulas)."""
        return int(self._reader.getDocCount(field))

    def document_frequency(self, term: str, field: str = "text") -> int:
        """The number of documents with a term in a field (df of the formulas)."""
        self._check_known([term])
        return int(self._reader.docFreq(self._term(field, term)))

    def collection_probability(self, term: str, field: str = "text") -> float:
        """The share of a term in the tokens of a field, each plus 1: P(t) of DirichletLM."""
        self._check_known([term])
        occurrences = self._reader.totalTermFreq(self._term(field, term))
        return float((occurrences + 1) / (self._reader.getSumTotalTermFreq(field) + 1))

    def search(
        self,
        query: str | Mapping[str, float],
        depth: int,
        *,
        among: Iterable[str] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> list[tuple[str, float]]:
        """The documents with the highest scores, best first, ties by document id descending.

        Args:
            query: a text, each of whose tokens counts as often as it occurs; or weights by term.
            depth: how many documents at the most.
            among: the only documents to rank, as in re-ranking; the statistics remain the collection's.
            boosts: weights of the fields; the score of a document is the weighted sum over its fields.

        Returns:
            (document id, score) for each document that has a term of the query; scores are float32 in value.

        Raises:
            ToucheError: if a term of the query was not in the queries that the index was made for.
        """
        weights = self.terms(query) if isinstance(query, str) else query
        self._check_known(weights)
        clauses = java("org.apache.lucene.search.BooleanQuery").Builder()
        occur = java("org.apache.lucene.search.BooleanClause").Occur
        for field in self._fields:
            boost = (boosts or {}).get(field, 1.0)
            for term, weight in weights.items():
                clauses.add(self._term_query(field, term, boost * weight), occur.SHOULD)
        if among is not None:
            clauses.add(_id_query(among), occur.FILTER)
        clauses.setMinimumNumberShouldMatch(1)
        top = self._searcher.search(clauses.build(), depth, _by_score_then_id())
        return [(str(hit.fields[1].utf8ToString()), float(hit.fields[0])) for hit in top.scoreDocs]

    def _check_known(self, wanted: Iterable[str]) -> None:
        if self._vocabulary is not None and (unknown := set(wanted) - self._vocabulary):
            problem = f"the term {min(unknown)!r} is in none of the queries that the index was made for"
            raise ToucheError(f"{problem}; give lucene.index all queries, or none")

    def _term(self, field: str, term: str) -> Any:
        stored = term if self._vocabulary is None else stored_form(term)
        return java("org.apache.lucene.index.Term")(field, bytes_ref(stored))

    def _term_query(self, field: str, term: str, weight: float) -> Any:
        query = java("org.apache.lucene.search.TermQuery")(self._term(field, term))
        return java("org.apache.lucene.search.BoostQuery")(query, weight)


def _id_query(ids: Iterable[str]) -> Any:
    wanted = jpype.JArray(java("org.apache.lucene.util.BytesRef"))([bytes_ref(each) for each in ids])
    return java("org.apache.lucene.document.SortedDocValuesField").newSlowSetQuery("id", wanted)


@cache
def _by_score_then_id() -> Any:
    """The order of trec_eval, so that a cut at any depth falls where trec_eval would make it."""
    field = java("org.apache.lucene.search.SortField")
    by_id = field("id", field.Type.STRING, True)
    return java("org.apache.lucene.search.Sort")(field.FIELD_SCORE, by_id)
