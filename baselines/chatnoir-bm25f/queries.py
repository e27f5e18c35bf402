"""What is asked of pages, as a tree; and its plainest form, as Lucene has it before it scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Term:
    """A term in a field; scores BM25."""

    field: str
    term: str


@dataclass(frozen=True)
class Phrase:
    """Two terms or more that stand close together in a field; scores BM25.

    Attributes:
        field: the field.
        terms: the terms in their order.
        slop: by how many places they may be apart.
    """

    field: str
    terms: tuple[str, ...]
    slop: int


@dataclass(frozen=True)
class Combined:
    """A term in several fields at once; scores BM25F (Robertson et al. 2004).

    Attributes:
        term: the term.
        weights: the fields, each with the weight of its term frequencies and lengths, a whole number.
    """

    term: str
    weights: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Labelled:
    """What a page is; scores 1."""

    label: str


@dataclass(frozen=True)
class Everything:
    """Any page; scores 1."""


@dataclass(frozen=True)
class Some:
    """Several queries, of which so many match at least; scores the sum of those that do.

    Attributes:
        queries: the queries; of none, nothing matches.
        least: how many have to match.
    """

    queries: "tuple[Query, ...]"
    least: int = 1


@dataclass(frozen=True)
class All:
    """Several queries, all of which match; scores their sum.

    Attributes:
        queries: the queries.
        filters: what has to match, too, and scores nothing.
        without: what must not match.
        extra: what need not match, and adds to the score if it does.
    """

    queries: "tuple[Query, ...]"
    filters: "tuple[Query, ...]" = ()
    without: "tuple[Query, ...]" = ()
    extra: "tuple[Query, ...]" = ()


@dataclass(frozen=True)
class Boosted:
    """A query whose score is multiplied; a float32 in value, as Lucene has it."""

    query: "Query"
    boost: float


Query = Term | Phrase | Combined | Labelled | Everything | Some | All | Boosted

NOTHING = Some(())


def boosted(query: Query, boost: float) -> Query:
    """A query whose score is multiplied."""
    return Boosted(query, float(np.float32(boost)))


def plain(query: Query) -> Query:
    """The same query, whose scores are rounded where those of Lucene are: each sum to a float32.

    A sum in a sum is one, what occurs twice counts twice, and a query alone is no sum.
    """
    if isinstance(query, Boosted):
        return _plain_boosted(plain(query.query), query.boost)
    if isinstance(query, Some):
        return _plain_some([each for part in query.queries if (each := plain(part)) != NOTHING], query.least)
    return _plain_all(query) if isinstance(query, All) else query


def leaves(query: Query) -> Iterator[Term | Phrase | Combined | Labelled | Everything]:
    """What a query is made of."""
    if isinstance(query, Boosted):
        yield from leaves(query.query)
    elif isinstance(query, Some):
        yield from _leaves(query.queries)
    elif isinstance(query, All):
        yield from _leaves((*query.queries, *query.filters, *query.without, *query.extra))
    else:
        yield query


def _leaves(queries: Iterable[Query]) -> Iterator[Term | Phrase | Combined | Labelled | Everything]:
    for query in queries:
        yield from leaves(query)


def _plain_boosted(query: Query, boost: float) -> Query:
    if isinstance(query, Boosted):
        return _plain_boosted(query.query, float(np.float32(boost) * np.float32(query.boost)))
    return query if boost == 1 or query == NOTHING else Boosted(query, boost)


def _plain_some(queries: list[Query], least: int) -> Query:
    if least > 1:
        return Some(tuple(queries), least) if least <= len(queries) else NOTHING
    merged = _merged(each for query in queries for each in _in_a_sum(query))
    return merged[0] if len(merged) == 1 else Some(merged)


def _in_a_sum(query: Query) -> tuple[Query, ...]:
    return query.queries if isinstance(query, Some) and query.least == 1 else (query,)


def _plain_all(query: All) -> Query:
    queries, filters, without, extra = (
        tuple(map(plain, each)) for each in (query.queries, query.filters, query.without, query.extra)
    )
    if NOTHING in (*queries, *filters):
        return NOTHING
    without, extra = (tuple(each for each in some if each != NOTHING) for some in (without, extra))
    found = replace(query, queries=_merged(queries), filters=filters, without=without, extra=extra)
    alone = len(found.queries) == 1 and not (filters or without or extra)
    return found.queries[0] if alone else found


def _merged(queries: Iterable[Query]) -> tuple[Query, ...]:
    """The queries, each once, with the sums of their boosts."""
    boosts: dict[Query, float] = {}
    for query in queries:
        alone = query if isinstance(query, Boosted) else Boosted(query, 1.0)
        boosts[alone.query] = boosts.get(alone.query, 0.0) + alone.boost
    return tuple(_plain_boosted(query, float(np.float32(boost))) for query, boost in boosts.items())
