"""The formulas: what a term adds to the score of a document.

tf is the frequency of the term in each document that has it, length the documents' lengths as far as they are
kept; both are arrays of float64. What a formula returns is multiplied by the weight of the term, how often
the title has it. A formula of Lucene's computes as Lucene does, in float32 where it does, so that scores are
the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import e, log, log2, pi

import numpy as np

from touche.errors import ParameterError
from touche.scan.kernel import Array
from touche.scan.statistics import Term

Formula = Callable[[Array, Array, Term], Array]

_LOG2_E = log2(e)
_NEARLY_ALL = 0.99999  # Terrier's relative frequency of a term that is all of a document, for the logarithm


@dataclass(frozen=True)
class Weighted:
    """A formula that multiplies by the weight of the term itself, where Lucene does: before it rounds."""

    formula: Formula

    def __call__(self, tf: Array, length: Array, term: Term) -> Array:
        """What the term adds."""
        return self.formula(tf, length, term)


def dirichlet(mu: float) -> Formula:
    """Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001), as Lucene's LMDirichletSimilarity.

    max(0, ln(1 + tf / (mu P(t))) + ln(mu / (length + mu))).

    Raises:
        ParameterError: unless 0 < mu <= 1e9 (and not so small that a float32 cannot hold it).
    """
    if not 1e-9 <= mu <= 1e9:
        raise ParameterError(f"mu = {mu} has no meaning; Dirichlet smoothing needs a mu above 0, at most 1e9")
    kept = float(np.float32(mu))

    def likelihood(tf: Array, length: Array, term: Term) -> Array:
        found: Array = np.log(1 + tf / (kept * term.probability)) + np.log(kept / (length + kept))
        return np.maximum(0, found)

    return likelihood


def bm25(k1: float, b: float) -> Formula:
    """BM25 (Robertson et al. 1994), as Lucene's BM25Similarity: without the factor k1 + 1.

    idf tf / (tf + k1 (1 - b + b length / mean length)), with idf = ln(1 + (N - df + 0.5) / (df + 0.5)).

    Raises:
        ParameterError: unless 0 <= k1 <= 1e9 and 0 <= b <= 1.
    """
    if not (0 <= k1 <= 1e9 and 0 <= b <= 1):
        raise ParameterError(
            f"k1 = {k1}, b = {b} have no meaning; BM25 needs k1 from 0 to 1e9 and b from 0 to 1"
        )
    k1_, b_, one = np.float32(k1), np.float32(b), np.float32(1)

    def weighted(tf: Array, length: Array, term: Term) -> Array:
        idf = np.float32(term.weight) * np.float32(
            log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5))
        )
        with np.errstate(divide="ignore"):  # k1 = 0: all frequencies count the same
            inverse = one / (
                k1_ * ((one - b_) + b_ * length.astype(np.float32) / np.float32(term.mean_length))
            )
        found: Array = idf - idf / (one + tf.astype(np.float32) * inverse)
        return found

    return Weighted(weighted)


def tf_idf(k1: float, b: float) -> Formula:
    """Terrier's TF_IDF, with Robertson's term frequency.

    k1 tf / (tf + k1 (1 - b + b length / mean length)) log2(N / df + 1).
    """

    def weighted(tf: Array, length: Array, term: Term) -> Array:
        saturated: Array = k1 * tf / (tf + k1 * (1 - b + b * length / term.mean_length))
        return saturated * log2(term.documents / term.df + 1)

    return weighted


def classic() -> Formula:
    """Lucene's ClassicSimilarity: sqrt(tf) idf / sqrt(length), with idf = 1 + ln((N + 1) / (df + 1))."""

    def weighted(tf: Array, length: Array, term: Term) -> Array:
        idf = np.float32(term.weight) * np.float32(log((term.documents + 1) / (term.df + 1)) + 1)
        found: Array = np.sqrt(tf).astype(np.float32) * idf * (1 / np.sqrt(length)).astype(np.float32)
        return found

    return Weighted(weighted)


def dph(tf: Array, length: Array, term: Term) -> Array:
    """Terrier's DPH (Amati et al. 2007), with f = tf / length, for exact lengths.

    (1 - f)^2 / (tf + 1) (tf log2(tf mean length / length N / ttf) + log2(2 pi tf (1 - f)) / 2).
    """
    f = _relative(tf, length)
    found: Array = tf * _log_of_odds(tf, length, term) + 0.5 * np.log2(2 * pi * tf * (1 - f))
    found *= np.square(1 - f) / (tf + 1)
    return found


def dlh(tf: Array, length: Array, term: Term) -> Array:
    """Terrier's DLH (Amati 2006), with f = tf / length, for exact lengths.

    (tf log2(tf mean length / length N / ttf) + (length - tf) log2(1 - f) + log2(2 pi tf (1 - f)) / 2)
    / (tf + 0.5).
    """
    f = _relative(tf, length)
    odds = tf * _log_of_odds(tf, length, term) + (length - tf) * np.log2(1 - f)
    found: Array = (odds + 0.5 * np.log2(2 * pi * tf * (1 - f))) / (tf + 0.5)
    return found


def pl2(c: float = 1.0) -> Formula:
    """Terrier's PL2 (Amati and van Rijsbergen 2002), for exact lengths.

    With tfn = tf log2(1 + c mean length / length) and lambda = ttf / N:
    (tfn log2(tfn / lambda) + (lambda - tfn) log2(e) + log2(2 pi tfn) / 2) / (tfn + 1).

    Raises:
        ParameterError: unless c is above 0.
    """
    if not 0 < c < float("inf"):
        raise ParameterError(f"c = {c} has no meaning; PL2 needs a c above 0")

    def weighted(tf: Array, length: Array, term: Term) -> Array:
        mean = term.ttf / term.documents
        tfn = tf * np.log2(1 + c * term.mean_length / length)
        poisson = tfn * np.log2(tfn / mean) + (mean - tfn) * _LOG2_E
        found: Array = (poisson + 0.5 * np.log2(2 * pi * tfn)) / (tfn + 1)
        return found

    return weighted


def _relative(tf: Array, length: Array) -> Array:
    found: Array = np.where(tf < length, tf / length, _NEARLY_ALL)
    return found


def _log_of_odds(tf: Array, length: Array, term: Term) -> Array:
    found: Array = np.log2(tf * term.mean_length / length * (term.documents / term.ttf))
    return found
