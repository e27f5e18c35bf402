"""Match: reads the pages once, and keeps those that pass the filters and match a topic."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from touche import AnyDocument, as_page, scan

from .fields import Pages, Row, field_text
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


def frequency(positions: Sequence[Sequence[int]], terms: Sequence[int], slop: int) -> float:
    """Returns a phrase's frequency in a text. An occurrence counts 1 / (1 + distance of its words).

    Args:
        positions: for each word in the phrase, its ascending positions in the text.
        terms: for each word in the phrase, its term's index; equal words have the same index.
        slop: the largest distance between the words; 0 for the exact phrase.

    Returns:
        The sum over all occurrences, as float32.
    """
    if slop == 0:
        # Where the phrase would start if each word is at one of its positions.
        starts = [
            {position - offset for position in positions_of_word}
            for offset, positions_of_word in enumerate(positions)
        ]
        return float(len(set.intersection(*starts)))
    total = np.float32(0)
    for distance in _SloppyPhraseMatcher(positions, terms).matches(slop):
        total += np.float32(1) / np.float32(1 + distance)
    return float(total)


@dataclass(eq=False)
class _Word:
    """A word in the phrase, and its current position in the text.

    Attributes:
        offset: its index in the phrase.
        repetition: how many equal words come before it in the phrase.
        equal_words: all equal words in the phrase, including itself, in order.
        later: its later positions in the text, the next one last.
        start: where an exact phrase would start that has this word at its current position.
    """

    offset: int
    repetition: int
    equal_words: "list[_Word]"
    later: list[int]
    start: int = 0

    @property
    def position(self) -> int:
        return self.start + self.offset

    def __lt__(self, other: "_Word") -> bool:
        return (self.start, self.offset) < (other.start, other.offset)


class _SloppyPhraseMatcher:
    """Lucene's SloppyPhraseMatcher: the word furthest behind advances until all words are close together.

    Equal words never share a position: when they meet, the lesser word advances. Words also advance while
    they wait in the queue, so their order depends on Lucene's PriorityQueue; heapq orders them differently.
    """

    def __init__(self, positions: Sequence[Sequence[int]], terms: Sequence[int]) -> None:
        """Moves all words to their first positions. Arguments as for ``frequency``."""
        self._greatest_start = 0  # never less, because the first word's start is a position in the text
        self._queue: list[_Word] = []  # a binary heap
        words = []
        words_by_term = defaultdict[int, list[_Word]](list)
        for offset, (term, positions_of_word) in enumerate(zip(terms, positions, strict=True)):
            equal_words = words_by_term[term]
            word = _Word(
                offset=offset,
                repetition=len(equal_words),
                equal_words=equal_words,
                # The second of several equal words starts at their second position, and so on.
                later=list(reversed(positions_of_word[len(equal_words) :])),
            )
            words.append(word)
            equal_words.append(word)
        self._can_match = all(map(self._advance, words))  # False if equal words have too few positions
        for word in words:
            self._push(word)

    def matches(self, slop: int) -> Iterator[int]:
        """Yields each match's distance: its greatest minus its least start, 0 for the exact phrase.

        The word furthest behind steps on until another word is behind it. The smallest distance during these
        steps is a match's, if it's at most ``slop``.
        """
        while self._can_match:
            word = self._pop()
            distance = self._greatest_start - word.start
            next_start = self._queue[0].start  # like in Lucene, not read again when this other word moves
            self._can_match = self._advance_past_equals(word)
            # While the popped word stays furthest behind, a step makes the distance smaller, or
            # larger when an equal word moves too.
            while self._can_match and word.start <= next_start:
                distance = min(distance, self._greatest_start - word.start)
                self._can_match = self._advance_past_equals(word)
            if distance <= slop:
                yield distance
            self._push(word)

    def _advance_past_equals(self, word: _Word) -> bool:
        """Moves a word to its next position. If it meets an equal word there, the lesser one moves on.

        Returns:
            False if a word has no further position.
        """
        popped = word  # by ``matches``; the other words are in the queue
        met_repetitions: set[int] = set()  # words met in the queue, like in Lucene
        if not self._advance(word):
            return False
        while met := _equal_word_here(word):
            word = min(word, met)  # by start, then by offset
            if not self._advance(word):
                return False
            if met is not popped:
                met_repetitions.add(met.repetition)
        self._queue_again(met_repetitions)
        return True

    def _advance(self, word: _Word) -> bool:
        """Moves a word to its next position; returns False if it has none."""
        if not word.later:
            return False
        word.start = word.later.pop() - word.offset
        self._greatest_start = max(self._greatest_start, word.start)
        return True

    def _queue_again(self, repetitions: set[int]) -> None:
        """Pops words until all repetitions are out, then pushes them to their new places.

        Args:
            repetitions: the repetitions of words that were met. Like in Lucene, any repeated word with such a
                repetition counts.
        """
        popped = []
        while repetitions:
            word = self._pop()
            popped.append(word)
            if len(word.equal_words) > 1:  # it is repeated
                repetitions.discard(word.repetition)
        for word in reversed(popped):
            self._push(word)

    def _push(self, word: _Word) -> None:
        """Adds a word to the heap; it rises while its parent is greater."""
        heap = self._queue
        heap.append(word)
        index = len(heap) - 1
        while index > 0 and word < heap[(index - 1) // 2]:
            parent = (index - 1) // 2
            heap[index], heap[parent] = heap[parent], heap[index]
            index = parent

    def _pop(self) -> _Word:
        """Removes the heap's first word. The last word replaces it, and sinks below smaller ones."""
        heap = self._queue
        heap[0], heap[-1] = heap[-1], heap[0]
        word = heap.pop()
        index = 0
        while children := [child for child in (2 * index + 1, 2 * index + 2) if child < len(heap)]:
            smallest = min(children, key=lambda child: heap[child])
            if heap[index] < heap[smallest]:
                break
            heap[index], heap[smallest] = heap[smallest], heap[index]
            index = smallest
        return word


def _equal_word_here(word: _Word) -> _Word | None:
    """Returns an equal word at the same position, or None."""
    others = (other for other in word.equal_words if other is not word)
    return next((other for other in others if other.position == word.position), None)


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
        among: the only page ids to rank, or None.
    """

    first_query: Query
    second_query: Query
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
