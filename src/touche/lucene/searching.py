"""From an index to ranked documents."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any, Self

import jpype

from touche.errors import ToucheError
from touche.lucene.analysis import stored_form, terms
from touche.lucene.java import bytes_ref, java


class Index:
    """Documents ready to be searched; made by ``touche.lucene.index``, and closed where its block ends."""

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
        self._reader, self._analyzer = reader, analyzer
        self._fields, self._vocabulary = fields, vocabulary

    def __enter__(self) -> Self:
        """The index itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Gives its memory and its threads back."""
        self.close()

    def close(self) -> None:
        """Gives its memory and its threads back; after that nothing can be asked of it."""
        self._pool.shutdown()
        self._reader.close()
        self._reader.directory().close()

    def terms(self, text: str) -> Counter[str]:
        """The terms that the analyzer makes of a text, with how often each occurs.

        Args:
            text: any.
        """
        return terms(self._analyzer, text)

    def size(self, field: str = "text") -> int:
        """The number of documents with at least one token in a field (N of the formulas).

        Args:
            field: its name.
        """
        return int(self._reader.getDocCount(field))

    def document_frequency(self, term: str, field: str = "text") -> int:
        """The number of documents with a term in a field (df of the formulas).

        Args:
            term: as ``terms`` gives it.
            field: its name.

        Raises:
            ToucheError: if the term was not in the queries that the index was made for.
        """
        self._check_known([term])
        return int(self._reader.docFreq(self._term(field, term)))

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
        """The documents with the highest scores, best first, ties by document id descending.

        Args:
            query: a text, each of whose tokens counts as often as it occurs; or weights by term.
            depth: how many documents at the most.
            among: the only documents to rank, as in re-ranking; the statistics remain the collection's.
            boosts: weights of the fields; the score of a document is the weighted sum over its fields.
            best_field: the score is that of the best field instead, as of Elasticsearch's multi_match.
            required: a field that has to have a term of the query; otherwise any may.

        Returns:
            (document id, score) for each document that has a term of the query; scores are float32 in value.

        Raises:
            ToucheError: if a term of the query was not in the queries that the index was made for.
        """
        weights = self.terms(query) if isinstance(query, str) else query
        self._check_known(weights)
        of_fields = {
            field: [self._term_query(field, term, boost * weight) for term, weight in weights.items()]
            for field in self._fields
            for boost in [(boosts or {}).get(field, 1.0)]
        }
        needed = of_fields.pop(required, None)
        others = chain.from_iterable(of_fields.values())
        if needed is not None:
            found = all_of([any_of(needed)], extra=others)
        else:
            found = best_of(map(any_of, of_fields.values())) if best_field else any_of(others)
        return self.run(found if among is None else all_of([found], filters=[having_id(among)]), depth)

    def run(self, query: Any, depth: int) -> list[tuple[str, float]]:
        """The documents with the highest scores for a query of Lucene, in the order of ``search``.

        Args:
            query: what ``any_of``, ``combined`` and the like return.
            depth: how many documents at the most.

        Raises:
            ToucheError: if the index is closed.
        """
        if self._pool.isShutdown():
            raise ToucheError("the index is closed; search it within its with block")
        top = self._searcher.search(query, depth, _by_score_then_id())
        return [(str(hit.fields[1].utf8ToString()), float(hit.fields[0])) for hit in top.scoreDocs]

    def count(self, query: Any) -> int:
        """The number of documents that match a query of Lucene.

        Args:
            query: as for ``run``.
        """
        return int(self._searcher.count(query))

    def score(self, query: Any, document: str) -> float:
        """The score of one document for a query of Lucene; 0 if it does not match.

        Args:
            query: as for ``run``.
            document: its id.
        """
        return next(
            (score for _, score in self.run(all_of([query], filters=[having_id([document])]), 1)), 0.0
        )

    def combined(self, term: str, weights: Mapping[str, float], boost: float = 1.0) -> Any:
        """A query for a term in several fields at once, by BM25F (Robertson et al. 2004).

        Args:
            term: the term.
            weights: of the term frequencies and lengths in each field, at least 1.
            boost: the weight of the term.

        Raises:
            ToucheError: if the term was not in the queries that the index was made for.
        """
        self._check_known([term])
        builder = java("org.apache.lucene.sandbox.search.CombinedFieldQuery").Builder()
        for field, weight in weights.items():
            builder.addField(field, java("java.lang.Float")(weight).floatValue())
        stored = term if self._vocabulary is None else stored_form(term)
        query = builder.addTerm(bytes_ref(stored)).build()
        return java("org.apache.lucene.search.BoostQuery")(query, boost)

    def phrase(self, field: str, terms: Iterable[str], slop: int, boost: float = 1.0) -> Any:
        """A query for terms that stand close together in a field.

        Args:
            field: one that was indexed for phrases.
            terms: the terms in their order.
            slop: by how many places they may be apart.
            boost: the weight.

        Raises:
            ToucheError: if a term was not in the queries that the index was made for.
        """
        terms = list(terms)
        self._check_known(terms)
        builder = java("org.apache.lucene.search.PhraseQuery").Builder()
        for each in terms:
            builder.add(self._term(field, each))
        query = builder.setSlop(slop).build()
        return java("org.apache.lucene.search.BoostQuery")(query, boost)

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


def having_id(ids: Iterable[str]) -> Any:
    """A query for the documents of these ids.

    Args:
        ids: of documents; some of them need not be there.
    """
    wanted = jpype.JArray(java("org.apache.lucene.util.BytesRef"))([bytes_ref(each) for each in ids])
    return java("org.apache.lucene.document.SortedDocValuesField").newSlowSetQuery("id", wanted)


def labelled(name: str, label: str, score: float = 1.0) -> Any:
    """A query for the documents with a label, all with the same score.

    Args:
        name: of a field in the ``labels`` of the index.
        label: what it is to hold, as a whole.
        score: the score of each of these documents.
    """
    term = java("org.apache.lucene.index.Term")(name, bytes_ref(label))
    query = java("org.apache.lucene.search.ConstantScoreQuery")(
        java("org.apache.lucene.search.TermQuery")(term)
    )
    return java("org.apache.lucene.search.BoostQuery")(query, score)


def all_of(
    queries: Iterable[Any],
    *,
    filters: Iterable[Any] = (),
    without: Iterable[Any] = (),
    extra: Iterable[Any] = (),
) -> Any:
    """A query for what matches all queries and filters, and nothing that is to be without.

    The scores of the queries are summed, with those of what is extra.

    Args:
        queries: all of which have to match.
        filters: all of which have to match, without adding to the score.
        without: none of which may match.
        extra: which need not match.
    """
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    clauses = java("org.apache.lucene.search.BooleanQuery").Builder()
    groups = (
        (queries, occur.MUST),
        (filters, occur.FILTER),
        (without, occur.MUST_NOT),
        (extra, occur.SHOULD),
    )
    for group, how in groups:
        for each in group:
            clauses.add(each, how)
    return clauses.build()


def any_of(queries: Iterable[Any], least: int = 1) -> Any:
    """A query for what matches at least so many of these queries, whose scores are summed.

    Args:
        queries: any of which may match.
        least: how many have to.
    """
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    clauses = java("org.apache.lucene.search.BooleanQuery").Builder()
    for each in queries:
        clauses.add(each, occur.SHOULD)
    return clauses.setMinimumNumberShouldMatch(least).build()


def best_of(queries: Iterable[Any]) -> Any:
    """A query for what matches any of these queries, whose highest score counts."""
    parts = java("java.util.ArrayList")()
    for each in queries:
        parts.add(each)
    return java("org.apache.lucene.search.DisjunctionMaxQuery")(parts, 0.0)


@cache
def _by_score_then_id() -> Any:
    """The order of trec_eval, so that a cut at any depth falls where trec_eval would make it."""
    field = java("org.apache.lucene.search.SortField")
    by_id = field("id", field.Type.STRING, True)
    return java("org.apache.lucene.search.Sort")(field.FIELD_SCORE, by_id)
