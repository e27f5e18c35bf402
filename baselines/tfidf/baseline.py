"""Terrier's TF-IDF (TF_IDF), as in Potthast et al. 2019, and Lucene's TF-IDF as a variant."""

from math import log, log2
from typing import Literal

import numpy as np

from touche import Documents, Rankings, Topics, baseline, check_range, scan


@baseline
def tfidf(
    topics: Topics,
    documents: Documents,
    *,
    variant: Literal["terrier", "classic"] = "terrier",
    k1: float = 1.2,
    b: float = 0.75,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by TF-IDF for the topic's title.

    terrier: sum over the terms of qtf * k1 tf / (tf + k1 (1 - b + b dl / avgdl)) * log2(N / df + 1),
        with exact lengths, as in Terrier.
    classic: Lucene's ClassicSimilarity, sum over the terms of
        qtf * sqrt(tf) * (1 + ln((N + 1) / (df + 1))) / sqrt(dl), with lengths in one byte, as in Lucene.

    variant: which of the two formulas to use.
    k1: saturation of the term frequency in Terrier's formula; no effect on classic.
    b: influence of the document's length in Terrier's formula, from 0 to 1; no effect on classic.
    depth: number of documents per topic.
    """
    check_range("k1", k1, 0, 1e9)
    check_range("b", b, 0, 1)

    def terrier(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        """Returns a term's part without qtf; ``scan.rank`` multiplies by it."""
        saturated = k1 * tf / (tf + k1 * (1 - b + b * length / term.mean_length))
        return saturated * log2(term.documents / term.df + 1)

    def classic(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        """Returns a term's part including qtf (``term.weight``); float32 where Lucene uses it."""
        idf = np.float32(term.weight) * np.float32(log((term.documents + 1) / (term.df + 1)) + 1)
        return np.sqrt(tf).astype(np.float32) * idf * (1 / np.sqrt(length)).astype(np.float32)

    if variant == "terrier":
        yield from scan.rank(
            topics, documents, terrier, analysis="english", length_rounding=scan.exact, depth=depth
        )
    else:
        yield from scan.rank(topics, documents, scan.Weighted(classic), analysis="english", depth=depth)
