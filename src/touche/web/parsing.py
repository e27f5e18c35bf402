"""Web pages on their way from HTML to fields."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from touche.errors import ToucheError
from touche.formats.pages import Page, Parser, RawPage, Skipped
from touche.progress import processors

_log = logging.getLogger(__name__)

_RULES = "parse"  # of touche.web.extraction


@dataclass(frozen=True)
class LeftOut:
    """Pages that were left out; the sum of two is that of both.

    Attributes:
        reasons: how many there are of each.
        pages: how many were not left out.
        first: the id of the first; empty if there is none.
    """

    reasons: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    first: str = ""

    def __add__(self, other: "LeftOut") -> "LeftOut":
        """Those of both, of which the others come later."""
        reasons = Counter(self.reasons) + Counter(other.reasons)
        return LeftOut(reasons, self.pages + other.pages, self.first or other.first)

    def tell(self) -> None:
        """Warns of them, if there are any."""
        if not self.reasons:
            return
        count = sum(self.reasons.values())
        told = ", ".join(f"{number} {reason}" for reason, number in Counter(self.reasons).most_common())
        were = f"of {count + self.pages} pages {'was' if count == 1 else 'were'} left out"
        _log.warning("%d %s: %s; the first is %s", count, were, told, self.first)


def parsed(
    documents: Iterable[Any],
    parser: Parser | None = None,
    processes: int | None = None,
    tell: Callable[[LeftOut], None] = LeftOut.tell,
) -> Iterator[Any]:
    """A collection with its raw pages parsed by several processes, in the same order.

    A page that cannot be parsed is left out, even if the parser dies of it; at the end a warning says how
    many there were, and why.

    Args:
        documents: the collection; what is no raw page is passed on.
        parser: what is done with a page; a function that another process can import. By default
            ``touche.web.extraction.parse``.
        processes: how many; by default one for each processor.
        tell: what is done with what was left out, in place of the warning.

    Raises:
        ToucheError: if the processes cannot import the script that iterates over the pages, or a page was
            taken apart before, by another parser.
    """
    reasons, pages, first = Counter[str](), 0, ""
    rules = parser.__name__ if parser else _RULES
    documents = iter(documents)
    for document in documents:
        if isinstance(document, RawPage | Skipped):  # from here on there may be more of them
            from touche.web.workers import parsed_in_processes  # here, for only web pages need processes

            rest, by = chain([document], documents), parser or _extraction()
            for each in parsed_in_processes(rest, by, processes or processors()):
                pages += isinstance(each, Page)
                if isinstance(each, Skipped):
                    reasons[each.reason] += 1
                    first = first or each.id
                else:
                    yield each
        else:
            _check_rules(document, rules)
            yield document
    tell(LeftOut(reasons, pages, first))


def _check_rules(document: Any, rules: str) -> None:
    if isinstance(document, Page) and document.rules not in (None, rules):
        problem = f"the fields of page {document.id} were kept by other rules ({document.rules}, not {rules})"
        remedy = "give the pages themselves, or what the same baseline and year kept of them"
        raise ToucheError(f"{problem}; {remedy}")


def _extraction() -> Parser:
    from touche.web.extraction import parse  # here, for only web pages need its libraries

    return parse
