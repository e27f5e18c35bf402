"""Rescore: the second query scores the first query's best pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from touche import Documents, scan

from .fields import Pages
from .match import Collecting, Matching, Part, Search, Totals
from .score import Scoring

PER_PAGE = 10  # results on a page of ChatNoir's website


class Hit(NamedTuple):
    """A matching page. Pages compare as tuples, so a greater first score wins.

    Attributes:
        first_score: the first query's score.
        id: the id.
        second_score: the second query's score; 0 if the page doesn't match it.
        host: the host.
    """

    first_score: float
    id: str
    second_score: float
    host: str


Hits = Sequence[Sequence[Hit]]  # for each topic


@dataclass(frozen=True)
class Collection:
    """A collection that has been read.

    Attributes:
        collecting: what was collected from the pages.
        totals: numbers over all pages, or the whole collection's statistics from a file.
        parts: the pages that match a topic.
    """

    collecting: Collecting
    totals: Totals
    parts: scan.Parts[Part]

    @classmethod
    def read(cls, documents: Documents, collecting: Collecting) -> "Collection":
        """Reads the pages once."""
        parts = scan.read_parts(documents, collecting.reading)
        vocabularies = collecting.vocabularies
        counted_totals = parts.combined(lambda part: part.totals, Totals.__add__)
        counted_statistics = [counted_totals.statistics[field] for field in vocabularies]
        # A file of statistics replaces the counted statistics.
        statistics = scan.known_or_counted(documents.statistics, vocabularies, counted_statistics)
        totals = replace(counted_totals, statistics=dict(zip(vocabularies, statistics, strict=True)))
        return cls(collecting, totals, parts)

    def ids(self) -> frozenset[str]:
        """Returns the ids of the pages that pass the filters and match a topic."""
        return self.parts.combined(
            lambda part: frozenset(row.id for row in part.pages.rows if row.matches), or_
        )

    def page(self, id: str) -> Scoring | None:
        """Returns a scoring of one stored page alone; None if the page is missing."""

        def page_in(part: Part) -> Pages | None:
            """Returns the page if it is in this part."""
            mask = np.array([row.id == id for row in part.pages.rows], dtype=bool)
            return part.pages.only(mask) if mask.any() else None

        pages = self.parts.combined(page_in, lambda one, other: one or other)
        return None if pages is None else scoring(self.collecting, self.totals, pages)

    def best(self, spam: frozenset[str], window: int) -> Hits:
        """Returns each topic's best pages for the first query, best first.

        Args:
            spam: the ids of pages to leave out.
            window: the largest number of pages.
        """
        # Not methods, because functions are sent to the workers that hold the parts.
        best_of_part = partial(_best_of_part, self.collecting, self.totals, spam, window)
        return self.parts.combined(best_of_part, partial(_merge, window))


def scoring(collecting: Collecting, totals: Totals, pages: Pages) -> Scoring:
    """Returns a scoring of pages by the whole collection's statistics."""
    return Scoring(Matching(pages, collecting.vocabularies), totals.statistics, collecting.length_format)


def _best_of_part(
    collecting: Collecting, totals: Totals, spam: frozenset[str], window: int, part: Part
) -> Hits:
    """Returns each topic's best pages in a part."""
    rows = part.pages.rows
    can_rank = np.array([row.matches and row.id not in spam for row in rows], dtype=bool)
    scoring_of_part = scoring(collecting, totals, part.pages)
    hits = (_hits(scoring_of_part, search, can_rank, window) for search in collecting.searches)
    return [sorted(hits_of_topic, reverse=True)[:window] for hits_of_topic in hits]


def _merge(window: int, some: Hits, others: Hits) -> Hits:
    """Returns each topic's best pages from both."""
    pairs = zip(some, others, strict=True)  # the hits of each topic
    return [sorted((*hits, *other_hits), reverse=True)[:window] for hits, other_hits in pairs]


def _hits(scoring: Scoring, search: Search, can_rank: scan.Array, window: int) -> list[Hit]:
    """Returns a part's pages that may be among the best, in any order.

    Args:
        scoring: the scoring of the part's pages.
        search: the topic's queries.
        can_rank: a boolean per page: whether it matches a topic and isn't spam.
        window: the largest number of a topic's pages.
    """
    rows = scoring.matching.pages.rows
    if search.among is not None:
        can_rank = can_rank & np.array([row.id in search.among for row in rows], dtype=bool)
    indexes, first_scores = scoring.scored(search.first_query)
    is_kept = can_rank[indexes]  # for each matching page
    indexes = indexes[is_kept]
    first_scores = first_scores[is_kept]
    if len(first_scores) > window:  # pages with a lower score than the last one's can't be among the best
        is_useful = first_scores >= np.partition(first_scores, -window)[-window]
        indexes = indexes[is_useful]
        first_scores = first_scores[is_useful]
    second_indexes, scores = scoring.scored(search.second_query)
    second_scores = np.zeros(len(rows))  # per page of the part; 0 if it doesn't match
    second_scores[second_indexes] = scores
    return [
        Hit(
            first_score=first_score,
            id=rows[index].id,
            second_score=float(second_scores[index]),
            host=rows[index].host,
        )
        for first_score, index in zip(first_scores.tolist(), indexes.tolist(), strict=True)
    ]


def scored(hits: Iterable[Hit], settings: Mapping[str, Any]) -> list[tuple[Hit, float]]:
    """Returns pages with the weighted sums of their two scores, best first.

    Args:
        hits: the pages.
        settings: a year's settings in chatnoir.toml, which contain both queries' weights.
    """
    first_weight = settings["match_weight"]
    second_weight = settings["rescore_weight"]
    scores = [(hit, first_weight * hit.first_score + second_weight * hit.second_score) for hit in hits]
    return sorted(scores, key=lambda pair: (pair[1], pair[0].id), reverse=True)


def grouped(ranked: Sequence[tuple[Hit, float]]) -> list[tuple[str, float]]:
    """Returns a ranking as ChatNoir shows it: on each page of ten, a host's results follow its best one.

    The new scores only express this order.
    """
    shown: list[str] = []
    for start in range(0, len(ranked), PER_PAGE):
        hosts: dict[str, list[str]] = {}  # each host's ids, in the order of the hosts' best pages
        for hit, _ in ranked[start : start + PER_PAGE]:
            hosts.setdefault(hit.host or hit.id, []).append(hit.id)  # a page without a host is alone
        shown += [id for group in hosts.values() for id in group]
    return [(id, float(len(shown) - rank)) for rank, id in enumerate(shown)]
