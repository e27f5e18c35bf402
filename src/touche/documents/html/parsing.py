"""Parses the web pages of a collection."""

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
    """Skipped pages of a collection, or of a part of it.

    Attributes:
        reasons: the number of skipped pages by reason, such as ``not of text``.
        pages: the number of parsed pages.
        first: the id of the first skipped page; empty if none was skipped.
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
    """Yields a collection in the same order, with its raw pages parsed by several processes.

    Pages that cannot be parsed are skipped; a final warning counts the reasons.

    Args:
        documents: the collection; documents that are not raw pages are passed on.
        parser: the parser, which other processes must be able to import; by default
            ``touche.documents.html.extraction.parse``.
        processes: the number of processes; by default one per processor.
        report: receives the skipped pages; by default it logs the warning.

    Raises:
        ToucheError: if the processes cannot import the user's script, or a page crashes its process.
    """
    reasons = Counter[str]()
    pages = 0
    first_skipped = ""
    documents = iter(documents)
    for document in documents:
        if isinstance(document, RawPage | Skipped):
            # Here, because only raw pages need these 21 ms.
            from touche.documents.html.extraction import parse
            from touche.documents.html.workers import parsed_in_processes

            # The processes read all further documents, so that nothing is left for the outer loop.
            this_and_further = chain([document], documents)
            for result in parsed_in_processes(this_and_further, parser or parse, processes or processors()):
                if isinstance(result, Skipped):
                    reasons[result.reason] += 1
                    first_skipped = first_skipped or result.id
                    continue
                if isinstance(result, Page):
                    pages += 1
                yield result
        else:
            pages += isinstance(document, Page)
            yield document
    report(SkippedPages(reasons, pages, first_skipped))
