"""The best pages for each topic, out of what was kept of a collection."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from collecting import Part, Totals, Wanted
from matching import Matching, Pages
from queries import Query, plain
from scoring import Scoring
from webpages import NUMBERS, PASSES

from touche.collection.documents import Documents
from touche.collection.parts import Parts
from touche.scan.counting import Vocabulary
from touche.scan.kernel import Array
from touche.scan.known import known_or_counted
from touche.scan.reading import read_parts
from touche.scan.statistics import Statistics


class Hit(NamedTuple):
    """A page that matches; of two the better one is the greater.

    Attributes:
        first: its score in the first query.
        id: its id.
        second: its score in the second query.
        host: its host.
    """

    first: float
    id: str
    second: float
    host: str


_Hits = Sequence[Sequence[Hit]]  # of each topic


@dataclass(frozen=True)
class Asked:
    """What is asked for a topic, in its plain form.

    Attributes:
        first: what has to match.
        second: what scores the best of these.
        among: the only pages to rank, or None.
    """

    first: Query
    second: Query
    among: frozenset[str] | None


@dataclass(frozen=True)
class Explained:
    """A page that is looked at closely.

    Attributes:
        state: ``passes``, what stops it, or that it matches no topic.
        score: its score for a query; 0 if it does not match.
    """

    state: str
    score: Callable[[Query], float]


@dataclass(frozen=True)
class Collected:
    """A collection that has been read.

    Attributes:
        asked: what is asked for each topic.
        totals: of all pages; the statistics are those of a larger collection if they are known.
        parts: the pages that match some topic, where they are kept.
        vocabularies: the terms of each field.
    """

    asked: Sequence[Asked]
    totals: Totals
    parts: Parts[Part]
    vocabularies: Mapping[str, Vocabulary]

    @classmethod
    def of(cls, documents: Documents, asked: Sequence[Asked], wanted: Wanted) -> "Collected":
        """Reads the pages, once."""
        parts, fields = read_parts(documents, wanted.reading()), wanted.vocabularies
        totals = parts.folded(Totals.nothing(fields), _with_totals, Totals.__add__)
        known = known_or_counted(documents.statistics, fields, [totals.statistics[name] for name in fields])
        statistics = dict(zip(fields, known, strict=True))
        return cls(asked, replace(totals, statistics=statistics), parts, fields)

    @property
    def tallies(self) -> Counter[str]:
        """How many pages there are, and how many of what kind."""
        return self.totals.tallies

    def ids(self) -> frozenset[str]:
        """The ids of the pages that pass the filters and match some topic."""
        return self.parts.folded(frozenset(), _with_ids, frozenset.union)

    def page(self, id: str) -> "Explained | None":
        """One page, if it was kept."""
        pages = self.parts.folded(None, _Page(id), _either)
        scoring = pages and _scoring(pages, self.totals.statistics, self.vocabularies)
        return Explained(pages.states[0], partial(_score, scoring)) if pages and scoring else None

    def best(self, spam: frozenset[str], window: int) -> Sequence[Sequence[Hit]]:
        """For each topic the best pages by the first query, best first.

        Args:
            spam: the ids of the only pages that are left out.
            window: how many pages at the most.
        """
        nothing: _Hits = [() for _ in self.asked]
        best = _Best(self.asked, spam, window, self.totals.statistics, self.vocabularies)
        return self.parts.folded(nothing, best.with_part, best.added)


@dataclass(frozen=True)
class _Best:
    """What the best pages of parts are found by; it travels to where the parts are.

    Attributes:
        asked: what is asked for each topic.
        spam: the ids of the only pages that are left out.
        window: how many pages at the most for each topic.
        statistics: of each field.
        vocabularies: likewise.
    """

    asked: Sequence[Asked]
    spam: frozenset[str]
    window: int
    statistics: Mapping[str, Statistics]
    vocabularies: Mapping[str, Vocabulary]

    def with_part(self, before: _Hits, part: Part) -> _Hits:
        """The best for each topic of those before and of one more part."""
        pages, each = part.pages, zip(self.asked, before, strict=True)
        ids = zip(pages.ids, pages.states, strict=True)
        passes = np.array([state == PASSES and id not in self.spam for id, state in ids], dtype=bool)
        return self.added(before, [self._hits(pages, asked, passes, hits) for asked, hits in each])

    def added(self, some: _Hits, others: _Hits) -> _Hits:
        """The best for each topic of both."""
        both = zip(some, others, strict=True)
        return [sorted((*one, *other), reverse=True)[: self.window] for one, other in both]

    def _hits(self, pages: Pages, asked: Asked, passes: Array, before: Sequence[Hit]) -> Sequence[Hit]:
        """The pages that may be among the best, in no order."""
        scoring = _scoring(pages, self.statistics, self.vocabularies)
        texts, first = scoring.scored(asked.first)
        if asked.among is not None:
            passes = passes & np.array([id in asked.among for id in pages.ids], dtype=bool)
        texts, first = texts[passes[texts]], first[passes[texts]]
        chosen = first >= self._least(first, before)
        second = np.zeros(len(pages.ids))
        again, scores = scoring.scored(asked.second)
        second[again] = scores
        found = zip(first[chosen].tolist(), texts[chosen].tolist(), strict=True)
        return [Hit(score, pages.ids[n], float(second[n]), pages.hosts[n]) for score, n in found]

    def _least(self, scores: Array, before: Sequence[Hit]) -> float:
        """What a page has to score to be among the best."""
        least = before[-1].first if len(before) == self.window else -np.inf
        return max(
            least, np.partition(scores, -self.window)[-self.window] if self.window < len(scores) else least
        )


@dataclass(frozen=True)
class _Page:
    """Finds one page."""

    id: str

    def __call__(self, before: Pages | None, part: Part) -> Pages | None:
        """The page, if it is in the part or was found before."""
        found = np.array([id == self.id for id in part.pages.ids], dtype=bool)
        return part.pages.only(found) if found.any() else before


def _scoring(
    pages: Pages, statistics: Mapping[str, Statistics], vocabularies: Mapping[str, Vocabulary]
) -> Scoring:
    return Scoring(Matching(pages, vocabularies), statistics, **NUMBERS["bm25"])


def _score(scoring: Scoring, query: Query) -> float:
    """The score of the only page."""
    _, scores = scoring.scored(plain(query))
    return float(scores[0]) if len(scores) else 0.0


def _either(one: Pages | None, other: Pages | None) -> Pages | None:
    return one or other


def _with_totals(before: Totals, part: Part) -> Totals:
    return before + part.totals


def _with_ids(before: frozenset[str], part: Part) -> frozenset[str]:
    pages = zip(part.pages.ids, part.pages.states, strict=True)
    return before.union(id for id, state in pages if state == PASSES)
