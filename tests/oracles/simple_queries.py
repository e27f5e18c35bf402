"""Lucene's own SimpleQueryParser, asked as Elasticsearch and ChatNoir ask it, and its queries as records."""

import re
from collections.abc import Mapping
from typing import Any

from neighbours import neighbour
from touche.lucene import all_of, any_of
from touche.lucene.analysis import analyzer_named
from touche.lucene.java import java, string

queries = neighbour("chatnoir-bm25f", "queries")

_OPERATORS = {r"\s+AND\s+": " +", r"\s+OR\s+": " | "}
_QUOTED = re.compile('("[^"]*")')
_PART = re.compile(r'"[^"]*"|[^\s"]+')
_NEGATED = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]\S*)')


def lucenes(text: str, boosts: Mapping[str, float], analyses: Mapping[str, str], share: float) -> Any:
    """What Lucene makes of a text, of which so many words and phrases have to match."""
    by_field = java("java.util.HashMap")({name: analyzer_named(each) for name, each in analyses.items()})
    wrapper = java("org.apache.lucene.analysis.miscellaneous.PerFieldAnalyzerWrapper")
    analyzer = wrapper(analyzer_named("plural"), by_field)
    if share == 1.0:
        return _parsed(text, analyzer, boosts, every=True)
    wanted = _with_operators(_NEGATED.sub(" ", text), dict.fromkeys(_OPERATORS, " "))
    parts = [_parsed(part, analyzer, boosts, every=True) for part in _PART.findall(wanted)]
    nothing = java("org.apache.lucene.search.MatchNoDocsQuery")
    parts = [part for part in parts if not isinstance(part, nothing)]
    found = any_of(parts, max(1, int(share * len(parts))))
    return all_of([found], without=[_parsed(" ".join(_NEGATED.findall(text)), analyzer, boosts, every=False)])


def record(query: Any) -> Any:
    """A query of Lucene's as a record."""
    kind = query.getClass().getSimpleName()
    if kind == "BoostQuery":
        return queries.boosted(record(query.getQuery()), query.getBoost())
    if kind == "TermQuery":
        return queries.Term(str(query.getTerm().field()), str(query.getTerm().text()))
    if kind == "PhraseQuery":
        terms = tuple(str(term.text()) for term in query.getTerms())
        return queries.Phrase(str(query.getField()), terms, int(query.getSlop()))
    if kind == "BooleanQuery":
        return _record_of_clauses(query)
    return {"MatchAllDocsQuery": queries.Everything(), "MatchNoDocsQuery": queries.NOTHING}[str(kind)]


def _record_of_clauses(query: Any) -> Any:
    found: dict[str, list[Any]] = {"MUST": [], "SHOULD": [], "MUST_NOT": [], "FILTER": []}
    for clause in query.clauses():
        found[str(clause.getOccur().name())].append(record(clause.getQuery()))
    must, should, must_not, filters = map(tuple, found.values())
    if must or filters:
        return queries.All(must, filters, must_not, should)
    alone = queries.Some(should, max(1, int(query.getMinimumNumberShouldMatch())))
    return queries.All((alone,), without=must_not) if must_not else alone


def _parsed(text: str, analyzer: Any, boosts: Mapping[str, float], *, every: bool) -> Any:
    weights = java("java.util.LinkedHashMap")()
    for field, boost in boosts.items():
        weights.put(field, java("java.lang.Float")(boost))
    parser_class = java("org.apache.lucene.queryparser.simple.SimpleQueryParser")
    names = ("AND", "OR", "NOT", "PHRASE", "WHITESPACE")
    flags = sum(getattr(parser_class, f"{name}_OPERATOR") for name in names)
    parser = parser_class(analyzer, weights, flags)
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    parser.setDefaultOperator(occur.MUST if every else occur.SHOULD)
    return parser.parse(string(_with_operators(text, _OPERATORS)))


def _with_operators(text: str, operators: Mapping[str, str]) -> str:
    parts = _QUOTED.split(text)
    for word, operator in operators.items():
        parts[::2] = [re.sub(word, operator, part) for part in parts[::2]]
    return "".join(parts)
