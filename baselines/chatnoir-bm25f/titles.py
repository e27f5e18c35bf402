"""The query syntax of ChatNoir: quotes, minus, AND and OR; whatever is none of these is text.

That is Elasticsearch's simple_query_string, with Lucene's SimpleQueryParser in it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from queries import NOTHING, All, Everything, Phrase, Query, Some, Term, boosted

_OPERATORS = {r"\s+AND\s+": " +", r"\s+OR\s+": " | "}
_QUOTED = re.compile('("[^"]*")')
_PART = re.compile(r'"[^"]*"|[^\s"]+')
_NEGATED = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]\S*)')
_TOKEN = re.compile(
    r'"(?P<phrase>[^"]*)"|(?P<operator>[+|])|(?P<minus>-)|(?P<word>[^"|+ \t\n\r-][^"|+ \t\n\r]*)|.', re.DOTALL
)
_BLANKS = "".join(map(chr, range(33)))  # of Java

TermsOf = Callable[[str, str], list[str]]  # of a field, and of a text in it


@dataclass(frozen=True)
class Syntax:
    """How words become queries.

    Attributes:
        boosts: the fields in which a token may match, each with its weight.
        terms_of: makes the terms.
    """

    boosts: Mapping[str, float]
    terms_of: TermsOf

    def query(self, text: str, share: float = 1.0) -> Query:
        """What a text asks for.

        Args:
            text: what somebody typed.
            share: of the words and phrases that must match in some field; rounded down, but at least one.
        """
        if share == 1.0:
            return self.parsed(text)
        parts = [each for part in _PART.findall(wanted(text)) if (each := self.parsed(part)) != NOTHING]
        found = Some(tuple(parts), max(1, int(share * len(parts))))
        return All((found,), without=(self.parsed(_not_wanted(text), every=False),))

    def parsed(self, text: str, *, every: bool = True) -> Query:
        """What Lucene's parser makes of a text, of which every token has to match, or any."""
        if text.strip(_BLANKS) == "*":
            return Everything()
        tree, negated = _Tree(All if every else Some), False
        for token in _TOKEN.finditer(_with_operators(text, _OPERATORS)):
            if token["operator"]:
                tree.operate(All if token["operator"] == "+" else Some)
            elif token["phrase"] == "":
                tree.operation = None
            elif found := self._found(token, every=every):
                tree.add(All((Everything(),), without=(found,)) if negated else found)
            negated = bool(token["minus"]) and not negated
        return tree.top or NOTHING

    def _found(self, token: re.Match[str], *, every: bool) -> Query | None:
        """A query for a word or a phrase in any field; None if there is no term in it."""
        found = [
            boosted(query, boost)
            for field, boost in self.boosts.items()
            if (query := self._in_field(field, token, every=every))
        ]
        return (found[0] if len(found) == 1 else Some(tuple(found))) if found else None

    def _in_field(self, field: str, token: re.Match[str], *, every: bool) -> Query | None:
        terms = tuple(self.terms_of(field, token["phrase"] or token["word"] or ""))
        if len(terms) > 1 and token["phrase"]:
            return Phrase(field, terms, 0)
        queries = tuple(Term(field, term) for term in terms)
        return (queries[0] if len(queries) == 1 else (All if every else Some)(queries)) if queries else None


class _Tree:
    """What has been parsed: operators bind to the left, and none before the other."""

    def __init__(self, usual: type[All] | type[Some]) -> None:
        """An empty tree; where no operator stands, the usual one does."""
        self.top: Query | None = None
        self.operation: type[All] | type[Some] | None = None
        self._usual = usual
        self._previous: type[All] | type[Some] | None = None
        self._joined: tuple[Query, ...] = ()  # by the previous operator

    def operate(self, operation: type[All] | type[Some]) -> None:
        """Takes an operator, of several the first."""
        if self.operation is None and self.top is not None:
            self.operation = operation

    def add(self, query: Query) -> None:
        """Takes what follows the operator."""
        if self.top is None:
            self.top = query
        else:
            operation = self.operation or self._usual
            self._joined = (*(self._joined if operation is self._previous else (self.top,)), query)
            self.top, self._previous = operation(self._joined), operation
        self.operation = None


def wanted(text: str) -> str:
    """What a text asks for: without operators, and without what it asks not to find."""
    return _with_operators(_NEGATED.sub(" ", text), dict.fromkeys(_OPERATORS, " "))


def _not_wanted(text: str) -> str:
    """What a text asks not to find."""
    return " ".join(_NEGATED.findall(text))


def _with_operators(text: str, operators: Mapping[str, str]) -> str:
    """A text with its upper-case words AND and OR replaced, where these are not in quotes."""
    parts = _QUOTED.split(text)
    for word, operator in operators.items():
        parts[::2] = [re.sub(word, operator, part) for part in parts[::2]]
    return "".join(parts)
