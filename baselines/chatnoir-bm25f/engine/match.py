"""Match: reads the pages once, and keeps those that pass the filters and match a topic."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from touche import AnyDocument, as_page, scan

from .fields import Pages, Row, field_text
from .phrases import frequency
from .query import Boosted, Combined, Label, Phrase, Query, Term, terms_in

# Keys in ``Totals.tallies``, besides the filters' reasons.
PAGES = "pages"
NO_LANGUAGE = "no language"

Indexes = np.ndarray[Any, np.dtype[np.int64]]
"""Indexes of pages in a part of the collection."""


@dataclass(frozen=True)
class Matching:
    """The pages that match queries. Results are cached.

    Attributes:
        pages: the pages.
        vocabularies: each field's terms.
    """

    pages: Pages
    vocabularies: Mapping[str, scan.Vocabulary]
    # Cached results of ``matches`` and ``postings``.
    _masks: dict[Query, scan.Array] = field(default_factory=dict)
    _postings: dict[Term | Phrase, tuple[Indexes, scan.Array]] = field(default_factory=dict)

    def matches(self, query: Query) -> scan.Array:
        """Returns whether each page matches, as bool."""
        if query not in self._masks:
            self._masks[query] = self._mask(query)
        return self._masks[query]

    def postings(self, leaf: Term | Phrase) -> tuple[Indexes, scan.Array]:
        """Returns the pages with a term or phrase, ascending, and its frequency in each."""
        if leaf not in self._postings:
            if isinstance(leaf, Phrase):
                self._postings[leaf] = self._phrase_postings(leaf)
            else:
                self._postings[leaf] = self.pages.fields[leaf.field].postings(self.index(leaf))
        return self._postings[leaf]

    def index(self, term: Term) -> int:
        """Returns a term's index in its field's vocabulary."""
        return self.vocabularies[term.field].indexes[term.term]

    def _mask(self, query: Query) -> scan.Array:
        """Computes ``matches``."""
        match query:
            case Boosted():
                return self.matches(query.query)
            case Label():
                return np.array([query.name in row.labels for row in self.pages.rows], dtype=bool)
            case Combined():
                return self._match_at_least(query.terms, 1)
            case Term() | Phrase():
                indexes, _ = self.postings(query)
                mask = np.zeros(len(self.pages.rows), dtype=bool)
                mask[indexes] = True
                return mask
        # The query is a Bool.
        required = (*query.must, *query.filters)
        if required:  # then queries in should only increase the score, and there is no minimum
            mask = self._match_at_least(required, len(required))
        else:
            mask = self._match_at_least(query.should, query.minimum)
        return mask & ~self._match_at_least(query.without, 1)

    def _match_at_least(self, queries: Sequence[Query], minimum: int) -> scan.Array:
        """Returns whether each page matches at least ``minimum`` queries."""
        counts = np.zeros(len(self.pages.rows), dtype=np.int32)
        for query in queries:
            counts += self.matches(query)
        return counts >= minimum

    def _phrase_postings(self, phrase: Phrase) -> tuple[Indexes, scan.Array]:
        """Returns the pages with a phrase, ascending, and its frequency in each."""
        terms = [Term(phrase.field, term) for term in phrase.terms]
        distinct = list(dict.fromkeys(terms))
        indexes = np.flatnonzero(self._match_at_least(distinct, len(distinct)))
        positions_by_term = {term: self._positions(term, indexes) for term in distinct}
        term_indexes = [self.index(term) for term in terms]
        frequencies = []
        for row in range(len(indexes)):  # each page that contains all terms
            positions_in_page = [positions_by_term[term][row] for term in terms]
            frequencies.append(frequency(positions_in_page, term_indexes, phrase.slop))
        tf = np.array(frequencies, dtype=np.float32)
        has_phrase = tf > 0
        return indexes[has_phrase], tf[has_phrase]

    def _positions(self, term: Term, indexes: Indexes) -> list[list[int]]:
        """Returns a term's positions in each of some pages, all of which contain it."""
        counts = self.pages.fields[term.field]
        index = self.index(term)
        assert counts.positions is not None  # _Collector counts with positions
        pages_with_term, _ = counts.postings(index)
        # A posting is a term in a page. A term's postings start at its offset, in page order.
        postings = int(counts.offsets[index]) + np.searchsorted(pages_with_term, indexes)
        sizes = counts.tf[postings].tolist()
        # All postings' positions are in one array. A posting has tf positions, the last ones before
        # the sum of tf up to it. Without pages, computing this sum would be slow for nothing.
        ends = np.cumsum(counts.tf, dtype=np.int64)[postings].tolist() if sizes else []
        return [counts.positions[end - size : end].tolist() for end, size in zip(ends, sizes, strict=True)]


@dataclass(frozen=True)
class Totals:
    """Numbers of pages. You can add those of two groups.

    Attributes:
        statistics: each field's statistics.
        tallies: how many pages there are, have no language, and are removed by each filter.
    """

    statistics: Mapping[str, scan.Statistics]
    tallies: Counter[str]

    def __add__(self, other: "Totals") -> "Totals":
        statistics = {field: own + other.statistics[field] for field, own in self.statistics.items()}
        return Totals(statistics, self.tallies + other.tallies)


@dataclass(frozen=True)
class Part:
    """A part of the collection.

    Attributes:
        totals: the numbers for all its pages.
        pages: the pages that pass the filters and match a topic, and the explained page.
    """

    totals: Totals
    pages: Pages


@dataclass(frozen=True)
class Search:
    """A topic's queries.

    Attributes:
        first_query: the query that must match.
        second_query: the query that scores the best matches.
        parts: the parts of the second query's score by name.
        among: the only page ids to rank, or None.
    """

    first_query: Query
    second_query: Query
    parts: Mapping[str, Query]
    among: frozenset[str] | None


@dataclass(frozen=True)
class Collecting:
    """What to collect from the pages.

    Attributes:
        analyses: each field's analysis by name.
        searches: all topics' queries.
        explained: the id of a page to keep even if it doesn't match.
        length_format: how the index stores lengths, a name in ``score.LENGTH_FORMATS``.
    """

    analyses: Mapping[str, str]
    searches: Sequence[Search]
    explained: str
    length_format: str

    @property
    def reading(self) -> scan.Reading[Part]:
        """How to read the collection."""
        return scan.Reading(begin=partial(_Collector, self), merge=join_parts, summary=_summary)

    @cached_property
    def vocabularies(self) -> Mapping[str, scan.Vocabulary]:
        """All queries' terms by field; fields with the same analysis share a vocabulary."""
        terms = defaultdict[str, list[str]](list)  # by analysis
        for search in self.searches:
            for term in (*terms_in(search.first_query), *terms_in(search.second_query)):
                terms[self.analyses[term.field]].append(term.term)
        vocabularies = {
            analysis: scan.Vocabulary.from_terms(terms[analysis], analysis)
            for analysis in {*self.analyses.values()}
        }
        return {field: vocabularies[analysis] for field, analysis in self.analyses.items()}


class _Collector:
    """Turns documents into parts of the collection."""

    def __init__(self, collecting: Collecting) -> None:
        self._collecting = collecting
        # One per field, because fields can have different vocabularies.
        self._countings = {
            name: scan.Counting(vocabulary, {name: partial(field_text, name)}, with_positions=True)
            for name, vocabulary in collecting.vocabularies.items()
        }

    def __call__(self, documents: Sequence[AnyDocument]) -> Part:
        parsed_pages = [as_page(document) for document in documents]
        fields: dict[str, scan.Counts] = {}
        for name, counting in self._countings.items():
            (fields[name],) = counting.counts(parsed_pages)  # from its only field
        pages = Pages([Row.from_page(page) for page in parsed_pages], fields)
        statistics = {name: scan.Statistics.from_counts(counts) for name, counts in fields.items()}
        # If no filter removes a page, the reason is empty, and its count isn't used.
        tallies = Counter(row.removal_reason for row in pages.rows)
        tallies[PAGES] = len(parsed_pages)
        tallies[NO_LANGUAGE] = sum(page.language is None for page in parsed_pages)
        return Part(Totals(statistics, tallies), self._matching(pages))

    def _matching(self, pages: Pages) -> Pages:
        """Returns the pages that pass the filters and match a topic, and the explained page."""
        matching = Matching(pages, self._collecting.vocabularies)
        mask = np.zeros(len(pages.rows), dtype=bool)
        for search in self._collecting.searches:
            mask |= matching.matches(search.first_query)
        mask &= np.array([not row.removal_reason for row in pages.rows], dtype=bool)
        rows = [row._replace(matches=matches) for row, matches in zip(pages.rows, mask.tolist(), strict=True)]
        is_explained = np.array([row.id == self._collecting.explained for row in rows], dtype=bool)
        return replace(pages, rows=rows).only(mask | is_explained)


def join_parts(parts: Sequence[Part]) -> Part:
    """Joins at least one part."""
    totals = reduce(Totals.__add__, (part.totals for part in parts))
    return Part(totals, Pages.join([part.pages for part in parts]))


def _summary(parts: Sequence[Part]) -> str:
    read = sum(part.totals.tallies[PAGES] for part in parts)
    return f"{read} documents, {sum(len(part.pages.rows) for part in parts)} of them match"
