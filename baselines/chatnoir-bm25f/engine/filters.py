"""Filters: spam ranks, and warnings of what filters remove and of statistics of few pages."""

import logging

from touche import Documents

from .fields import FILTERS, FOREIGN, SETTINGS, SHORT
from .match import NO_LANGUAGE, PAGES
from .rescore import Collection

SPAM_RANKS = "spam-ranks.txt"

_log = logging.getLogger("touche.chatnoir")  # the command line shows the loggers below touche


def warn_of_statistics(documents: Documents, collection: Collection, advised: str) -> None:
    """Warns if statistics come from a small collection, because they decide the order.

    ``advised`` names the statistics to pass instead.
    """
    pages = collection.totals.tallies[PAGES]
    if not documents.statistics and pages < SETTINGS["fewest_pages"]:
        _log.warning(
            "statistics of only %d pages change the order; for official topics pass --statistics %s",
            pages,
            advised,
        )


def find_spam(documents: Documents, collection: Collection) -> frozenset[str]:
    """Returns the matching pages with a bad spam rank; logs what the filters remove or can't test."""
    tallies = collection.totals.tallies
    all_pages = f"{tallies[PAGES]} pages"
    reports = [  # a verb, the number of pages, from which pages, and the reason
        ("removed", tallies[FOREIGN], all_pages, FOREIGN),
        ("removed", tallies[SHORT], all_pages, SHORT),
        ("kept", tallies[NO_LANGUAGE], all_pages, NO_LANGUAGE),
    ]
    spam = frozenset[str]()
    if documents.side_file(SPAM_RANKS):
        ids = collection.ids()
        ranks = documents.side_scores(SPAM_RANKS, ids)
        spam = frozenset(id for id, rank in ranks.items() if rank < FILTERS["spam_rank"])
        matching = f"{len(ids)} pages that match a title"
        reports.append(("removed", len(spam), matching, "bad spam rank"))
        reports.append(("kept", len(ids) - len(ranks), matching, "no spam rank"))
    else:
        reports.append(("kept", tallies[PAGES], all_pages, "no spam rank"))
    for verb, count, pages, reason in reports:
        if count:
            _log.warning("the filters %s %d of %s: %s", verb, count, pages, reason)
    return spam
