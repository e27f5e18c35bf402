"""Formulas as Lucene computes them, in float32 where it does, for rankings that are held beside Lucene's."""

from math import log

import numpy as np

from touche.scan import Array, Term, Weighted
from touche.scan.models import Formula


def classic() -> Formula:
    def weighted(tf: Array, length: Array, term: Term) -> Array:
        idf = np.float32(term.weight) * np.float32(log((term.documents + 1) / (term.df + 1)) + 1)
        found: Array = np.sqrt(tf).astype(np.float32) * idf * (1 / np.sqrt(length)).astype(np.float32)
        return found

    return Weighted(weighted)
