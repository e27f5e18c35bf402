"""args.me (Wachsmuth et al. 2017): BM25 over an argument's premises, conclusion and web page."""

import logging
from math import log
from typing import Literal

import numpy as np

from touche import (
    Documents,
    ParameterError,
    Rankings,
    Topics,
    UnsuitableInputError,
    baseline,
    conclusion_of,
    page_of,
    premises_of,
    scan,
)

from .api import rankings as api_rankings

FIELDS = {"premises": premises_of, "conclusion": conclusion_of, "page": page_of}
PREMISES, CONCLUSION, PAGE = range(3)  # the fields' indexes
WEIGHTS = (1.0, 1.5, 1.0)  # of premises, conclusion and page
ADDED_TOKENS = 5  # args.me's premises are this much longer; we don't know with which tokens
K1 = np.float32(1.2)
B = np.float32(0.75)

_log = logging.getLogger("touche.argsme")  # the command line shows the loggers below touche


@baseline(needs_documents=False)  # --api needs none
def argsme(
    topics: Topics,
    documents: Documents,
    *,
    match: Literal["all", "any"] = "all",
    api: bool = False,
    cache_days: float = 7,
    depth: int = 1000,
) -> Rankings:
    """Ranks arguments like args.me in 2021: by BM25 over premises, web page and (times 1.5) conclusion.

    A result contains at least one title term in its conclusion, and all title terms on its web page. If the
    corpus contains no web pages, you get a warning, and only premises and conclusions are ranked.

    match: whether all title terms must be on the page, or any of them.
    api: query args.me itself, without documents; you get today's answers. If the input contains candidates,
        only candidates among args.me's best results are ranked.
    cache_days: request a stored answer of --api again after this many days.
    depth: number of arguments per topic.
    """
    if not api:
        yield from ranked_as_in_2021(topics, documents, match, depth)
        return
    if match != "all" or documents.statistics:
        raise ParameterError("with --api, args.me itself ranks; omit --match and files of statistics")
    yield from api_rankings(topics, depth, cache_days)


def ranked_as_in_2021(
    topics: Topics, documents: Documents, match: Literal["all", "any"], depth: int
) -> Rankings:
    """Ranks arguments by the weighted sum of the three fields' BM25."""
    collection = scan.Collection.of(topics, documents, analysis="stopped", fields=FIELDS)
    if not collection.statistics[CONCLUSION].documents:
        problem = "no document has a conclusion"
        remedy = "args.me ranks arguments, in args-me.json or args_processed.csv"
        raise UnsuitableInputError(f"{problem}; {remedy}")
    required = {CONCLUSION: "any", PAGE: match}  # how many title terms must be in a field
    if not collection.statistics[PAGE].documents:
        _log.warning("no argument has the text of its web page; only premises and conclusions are ranked")
        del required[PAGE]
    scoring = scan.Scoring(
        scan.Weighted(bm25),
        WEIGHTS,
        length_rounding=scan.before_lucene_7,
        length_offset={PREMISES: ADDED_TOKENS},
        required=required,
    )
    yield from collection.with_all_candidates(collection.rank(topics, scoring, depth), depth)


def bm25(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
    """Returns BM25 in float32, as in Lucene 6, with the factor k1 + 1 that newer versions omit."""
    idf = np.float32(log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5)))
    weight = idf * np.float32(term.weight) * (K1 + 1)
    norm = K1 * ((1 - B) + B * length.astype(np.float32) / np.float32(term.mean_length))
    frequency = tf.astype(np.float32)
    return weight * frequency / (frequency + norm)
