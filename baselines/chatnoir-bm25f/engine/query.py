"""Queries: trees of terms, phrases and labels, and the syntax that ChatNoir reads titles with.

Queries have the form that Lucene rewrites them to before scoring: sums in a sum are merged, a query that
occurs twice counts twice, and a sum with one query becomes this query. Scores are rounded to float32 at each
node in this form.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from .fields import ANY


@dataclass(frozen=True)
class Term:
    """A term in a field; scores BM25."""

    field: str
    term: str


@dataclass(frozen=True)
class Phrase:
    """Two or more terms close together in a field; scores BM25.

    Attributes:
        field: the field.
        terms: the terms in order.
        slop: the largest distance between the terms.
    """

    field: str
    terms: tuple[str, ...]
    slop: int


@dataclass(frozen=True)
class Combined:
    """A term in several fields at once; scores BM25F (Robertson et al. 2004).

    Attributes:
        term: the term.
        weights: the fields, with whole numbers that weight their term frequencies and lengths.
    """

    term: str
    weights: tuple[tuple[str, float], ...]

    @property
    def terms(self) -> list[Term]:
        """The term in each field."""
        return [Term(field, self.term) for field, _ in self.weights]


@dataclass(frozen=True)
class Label:
    """A page's property, by its name in ``LABELS``; scores 1."""

    name: str


@dataclass(frozen=True)
class Bool:
    """A combination of queries like in Lucene. Its score is the sum over must and should.

    Attributes:
        must: queries that must all match.
        should: queries that increase the score; without must and filters, ``minimum`` of them must match.
        filters: queries that must all match, but don't score.
        without: queries that exclude the pages that match them.
        minimum: see should.
    """

    must: "tuple[Query, ...]" = ()
    should: "tuple[Query, ...]" = ()
    filters: "tuple[Query, ...]" = ()
    without: "tuple[Query, ...]" = ()
    minimum: int = 1


@dataclass(frozen=True)
class Boosted:
    """A query whose score is multiplied by a float32 value."""

    query: "Query"
    boost: float


Query = Term | Phrase | Combined | Label | Bool | Boosted
Operator = Callable[[Iterable[Query]], Query]
"""Combines queries: ``all_of`` or ``any_of``."""

NOTHING: Query = Bool()  # matches no page
EVERYTHING = Label(ANY)  # matches every page


def boosted(query: Query, boost: float) -> Query:
    """Returns a query whose score is multiplied by ``boost`` and its previous boost."""
    inner, inner_boost = _without_boost(query)
    product = float(np.float32(boost) * np.float32(inner_boost))
    if product == 1 or inner == NOTHING:
        return inner
    return Boosted(inner, product)


def _without_boost(query: Query) -> tuple[Query, float]:
    """Returns a query without its boost, and the boost, 1 if it has none."""
    if isinstance(query, Boosted):
        return query.query, query.boost
    return query, 1.0


def any_of(queries: Iterable[Query], minimum: int = 1) -> Query:
    """Returns a query for pages that match at least ``minimum`` queries; NOTHING if there are fewer."""
    should = tuple(query for query in queries if query != NOTHING)
    if minimum > len(should):
        return NOTHING
    if minimum > 1:  # each query counts, so Lucene merges none
        return Bool(should=should, minimum=minimum)
    flat: list[Query] = []  # sums in a sum are merged
    for query in should:
        if isinstance(query, Bool) and query == Bool(should=query.should):
            flat += query.should
        else:
            flat.append(query)
    summed = _merge_equal(flat)
    return summed[0] if len(summed) == 1 else Bool(should=summed)


def all_of(
    queries: Iterable[Query],
    filters: Iterable[Query] = (),
    without: Iterable[Query] = (),
    extra: Iterable[Query] = (),
) -> Query:
    """Returns a query for pages that match all queries and filters, and no query in ``without``.

    The score is the sum over ``queries`` and ``extra``. Queries in ``extra`` needn't match.
    """
    must = tuple(queries)
    filters = tuple(filters)
    if NOTHING in (*must, *filters):
        return NOTHING
    without = tuple(query for query in without if query != NOTHING)
    extra = tuple(query for query in extra if query != NOTHING)
    merged = _merge_equal(must)
    is_single = len(merged) == 1 and not (filters or without or extra)
    # Without any argument, this Bool is NOTHING.
    return merged[0] if is_single else Bool(must=merged, should=extra, filters=filters, without=without)


def _merge_equal(queries: Iterable[Query]) -> tuple[Query, ...]:
    """Returns each query once, with the sum of its boosts."""
    boosts: dict[Query, float] = {}
    for query in queries:
        inner, boost = _without_boost(query)
        boosts[inner] = boosts.get(inner, 0.0) + boost
    return tuple(boosted(query, boost) for query, boost in boosts.items())


def terms_in(query: Query) -> Iterator[Term]:
    """Yields a query's terms; a label has none."""
    match query:
        case Term():
            yield query
        case Phrase():
            yield from (Term(query.field, term) for term in query.terms)
        case Combined():
            yield from query.terms
        case Boosted():
            yield from terms_in(query.query)
        case Bool():
            for part in (*query.must, *query.should, *query.filters, *query.without):
                yield from terms_in(part)


_OPERATORS = {r"\s+AND\s+": " +", r"\s+OR\s+": " | "}  # ChatNoir's operators, and Elasticsearch's
_QUOTED = re.compile('("[^"]*")')
_PART = re.compile(r'"[^"]*"|[^\s"]+')  # a phrase in quotes, or a word
_NEGATED = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]\S*)')  # a phrase or word after a minus sign
# What simple_query_string distinguishes; the final dot skips any other character.
_TOKEN = re.compile(
    r'"(?P<phrase>[^"]*)"|(?P<operator>[+|])|(?P<minus>-)|(?P<word>[^"|+ \t\n\r-][^"|+ \t\n\r]*)|.', re.DOTALL
)
_BLANKS = "".join(map(chr, range(33)))  # Java's String.trim removes these


@dataclass(frozen=True)
class Syntax:
    """Elasticsearch's simple_query_string with quotes, minus, AND and OR; all else is text.

    Attributes:
        boosts: the weights of the fields in which a token may match.
        terms_of: takes the name of a field and a text, and returns the terms of the text in this field.
    """

    boosts: Mapping[str, float]
    terms_of: Callable[[str, str], list[str]]

    def query(self, text: str, share: float = 1.0) -> Query:
        """Returns the query in a text.

        Args:
            text: the user's input.
            share: the share of words and phrases that must match, each in any field; their number is rounded
                down, but at least one must match. Below 1, the operators AND and OR are ignored.
        """
        if share == 1.0:
            return self._parsed(text, all_of)
        parts = [self._parsed(part, all_of) for part in _PART.findall(without_operators(text))]
        parts_with_terms = [part for part in parts if part != NOTHING]  # a stop word is NOTHING
        minimum = max(1, int(share * len(parts_with_terms)))
        # A page that matches one of the excluded words and phrases does not match.
        excluded = self._parsed(" ".join(_NEGATED.findall(text)), any_of)
        return all_of([any_of(parts_with_terms, minimum)], without=[excluded])

    def _parsed(self, text: str, default: Operator) -> Query:
        """Parses a text as Lucene: all operators have the same precedence, so ``a | b + c`` is (a | b) + c.

        Args:
            text: the text.
            default: the operator between words without one.
        """
        if text.strip(_BLANKS) == "*":
            return EVERYTHING
        operands = list(self._operands(_replace_operators(text, _OPERATORS), default))
        if not operands:
            return NOTHING
        _, parsed = operands[0]  # the operator before the first operand has no effect
        for operator, series in groupby(operands[1:], key=itemgetter(0)):
            # The operator of a series joins the query before the series and the queries in it.
            parsed = operator([parsed, *(query for _, query in series)])
        return parsed

    def _operands(self, text: str, default: Operator) -> Iterator[tuple[Operator, Query]]:
        """Yields words and phrases, each with the first operator before it, or the default one."""
        operator = None
        is_negated = False
        for token in _TOKEN.finditer(text):
            if token["minus"]:
                is_negated = not is_negated  # two minus signs cancel out
                continue
            if token["operator"]:
                if operator is None:
                    operator = all_of if token["operator"] == "+" else any_of
            elif token["phrase"] == "":  # after an empty phrase, Lucene forgets the operator
                operator = None
            else:
                query = any_of(
                    boosted(self._in_field(field, token, default), boost)
                    for field, boost in self.boosts.items()
                )
                if query != NOTHING:  # a blank and a stop word are NOTHING
                    if is_negated:
                        query = all_of([EVERYTHING], without=[query])
                    yield operator or default, query
                    operator = None
            is_negated = False  # a minus sign counts only directly before a word or phrase

    def _in_field(self, field: str, token: re.Match[str], default: Operator) -> Query:
        """Returns a query for a word or a phrase in a field; NOTHING if it has no term.

        A word with a hyphen has several terms, which the default operator joins.
        """
        terms = tuple(self.terms_of(field, token["phrase"] or token["word"] or ""))
        if len(terms) > 1 and token["phrase"]:
            return Phrase(field, terms, slop=0)
        return default(Term(field, term) for term in terms)


def without_operators(text: str) -> str:
    """Returns a text without the operators AND and OR, and without excluded words."""
    return _replace_operators(_NEGATED.sub(" ", text), dict.fromkeys(_OPERATORS, " "))


def _replace_operators(text: str, replacements: Mapping[str, str]) -> str:
    """Returns a text whose upper-case words AND and OR are replaced, except in quotes.

    Args:
        text: the text.
        replacements: the text for each operator, by a pattern of its word and the blanks around it.
    """
    parts = _QUOTED.split(text)  # its group captures the quoted parts, which have odd indexes
    for index in range(0, len(parts), 2):
        for pattern, replacement in replacements.items():
            parts[index] = re.sub(pattern, replacement, parts[index])
    return "".join(parts)
