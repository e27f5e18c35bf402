"""Searches an index for ranked documents."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any, Self

import jpype

from touche.errors import ToucheError
from touche.lucene.analysis import stored_form, tokens
from touche.lucene.java import bytes_ref, java
from touche.trec.runs import with_unmatched


class Index:
    """An index that can be searched; ``touche.lucene.index`` makes it, and its ``with`` block closes it.

    ``vocabulary`` contains all terms that the index distinguishes; None means that it distinguishes all.
    """

    def __init__(
        self,
        reader: Any,
        analyzer: Any,
        similarity: Any,
        fields: tuple[str, ...],
        vocabulary: frozenset[str] | None,
        threads: int,
    ) -> None:
        self._pool = java("java.util.concurrent.ForkJoinPool")(threads)
        self._searcher = java("org.apache.lucene.search.IndexSearcher")(reader, self._pool)
        self._searcher.setSimilarity(similarity)
        self._reader = reader
        self._analyzer = analyzer
        self._fields = fields
        self._vocabulary = vocabulary

    def __enter__(self) -> Self:
        """The index itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Releases memory and threads."""
        self.close()

    def close(self) -> None:
        """Releases memory and threads; the index cannot be used any more."""
        self._pool.shutdown()
        self._reader.close()
        self._reader.directory().close()

    def terms(self, text: str) -> Counter[str]:
        """Returns the terms of a text with their frequencies.

        Args:
            text: the text.
        """
        return Counter(tokens(self._analyzer, text))

    def search(
        self,
        query: str | Mapping[str, float],
        depth: int,
        *,
        among: Iterable[str] | None = None,
        boosts: Mapping[str, float] | None = None,
        best_field: bool = False,
        required: str = "",
    ) -> list[tuple[str, float]]:
        """Returns the documents with the highest scores, best first, ties by document id descending.

        Args:
            query: a text, each of whose tokens counts as often as it occurs; or weights by term.
            depth: the largest number of documents.
            among: ids of the only documents to rank, for re-ranking; statistics stay those of the collection.
                Documents without a term of the query are last.
            boosts: weights of the fields; the score of a document is the weighted sum over its fields.
            best_field: use the score of the best field instead of the sum, as in Elasticsearch's multi_match;
                then ``required`` has no effect.
            required: a field that has to contain a term of the query; by default any field may.

        Returns:
            (document id, score) for each document with a term of the query, and for each document in
            ``among``; scores are float32 values.

        Raises:
            ToucheError: if the index was built for queries without one of these terms.
        """
        weights = self.terms(query) if isinstance(query, str) else query
        self._check_known(weights)
        boosts = boosts or {}
        term_queries = {
            field: self._term_queries(field, weights, boosts.get(field, 1.0)) for field in self._fields
        }
        if best_field:
            disjunctions = [_disjunction(queries) for queries in term_queries.values()]
            weight_of_others = 0.0  # of the scores of the fields that are not the best
            matching = java("org.apache.lucene.search.DisjunctionMaxQuery")(disjunctions, weight_of_others)
        elif required in term_queries:
            in_required_field = _disjunction(term_queries.pop(required))
            in_other_fields = chain.from_iterable(term_queries.values())
            matching = _boolean_query([in_required_field], optional=in_other_fields)
        else:
            matching = _disjunction(chain.from_iterable(term_queries.values()))
        if among is None:
            return self._top_hits(matching, depth)
        # Ids are not indexed, but only stored to sort by them. So this query is slow for a large index.
        refs = jpype.JArray(java("org.apache.lucene.util.BytesRef"))([bytes_ref(id) for id in among])
        candidates = java("org.apache.lucene.document.SortedDocValuesField").newSlowSetQuery("id", refs)
        hits = self._top_hits(_boolean_query([matching], filters=[candidates]), depth)
        matched = {id for id, _ in hits}
        # Without a query all scores are equal, so these are the candidates with the highest ids. At most
        # len(hits) of these are hits, so the others fill the list up to the depth, if there are as many.
        by_id = self._top_hits(_boolean_query([], filters=[candidates]), depth)
        unmatched = [id for id, _ in by_id if id not in matched]
        return with_unmatched(hits, unmatched, depth)

    def _top_hits(self, query: Any, depth: int) -> list[tuple[str, float]]:
        """Returns id and score of the best documents, best first."""
        if self._pool.isShutdown():
            raise ToucheError("the index is closed; search it within its with block")
        top = self._searcher.search(query, depth, _by_score_then_id())
        # The fields of a hit are the values that sorted it: score and id.
        return [(str(hit.fields[1].utf8ToString()), float(hit.fields[0])) for hit in top.scoreDocs]

    def _check_known(self, terms: Iterable[str]) -> None:
        """Raises ToucheError for a term that the index does not distinguish from others."""
        unknown = set() if self._vocabulary is None else set(terms) - self._vocabulary
        if unknown:
            # The first in the alphabet, because the order of a set differs between processes.
            problem = f"the index was built for queries without the term {min(unknown)!r}"
            raise ToucheError(f"{problem}; pass all queries to lucene.index, or none")

    def _term(self, field: str, term: str) -> Any:
        """Returns Lucene's term, in the form in which this index stores it."""
        stored = term if self._vocabulary is None else stored_form(term)
        return java("org.apache.lucene.index.Term")(field, bytes_ref(stored))

    def _term_queries(self, field: str, weights: Mapping[str, float], boost: float) -> list[Any]:
        """Returns a query for each term in a field; its scores are multiplied by boost and weight."""
        term_query = java("org.apache.lucene.search.TermQuery")
        weighted = java("org.apache.lucene.search.BoostQuery")
        return [
            weighted(term_query(self._term(field, term)), boost * weight) for term, weight in weights.items()
        ]


def _boolean_query(required: Iterable[Any], filters: Iterable[Any] = (), optional: Iterable[Any] = ()) -> Any:
    """Returns a query that adds up the scores of all queries except filters, which have none.

    A document has to match all required queries and all filters. Without these, it has to match at least one
    optional query.
    """
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    clauses = java("org.apache.lucene.search.BooleanQuery").Builder()
    for occurrence, queries in ((occur.MUST, required), (occur.FILTER, filters), (occur.SHOULD, optional)):
        for query in queries:
            clauses.add(query, occurrence)
    return clauses.build()


def _disjunction(queries: Iterable[Any]) -> Any:
    """Returns a query that requires one of these queries, and adds up their scores."""
    return _boolean_query([], optional=queries)


@cache
def _by_score_then_id() -> Any:
    """Returns the order of trec_eval, in which the list is cut at the depth."""
    sort_field = java("org.apache.lucene.search.SortField")
    is_descending = True
    by_id = sort_field("id", sort_field.Type.STRING, is_descending)
    return java("org.apache.lucene.search.Sort")(sort_field.FIELD_SCORE, by_id)
