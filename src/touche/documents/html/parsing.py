"""Parses the web pages in a collection."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from touche.documents.pages import Page, Parser, RawPage, Skipped
from touche.io.progress import processors

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SkippedPages:
    """Skipped pages in a collection, or a part of it.

    Attributes:
        reasons: their number by reason, such as ``not of text``.
        pages: the number of parsed pages.
        first: the first skipped page's id; empty if none was skipped.
    """

    reasons: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0
    first: str = ""

    def __add__(self, other: "SkippedPages") -> "SkippedPages":
        """Adds up two records; ``other`` is the later one."""
        reasons = Counter(self.reasons) + Counter(other.reasons)
        return SkippedPages(reasons, self.pages + other.pages, self.first or other.first)

    def warn(self) -> None:
        """Logs a warning if pages were skipped."""
        if not self.reasons:
            return
        count = sum(self.reasons.values())
        reasons = ", ".join(f"{number} {reason}" for reason, number in Counter(self.reasons).most_common())
        _log.warning(
            "skipped %d of %d pages: %s; the first is %s", count, count + self.pages, reasons, self.first
        )


def parsed(
    documents: Iterable[Any],
    parser: Parser | None = None,
    processes: int | None = None,
    report: Callable[[SkippedPages], None] = SkippedPages.warn,
) -> Iterator[Any]:
    """Yields a collection in order, with raw pages parsed by several processes.

    Pages that can't be parsed are skipped, and ``report`` receives the reasons. By default, it logs a
    warning.

    Args:
        documents: the collection; documents other than raw pages are passed on.
        parser: a parser that other processes can import; ``touche.documents.html.extraction.parse`` by
            default.
        processes: one per processor by default.
    """
    reasons = Counter[str]()
    pages = 0
    first_skipped = ""
    for document in _parsed_or_skipped(iter(documents), parser, processes):
        if isinstance(document, Skipped):
            reasons[document.reason] += 1
            first_skipped = first_skipped or document.id
        else:
            pages += isinstance(document, Page)
            yield document
    report(SkippedPages(reasons, pages, first_skipped))


def _parsed_or_skipped(
    documents: Iterator[Any], parser: Parser | None, processes: int | None
) -> Iterator[Any]:
    for document in documents:
        if not isinstance(document, RawPage | Skipped):
            yield document
            continue
        # imported late: only raw pages need this, 21 ms
        from touche.documents.html.extraction import parse
        from touche.documents.html.workers import parsed_in_processes

        # The processes consume all further documents, so nothing is left for this loop.
        this_and_further = chain([document], documents)
        yield from parsed_in_processes(this_and_further, parser or parse, processes or processors())
