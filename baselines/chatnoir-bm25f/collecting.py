"""One reading of the pages: statistics of all, and what scoring needs of those that match some topic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Self

import numpy as np
from matching import Matching, Pages, vocabularies_of
from queries import Query
from webpages import LABELS, PASSES, fields_of, filtered

from touche.formats.documents import AnyDocument
from touche.scan.counting import Counting, Vocabulary
from touche.scan.kernel import Array, Counts
from touche.scan.reading import Reading
from touche.scan.statistics import Statistics
from touche.web.page import Page, page_of

PAGES, NO_LANGUAGE = "pages", "without language"  # beside what the filters stop
UNMATCHED = "does not match"


@dataclass(frozen=True)
class Totals:
    """Some pages in numbers; the sum of two is that of all their pages.

    Attributes:
        statistics: of each field.
        tallies: how many pages there are, how many without language, and how many the filters stop, by why.
    """

    statistics: Mapping[str, Statistics]
    tallies: Counter[str]

    def __add__(self, other: "Totals") -> "Totals":
        """Those of the pages of both."""
        statistics = {field: each + other.statistics[field] for field, each in self.statistics.items()}
        return Totals(statistics, self.tallies + other.tallies)

    @classmethod
    def nothing(cls, vocabularies: Mapping[str, Vocabulary]) -> "Totals":
        """Those of no pages."""
        sizes = {field: len(vocabulary.places) for field, vocabulary in vocabularies.items()}
        zeros = {field: np.zeros((2, size), dtype=np.int64) for field, size in sizes.items()}
        return cls({field: Statistics(0, 0, *each) for field, each in zeros.items()}, Counter())


@dataclass(frozen=True)
class Part:
    """What is kept of some pages.

    Attributes:
        totals: of all of them.
        pages: those that match some topic.
    """

    totals: Totals
    pages: Pages


@dataclass(frozen=True)
class Wanted:
    """What pages are read for.

    Attributes:
        analyses: of each field, by name.
        queries: the first query of each topic, in its plain form; pages that match one are kept.
        asked: all that will be asked; only its terms are counted.
        explained: the id of a page that is kept anyway.
    """

    analyses: Mapping[str, str]
    queries: Sequence[Query]
    asked: Sequence[Query]
    explained: str

    def reading(self) -> Reading[Part]:
        """How the collection is read."""
        return Reading(partial(_Collecting, self), joined, _told)

    @property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The terms of each field."""
        return vocabularies_of(self.asked, self.analyses)


class _Collecting:
    """Makes parts of pages."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted, self._vocabularies, self._open = wanted, wanted.vocabularies, ExitStack()
        by_analysis = sorted(wanted.analyses, key=wanted.analyses.__getitem__)
        self._countings = {
            tuple(fields): Counting(self._vocabularies[fields[0]], fields_of(fields), placed=True)
            for _, each in groupby(by_analysis, key=wanted.analyses.__getitem__)
            for fields in [list(each)]
        }

    def __enter__(self) -> Self:
        """Itself."""
        for counting in self._countings.values():
            self._open.enter_context(counting)
        return self

    def __exit__(self, *error: Any) -> None:
        """Gives its memory back."""
        self._open.close()

    def part(self, documents: Sequence[AnyDocument]) -> Part:
        """What is kept of these documents."""
        read = [page_of(document) for document in documents]
        pages = self._pages(read)
        matching = self._matching(pages)
        explained = np.array([id == self._wanted.explained for id in pages.ids], dtype=bool)
        statistics = {field: Statistics.of(counts) for field, counts in pages.fields.items()}
        tallies = Counter({PAGES: len(read), NO_LANGUAGE: sum(page.language is None for page in read)})
        tallies.update(pages.states)
        return Part(Totals(statistics, tallies), _marked(pages, matching).only(matching | explained))

    def _pages(self, pages: Sequence[Page]) -> Pages:
        fields: dict[str, Counts] = {}
        for names, counting in self._countings.items():
            fields |= zip(names, counting.counts(pages), strict=True)
        labels = {name: np.array([*map(has, pages)], dtype=bool) for name, has in LABELS.items()}
        hosts = [page.host or "" for page in pages]
        return Pages([page.id for page in pages], hosts, [*map(filtered, pages)], labels, fields)

    def _matching(self, pages: Pages) -> Array:
        """Which of the pages pass and match some topic."""
        found, matching = np.zeros(len(pages.ids), dtype=bool), Matching(pages, self._vocabularies)
        for query in self._wanted.queries:
            found |= matching.matches(query)
        found &= np.array([state == PASSES for state in pages.states], dtype=bool)
        return found


def _marked(pages: Pages, matching: Array) -> Pages:
    """Pages of which those that pass and match no topic are marked."""
    states = [
        UNMATCHED if state == PASSES and not matches else state
        for state, matches in zip(pages.states, matching.tolist(), strict=True)
    ]
    return replace(pages, states=states)


def joined(parts: Sequence[Part]) -> Part:
    """What is kept of the pages of several parts, of which there is one at the least."""
    totals = parts[0].totals
    for part in parts[1:]:
        totals += part.totals
    return Part(totals, Pages.joined([part.pages for part in parts]))


def _told(parts: Sequence[Part]) -> str:
    """What ``--verbose`` says."""
    read = sum(part.totals.tallies[PAGES] for part in parts)
    return f"{read} documents, of which {sum(len(part.pages.ids) for part in parts)} match"
