"""Which pages match a query, which does not depend on the collection."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from phrases import frequency
from queries import All, Boosted, Combined, Everything, Labelled, Phrase, Query, Some, Term, leaves

from touche.scan.counting import Vocabulary, joined_counts
from touche.scan.kernel import Array, Counts

Texts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Pages:
    """Some pages, and how often and where they have the terms that are asked for.

    Attributes:
        ids: of the pages.
        hosts: likewise; empty where unknown.
        states: ``passes``, or what stops the page.
        labels: for each label which pages have it.
        fields: what was counted in each field.
    """

    ids: Sequence[str]
    hosts: Sequence[str]
    states: Sequence[str]
    labels: Mapping[str, Array]
    fields: Mapping[str, Counts]

    def only(self, kept: Array) -> "Pages":
        """Some of the pages."""
        chosen = np.flatnonzero(kept).tolist()
        ids, hosts, states = ([each[n] for n in chosen] for each in (self.ids, self.hosts, self.states))
        labels = {label: having[kept] for label, having in self.labels.items()}
        return Pages(
            ids, hosts, states, labels, {name: counts.only(kept) for name, counts in self.fields.items()}
        )

    @classmethod
    def joined(cls, parts: "Sequence[Pages]") -> "Pages":
        """The pages of several parts."""
        ids, hosts, states = (
            list(chain.from_iterable(each))
            for each in zip(*((part.ids, part.hosts, part.states) for part in parts), strict=True)
        )
        labels = {name: np.concatenate([part.labels[name] for part in parts]) for name in parts[0].labels}
        fields = {name: joined_counts([part.fields[name] for part in parts]) for name in parts[0].fields}
        return cls(ids, hosts, states, labels, fields)


def vocabularies_of(queries: Iterable[Query], analyses: Mapping[str, str]) -> dict[str, Vocabulary]:
    """The terms of each field; fields with the same analysis have the same.

    Args:
        queries: all that will be asked.
        analyses: of each field, by name.
    """
    terms: dict[str, dict[str, None]] = {analysis: {} for analysis in analyses.values()}
    for leaf in (each for query in queries for each in leaves(query)):
        for name, term in _terms_of(leaf):
            terms[analyses[name]][term] = None
    known = {
        analysis: Vocabulary(analysis, {term: place for place, term in enumerate(of_analysis)})
        for analysis, of_analysis in terms.items()
    }
    return {name: known[analysis] for name, analysis in analyses.items()}


def _terms_of(leaf: Query) -> list[tuple[str, str]]:
    """The terms of a leaf, each with its field."""
    if isinstance(leaf, Combined):
        return [(name, leaf.term) for name, _ in leaf.weights]
    if isinstance(leaf, Phrase):
        return [(leaf.field, term) for term in leaf.terms]
    return [(leaf.field, leaf.term)] if isinstance(leaf, Term) else []


@dataclass(frozen=True)
class Matching:
    """Pages that are asked for; what is known of a query is remembered.

    Attributes:
        pages: the pages.
        vocabularies: the terms of each field.
    """

    pages: Pages
    vocabularies: Mapping[str, Vocabulary]
    _matches: dict[Query, Array] = field(default_factory=dict)
    _phrases: dict[Phrase, tuple[Texts, Array]] = field(default_factory=dict)

    def matches(self, query: Query) -> Array:
        """For each page, whether it matches; a bool."""
        if query not in self._matches:
            self._matches[query] = self._found(query)
        return self._matches[query]

    def postings(self, leaf: Term | Phrase) -> tuple[Texts, Array]:
        """The pages that have a term or a phrase, ascending, and how often."""
        if isinstance(leaf, Term):
            return self.pages.fields[leaf.field].of(self.place(leaf.field, leaf.term))
        if leaf not in self._phrases:
            self._phrases[leaf] = self._phrase(leaf)
        return self._phrases[leaf]

    def place(self, name: str, term: str) -> int:
        """The number of a term of a field."""
        return self.vocabularies[name].places[term]

    def _found(self, query: Query) -> Array:
        match query:
            case Boosted():
                return self.matches(query.query)
            case Labelled():
                return self.pages.labels[query.label]
            case Everything():
                return np.ones(len(self.pages.ids), dtype=bool)
            case Some():
                return self._some(query.queries, query.least)
            case All():
                required = (*query.queries, *query.filters)
                return self._some(required, len(required)) & ~self._some(query.without, 1)
            case Combined():
                return self._some([Term(name, query.term) for name, _ in query.weights], 1)
        return self._mask(self.postings(query)[0])

    def _some(self, queries: Sequence[Query], least: int) -> Array:
        """The pages that match so many of the queries."""
        masks = (self.matches(query) for query in queries)
        if least == 1:
            return reduce(np.logical_or, masks, np.zeros(len(self.pages.ids), dtype=bool))
        found: Array = sum(masks, np.zeros(len(self.pages.ids), dtype=np.int32)) >= least
        return found

    def _mask(self, texts: Array) -> Array:
        found = np.zeros(len(self.pages.ids), dtype=bool)
        found[texts] = True
        return found

    def _phrase(self, phrase: Phrase) -> tuple[Texts, Array]:
        """The pages with a phrase, looked for in those with all of its terms."""
        terms = [self.place(phrase.field, term) for term in phrase.terms]
        having = self._some([Term(phrase.field, term) for term in dict.fromkeys(phrase.terms)], len({*terms}))
        texts = np.flatnonzero(having)
        places = {term: self._places(phrase.field, term, texts) for term in terms}
        counted = [
            frequency([places[term][n] for term in terms], terms, phrase.slop) for n in range(len(texts))
        ]
        found = np.array(counted, dtype=np.float32)
        return texts[found > 0], found[found > 0]

    def _places(self, name: str, term: int, texts: Texts) -> list[list[int]]:
        """Where a term stands in each of some pages that have it."""
        counts = self.pages.fields[name]
        assert counts.places is not None
        having, _ = counts.of(term)
        postings = int(counts.begins[term]) + np.searchsorted(having, texts)
        ends = np.cumsum(counts.tf, dtype=np.int64)[postings].tolist() if len(texts) else []
        sizes = counts.tf[postings].tolist()
        return [counts.places[end - size : end].tolist() for end, size in zip(ends, sizes, strict=True)]
