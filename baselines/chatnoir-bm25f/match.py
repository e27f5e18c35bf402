"""Match: pages are read once; those that pass the filters and match some topic are stored."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from fields import Pages, Row, text_of
from query import Boosted, Combined, Label, Phrase, Query, Term, leaves

from touche.formats.documents import AnyDocument
from touche.formats.pages import page_of
from touche.scan.counting import Counting, Vocabulary
from touche.scan.kernel import Array
from touche.scan.reading import Reading
from touche.scan.statistics import Statistics

PAGES, NO_LANGUAGE = "pages", "no language"

Texts = np.ndarray[Any, np.dtype[np.int64]]  # places of pages


@dataclass(frozen=True)
class Matching:
    """The matching of queries with pages; results are cached.

    Attributes:
        pages: the pages.
        vocabularies: the terms of each field.
    """

    pages: Pages
    vocabularies: Mapping[str, Vocabulary]
    _masks: dict[Query, Array] = field(default_factory=dict)
    _postings: dict[Term | Phrase, tuple[Texts, Array]] = field(default_factory=dict)

    def matches(self, query: Query) -> Array:
        """Returns for each page whether it matches; a bool."""
        if query not in self._masks:
            self._masks[query] = self._mask(query)
        return self._masks[query]

    def postings(self, leaf: Term | Phrase) -> tuple[Texts, Array]:
        """Returns the pages with a term or a phrase, ascending, and how often they have it."""
        if leaf not in self._postings:
            if isinstance(leaf, Phrase):
                self._postings[leaf] = self._phrase(leaf)
            else:
                self._postings[leaf] = self.pages.fields[leaf.field].of(self.place(leaf))
        return self._postings[leaf]

    def place(self, term: Term) -> int:
        """Returns the number of a term among those of its field."""
        return self.vocabularies[term.field].places[term.term]

    def _mask(self, query: Query) -> Array:
        match query:
            case Boosted():
                return self.matches(query.query)
            case Label():
                return np.array([query.name in row.labels for row in self.pages.rows], dtype=bool)
            case Combined():
                return self._some(query.terms, 1)
            case Term() | Phrase():
                found = np.zeros(len(self.pages.rows), dtype=bool)
                found[self.postings(query)[0]] = True
                return found
        required = (*query.must, *query.filters)
        found = self._some(required or query.should, len(required) or query.least)
        return found & ~self._some(query.without, 1)

    def _some(self, queries: Sequence[Query], least: int) -> Array:
        """Returns for each page whether it matches so many of the queries."""
        counts = np.zeros(len(self.pages.rows), dtype=np.int32)
        for query in queries:
            counts += self.matches(query)
        found: Array = counts >= least
        return found

    def _phrase(self, phrase: Phrase) -> tuple[Texts, Array]:
        terms = [Term(phrase.field, term) for term in phrase.terms]
        texts = np.flatnonzero(self._some([*dict.fromkeys(terms)], len({*terms})))
        places = {term: self._places(term, texts) for term in terms}
        numbers = [self.place(term) for term in terms]
        in_texts = ([places[term][n] for term in terms] for n in range(len(texts)))
        tf = np.array([frequency(each, numbers, phrase.slop) for each in in_texts], dtype=np.float32)
        return texts[tf > 0], tf[tf > 0]

    def _places(self, term: Term, texts: Texts) -> list[list[int]]:
        """Returns where a term occurs in each of some pages that have it."""
        counts, place = self.pages.fields[term.field], self.place(term)
        assert counts.places is not None
        postings = int(counts.begins[place]) + np.searchsorted(counts.of(place)[0], texts)
        sizes = counts.tf[postings].tolist()
        ends = np.cumsum(counts.tf, dtype=np.int64)[postings].tolist() if sizes else []
        return [counts.places[end - size : end].tolist() for end, size in zip(ends, sizes, strict=True)]


def frequency(places: Sequence[Sequence[int]], terms: Sequence[int], slop: int) -> float:
    """Returns how often a phrase occurs, each time counted as 1 / (1 + how far its words are apart).

    Args:
        places: where each word of the phrase occurs in the text, ascending.
        terms: which word it is, by numbers.
        slop: by how many places the words may be apart.

    Returns:
        The sum, a float32 in value.
    """
    if not slop:
        return float(len(set.intersection(*({at - n for at in word} for n, word in enumerate(places)))))
    count = np.float32(0)
    for apart in _Sloppy(places, terms).matches(slop):
        count += np.float32(1) / np.float32(1 + apart)
    return float(count)


@dataclass
class _Word:
    """A word of the phrase on its way through the text.

    Attributes:
        offset: its place in the phrase.
        number: its place among the equal words of the phrase.
        ahead: the places in the text that it has not reached, the next one last.
        here: where the phrase would begin if it were exact.
    """

    offset: int
    number: int
    ahead: list[int]
    here: int = 0

    def __lt__(self, other: "_Word") -> bool:
        return (self.here, self.offset) < (other.here, other.offset)


class _Sloppy:
    """Lucene's SloppyPhraseMatcher: the word that lags behind advances, until all are close together.

    Equal words are never at the same place: where they meet, the lesser one advances. Words also advance
    while they wait in the queue, so that their order depends on Lucene's PriorityQueue: heapq has another.
    """

    def __init__(self, places: Sequence[Sequence[int]], terms: Sequence[int]) -> None:
        self._equal: dict[int, list[_Word]] = defaultdict(list)  # by term
        self._end, self._queue, self._terms = 0, list[_Word](), terms
        words = []
        for offset, (term, in_text) in enumerate(zip(terms, places, strict=True)):
            words.append(_Word(offset, len(self._equal[term]), [*reversed(in_text)]))
            self._equal[term].append(words[-1])
        # Of equal words, the second begins at their second place, and so on.
        self._positioned = all(self._advance(word) for word in words for _ in range(1 + word.number))
        self._end = max(word.here for word in words)
        for word in words:
            self._add(word)

    def matches(self, slop: int) -> Iterator[int]:
        """Yields for each match how far its words are apart."""
        while self._positioned:
            word = self._pop()
            apart, second = self._end - word.here, self._queue[0].here
            while (advanced := self._advance_past_equals(word)) and word.here <= second:
                apart = min(apart, self._end - word.here)
            self._positioned = advanced
            if apart <= slop:
                yield apart
            self._add(word)

    def _advance_past_equals(self, word: _Word) -> bool:
        """Moves a word to its next place, and the equal words that it meets there; False at the end."""
        first, moved = word, set[int]()
        if not self._advance(word):
            return False
        while met := self._met(word):
            word = min(word, met)
            if not self._advance(word):
                return False
            if met is not first:
                moved.add(met.number)
        self._queue_again(moved)
        return True

    def _advance(self, word: _Word) -> bool:
        if not word.ahead:
            return False
        word.here = word.ahead.pop() - word.offset
        self._end = max(self._end, word.here)
        return True

    def _met(self, word: _Word) -> _Word | None:
        """Returns another of the equal words that is at the same place of the text."""
        place = word.here + word.offset
        others = (other for other in self._equal[self._terms[word.offset]] if other is not word)
        return next((other for other in others if other.here + other.offset == place), None)

    def _queue_again(self, moved: set[int]) -> None:
        """Queues words that have moved again, by number; others of that number count as they do."""
        out = []
        while moved:
            out.append(word := self._pop())
            if len(self._equal[self._terms[word.offset]]) > 1:
                moved.discard(word.number)
        for word in reversed(out):
            self._add(word)

    def _add(self, word: _Word) -> None:
        heap, at = self._queue, len(self._queue)
        heap.append(word)
        while at and heap[at] < heap[above := (at - 1) // 2]:
            heap[at], heap[above] = heap[above], heap[at]
            at = above

    def _pop(self) -> _Word:
        heap, at = self._queue, 0
        heap[0], heap[-1] = heap[-1], heap[0]
        word = heap.pop()
        while below := [n for n in (2 * at + 1, 2 * at + 2) if n < len(heap)]:
            least = min(below, key=heap.__getitem__)
            if not heap[least] < heap[at]:
                break
            heap[at], heap[least] = heap[least], heap[at]
            at = least
        return word


@dataclass(frozen=True)
class Totals:
    """Numbers of pages; the sum of two is that of all their pages.

    Attributes:
        statistics: of each field.
        tallies: how many pages there are, how many without language, and how many each filter stops.
    """

    statistics: Mapping[str, Statistics]
    tallies: Counter[str]

    def __add__(self, other: "Totals") -> "Totals":
        statistics = {field: counts + other.statistics[field] for field, counts in self.statistics.items()}
        return Totals(statistics, self.tallies + other.tallies)


@dataclass(frozen=True)
class Part:
    """A part of the collection.

    Attributes:
        totals: of all its pages.
        pages: those that pass the filters and match some topic, and the one that is explained.
    """

    totals: Totals
    pages: Pages


@dataclass(frozen=True)
class Search:
    """The queries of a topic.

    Attributes:
        first: what has to match.
        second: what scores the best of these.
        among: the only pages to rank, or None.
    """

    first: Query
    second: Query
    among: frozenset[str] | None


@dataclass(frozen=True)
class Collecting:
    """What the pages are read for.

    Attributes:
        analyses: of each field, by name.
        searches: those of all topics.
        explained: the id of a page that is stored even if it does not match.
    """

    analyses: Mapping[str, str]
    searches: Sequence[Search]
    explained: str

    @property
    def reading(self) -> Reading[Part]:
        """How the collection is read."""
        return Reading(partial(_Collector, self), joined, _summary)

    @property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The terms of each field; fields with the same analysis have the same."""
        terms = defaultdict[str, dict[str, None]](dict)
        for search in self.searches:
            for term in (*terms_of(search.first), *terms_of(search.second)):
                terms[self.analyses[term.field]][term.term] = None
        known = {each: Vocabulary.of_terms(terms[each], each) for each in self.analyses.values()}
        return {field: known[analysis] for field, analysis in self.analyses.items()}


def terms_of(query: Query) -> Iterator[Term]:
    """Yields the terms of a query."""
    for leaf in leaves(query):
        match leaf:
            case Term():
                yield leaf
            case Phrase():
                yield from (Term(leaf.field, term) for term in leaf.terms)
            case Combined():
                yield from leaf.terms


class _Collector:
    """Makes parts of the collection."""

    def __init__(self, collecting: Collecting) -> None:
        self._collecting, self._vocabularies = collecting, collecting.vocabularies
        self._countings = {
            name: Counting(vocabulary, {name: partial(text_of, name)}, placed=True)
            for name, vocabulary in self._vocabularies.items()
        }

    def __call__(self, documents: Sequence[AnyDocument]) -> Part:
        """Returns the part of the collection that these documents are."""
        read = [page_of(document) for document in documents]
        counts = {name: counting.counts(read)[0] for name, counting in self._countings.items()}
        pages = Pages([Row.of(page) for page in read], counts)
        statistics = {name: Statistics.of(counts) for name, counts in pages.fields.items()}
        tallies = Counter({PAGES: len(read), NO_LANGUAGE: sum(page.language is None for page in read)})
        tallies.update(row.stopped for row in pages.rows)
        return Part(Totals(statistics, tallies), self._matching(pages))

    def _matching(self, pages: Pages) -> Pages:
        """Returns the pages that pass the filters and match some topic, and the one that is explained."""
        matching, found = Matching(pages, self._vocabularies), np.zeros(len(pages.rows), dtype=bool)
        for search in self._collecting.searches:
            found |= matching.matches(search.first)
        found &= np.array([not row.stopped for row in pages.rows], dtype=bool)
        rows = [row._replace(matches=each) for row, each in zip(pages.rows, found.tolist(), strict=True)]
        explained = [row.id == self._collecting.explained for row in rows]
        return replace(pages, rows=rows).only(found | np.array(explained, dtype=bool))


def joined(parts: Sequence[Part]) -> Part:
    """Returns one part of several, of which there is at least one."""
    totals = reduce(Totals.__add__, (part.totals for part in parts))
    return Part(totals, Pages.joined([part.pages for part in parts]))


def _summary(parts: Sequence[Part]) -> str:
    """Returns what ``--verbose`` prints."""
    read = sum(part.totals.tallies[PAGES] for part in parts)
    return f"{read} documents, of which {sum(len(part.pages.rows) for part in parts)} match"
