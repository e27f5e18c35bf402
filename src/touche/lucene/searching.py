"""Searches an index."""

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
    """A searchable index, from ``touche.lucene.index``. Its ``with`` block closes it.

    ``vocabulary`` lists the terms that the index distinguishes; None means all terms.
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
        """Frees memory and threads."""
        self.close()

    def close(self) -> None:
        """Frees memory and threads. You can't use the index afterwards."""
        self._pool.shutdown()
        self._reader.close()
        self._reader.directory().close()

    def terms(self, text: str) -> Counter[str]:
        """Returns a text's terms with their frequencies.

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
        """Returns the documents with the highest scores, best first. Ties are ordered by descending document
        id.

        Args:
            query: a text, whose tokens count as often as they occur, or weights by term.
            depth: the maximum number of documents.
            among: ids of the only documents to rank, for re-ranking. Statistics are still the collection's.
                Documents without a query term come last.
            boosts: the fields' weights; a document's score is the weighted sum over its fields.
            best_field: use the best field's score instead of the sum, like Elasticsearch's multi_match;
                ``required`` then has no effect.
            required: a field that must contain a query term; any field by default.

        Returns:
            (document id, score) for each document with a query term, and for each document in ``among``.
            Scores are float32 values.

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
            weight_of_others = 0.0  # for fields other than the best
            matching = java("org.apache.lucene.search.DisjunctionMaxQuery")(disjunctions, weight_of_others)
        elif required in term_queries:
            in_required_field = _disjunction(term_queries.pop(required))
            in_other_fields = chain.from_iterable(term_queries.values())
            matching = _boolean_query([in_required_field], optional=in_other_fields)
        else:
            matching = _disjunction(chain.from_iterable(term_queries.values()))
        if among is None:
            return self._top_hits(matching, depth)
        # Ids are stored for sorting, but not indexed, so this query is slow on large indexes.
        refs = jpype.JArray(java("org.apache.lucene.util.BytesRef"))([bytes_ref(id) for id in among])
        candidates = java("org.apache.lucene.document.SortedDocValuesField").newSlowSetQuery("id", refs)
        hits = self._top_hits(_boolean_query([matching], filters=[candidates]), depth)
        matched = {id for id, _ in hits}
        # Without a query, all scores are equal, so these are the candidates with the highest ids. At
        # most len(hits) of them are hits, so the others fill the list up to the depth if there are
        # enough.
        by_id = self._top_hits(_boolean_query([], filters=[candidates]), depth)
        unmatched = [id for id, _ in by_id if id not in matched]
        return with_unmatched(hits, unmatched, depth)

    def _top_hits(self, query: Any, depth: int) -> list[tuple[str, float]]:
        """Returns the best documents' ids and scores, best first."""
        if self._pool.isShutdown():
            raise ToucheError("the index is closed; search it within its with block")
        top = self._searcher.search(query, depth, _by_score_then_id())
        # A hit's fields are what it was sorted by: score and id.
        return [(str(hit.fields[1].utf8ToString()), float(hit.fields[0])) for hit in top.scoreDocs]

    def _check_known(self, terms: Iterable[str]) -> None:
        """Raises a ToucheError for a term that the index doesn't distinguish."""
        unknown = set() if self._vocabulary is None else set(terms) - self._vocabulary
        if unknown:
            # The alphabetically first, because a set's order differs between processes.
            problem = f"the index was built for queries without the term {min(unknown)!r}"
            raise ToucheError(f"{problem}; pass all queries to lucene.index, or none")

    def _term(self, field: str, term: str) -> Any:
        """Returns a Lucene term in the form that this index stores."""
        stored = term if self._vocabulary is None else stored_form(term)
        return java("org.apache.lucene.index.Term")(field, bytes_ref(stored))

    def _term_queries(self, field: str, weights: Mapping[str, float], boost: float) -> list[Any]:
        """Returns a query per term in a field, whose scores are multiplied by boost and weight."""
        term_query = java("org.apache.lucene.search.TermQuery")
        weighted = java("org.apache.lucene.search.BoostQuery")
        return [
            weighted(term_query(self._term(field, term)), boost * weight) for term, weight in weights.items()
        ]


def _boolean_query(required: Iterable[Any], filters: Iterable[Any] = (), optional: Iterable[Any] = ()) -> Any:
    """Returns a query that adds up the scores of all queries but filters, which have none.

    Documents must match all required queries and all filters. If there are none, they must match an optional
    query.
    """
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    clauses = java("org.apache.lucene.search.BooleanQuery").Builder()
    for occurrence, queries in ((occur.MUST, required), (occur.FILTER, filters), (occur.SHOULD, optional)):
        for query in queries:
            clauses.add(query, occurrence)
    return clauses.build()


def _disjunction(queries: Iterable[Any]) -> Any:
    """Returns a query that requires one of these queries and adds up their scores."""
    return _boolean_query([], optional=queries)


@cache
def _by_score_then_id() -> Any:
    """Returns trec_eval's order, in which the list is cut at the depth."""
    sort_field = java("org.apache.lucene.search.SortField")
    is_descending = True
    by_id = sort_field("id", sort_field.Type.STRING, is_descending)
    return java("org.apache.lucene.search.Sort")(sort_field.FIELD_SCORE, by_id)
