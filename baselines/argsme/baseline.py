"""args.me (Wachsmuth et al. 2017), the search engine itself: BM25 over premises, conclusion and web page."""

import logging
from collections.abc import Callable
from functools import partial
from itertools import count
from math import log
from typing import Literal

import numpy as np
from api import ArgsMe

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import ParameterError, ToucheError
from touche.formats.documents import AnyDocument, conclusion_of, page_of, premises_of

K1, B = np.float32(1.2), np.float32(0.75)
LONGER = 5  # tokens by which the original's premises are longer than ours; what they were is not known
WEIGHTS = (1.0, 1.5, 1.0)
PREMISES, CONCLUSION, PAGE = range(3)

_log = logging.getLogger("touche.argsme")  # below the one that the command line shows


@baseline(needs_documents=False)  # for args.me has its own
def argsme(
    topics: Topics,
    documents: Documents,
    *,
    match: Literal["all", "any"] = "all",
    api: bool = False,
    depth: int = 1000,
) -> Rankings:
    """Ranks arguments as args.me did in 2021: BM25 of premises, of the page, and 1.5 times of the conclusion.

    What is found has a term of the title in its conclusion, and all of them on the web page that it is from.
    A corpus without these pages is ranked by premises and conclusion alone, and a warning says so.

    match: how many of the title's terms have to be on the page, all or any.
    api: whether args.me itself is asked, as it answers today; no documents are needed. Of candidates those
        are ranked that are among its best results.
    depth: how many arguments are returned per topic.
    """
    if api:
        if match != "all" or documents.statistics:
            raise ParameterError("with --api args.me ranks; leave --match and files of statistics out")
        yield from asked(topics, depth)
        return
    fields: dict[str, Callable[[AnyDocument], str]] = {
        "premises": partial(indexed_premises_of, word_of_no_title(topics)),
        "conclusion": conclusion_of,
        "page": page_of,
    }
    collection = scan.Collection.of(topics, documents, "stopped", fields)
    if not collection.statistics[CONCLUSION].documents:
        problem = "no document has a conclusion"
        raise ToucheError(f"{problem}; args.me ranks arguments, in args-me.json or args_processed.csv")
    required = {CONCLUSION: "any", PAGE: match}
    if not collection.statistics[PAGE].documents:
        _log.warning("no argument has the text of its web page; only premises and conclusions are ranked")
        del required[PAGE]
    scoring = scan.Scoring(
        scan.Weighted(bm25), WEIGHTS, kept_of_lengths=scan.before_lucene_7, required=required
    )
    yield from collection.rank(topics, scoring, depth)


def bm25(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
    """BM25 in float32 as Lucene 6 has it, with the factor k1 + 1 that newer Lucene dropped."""
    rarity = np.float32(log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5)))
    weight = rarity * np.float32(term.weight) * (K1 + 1)
    norm = K1 * ((1 - B) + B * length.astype(np.float32) / np.float32(term.mean_length))
    frequency = tf.astype(np.float32)
    score: scan.Array = weight * frequency / (frequency + norm)
    return score


def indexed_premises_of(filler: str, document: AnyDocument) -> str:
    """The premises, as long as in the index of args.me."""
    return premises_of(document) + LONGER * f" {filler}"


def word_of_no_title(topics: Topics) -> str:
    """A word that makes texts longer, and which no topic asks for."""
    titles = " ".join(topic.title for topic in topics).lower()
    return next(word for number in count() if (word := f"unseen{number}") not in titles)


def asked(topics: Topics, depth: int) -> Rankings:
    """What args.me itself answers: by its scores, or where it gives none, in the order of its answers."""
    client = ArgsMe()
    for topic in topics:
        yield topic, client.search(topic.title, depth, topic.candidates)
