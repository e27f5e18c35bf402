"""Formulas as Lucene computes them, in float32 where it does, for rankings that are held beside Lucene's."""

from math import log

import numpy as np

from touche.scan import Array, Term, Weighted
from touche.scan.models import Formula


def dirichlet(mu: float) -> Formula:
    kept = float(np.float32(mu))

    def likelihood(tf: Array, length: Array, term: Term) -> Array:
        found: Array = np.log(1 + tf / (kept * term.probability)) + np.log(kept / (length + kept))
        return np.maximum(0, found)

    return likelihood


def bm25(k1: float, b: float) -> Formula:
    k1_, b_, one = np.float32(k1), np.float32(b), np.float32(1)

    def weighted(tf: Array, length: Array, term: Term) -> Array:
        rarity = log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5))
        idf = np.float32(term.weight) * np.float32(rarity)
        longer = b_ * length.astype(np.float32) / np.float32(term.mean_length)
        with np.errstate(divide="ignore"):
            found: Array = idf - idf / (one + tf.astype(np.float32) * (one / (k1_ * ((one - b_) + longer))))
        return found

    return Weighted(weighted)


def classic() -> Formula:
    def weighted(tf: Array, length: Array, term: Term) -> Array:
        idf = np.float32(term.weight) * np.float32(log((term.documents + 1) / (term.df + 1)) + 1)
        found: Array = np.sqrt(tf).astype(np.float32) * idf * (1 / np.sqrt(length)).astype(np.float32)
        return found

    return Weighted(weighted)
