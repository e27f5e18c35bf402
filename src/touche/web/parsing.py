"""Web pages on their way from HTML to fields."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from touche.errors import ToucheError
from touche.web.page import Page, RawPage, Skipped

_log = logging.getLogger(__name__)

Parser = Callable[[RawPage], Page]
_RULES = "parse"  # of touche.web.extraction


def parsed(documents: Iterable[Any], parser: Parser | None = None) -> Iterator[Any]:
    """A collection with its raw pages parsed by all processors, in the same order.

    A page that cannot be parsed is left out, even if the parser dies of it; at the end a warning says how
    many there were, and why.

    Args:
        documents: the collection; what is no raw page is passed on.
        parser: what is done with a page; a function that another process can import. By default
            ``touche.web.extraction.parse``.

    Raises:
        ToucheError: if the processes cannot import the script that iterates over the pages, or a page was
            taken apart before, by another parser.
    """
    skipped: list[Skipped] = []
    pages = 0
    documents = iter(documents)
    for document in documents:
        if isinstance(document, RawPage | Skipped):  # from here on there may be more of them
            from touche.web.workers import in_processes  # here, for only web pages need processes

            for each in in_processes(chain([document], documents), parser or _extraction()):
                pages += isinstance(each, Page)
                if isinstance(each, Skipped):
                    skipped.append(each)
                else:
                    yield each
        else:
            _check_rules(document, parser)
            yield document
    if skipped:
        _log.warning(_summary(skipped, pages))


def _check_rules(document: Any, parser: Parser | None) -> None:
    rules = parser.__name__ if parser else _RULES
    if isinstance(document, Page) and document.rules not in (None, rules):
        problem = f"the fields of page {document.id} were kept by other rules ({document.rules}, not {rules})"
        remedy = "give the pages themselves, or what the same baseline and year kept of them"
        raise ToucheError(f"{problem}; {remedy}")


def _extraction() -> Parser:
    from touche.web.extraction import parse  # here, for only web pages need its libraries

    return parse


def _summary(skipped: Sequence[Skipped], pages: int) -> str:
    reasons = Counter(each.reason for each in skipped).most_common()
    told = ", ".join(f"{count} {reason}" for reason, count in reasons)
    of = f"{len(skipped)} of {len(skipped) + pages} pages"
    return f"{of} {'was' if len(skipped) == 1 else 'were'} left out: {told}; the first is {skipped[0].id}"
