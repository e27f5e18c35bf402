"""The simple query syntax of Elasticsearch: quotes, minus, AND and OR; whatever is none of these is text."""

import re
from collections.abc import Mapping
from typing import Any

from touche.lucene.java import java, string

_OPERATORS = {r"\s+AND\s+": " +", r"\s+OR\s+": " | "}
_QUOTED = re.compile('("[^"]*")')
_PART = re.compile(r'"[^"]*"|[^\s"]+')
_NEGATED = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]\S*)')


def simple_query(text: str, analyzer: Any, boosts: Mapping[str, float], *, every: bool) -> Any:
    """A query of what ``simple_query_string`` makes of a text; in any field a token may match.

    Args:
        text: what somebody typed.
        analyzer: makes the terms.
        boosts: the weights of the fields; a document scores the weighted sum over them.
        every: whether every token has to match; else any.
    """
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


def wanted(text: str) -> str:
    """What a text asks for: without operators, and without what it asks not to find."""
    return _with_operators(_NEGATED.sub(" ", text), dict.fromkeys(_OPERATORS, " "))


def not_wanted(text: str) -> str:
    """What a text asks not to find."""
    return " ".join(_NEGATED.findall(text))


def parts_of(text: str) -> list[str]:
    """The words and the quoted phrases of a text."""
    return _PART.findall(text)


def _with_operators(text: str, operators: Mapping[str, str]) -> str:
    """A text with its upper-case words AND and OR replaced, where these are not in quotes."""
    parts = _QUOTED.split(text)
    for word, operator in operators.items():
        parts[::2] = [re.sub(word, operator, part) for part in parts[::2]]
    return "".join(parts)
