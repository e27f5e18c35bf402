"""Formulas: what a term contributes to a document's score.

tf is the term's frequency in each document that contains it, length the documents' stored length; both are
float64 arrays. The result is multiplied by the term's weight, which is its frequency in the title. This
module contains the formulas that several baselines use: two of Lucene's, and three that Lucene doesn't have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import e, log, log2, pi

import numpy as np

from touche.errors import ParameterError
from touche.scan.kernel import Array
from touche.scan.statistics import Term

Formula = Callable[[Array, Array, Term], Array]
"""A function of tf, length and ``Term``; returns a finite number for each document with the term.

tf is the term's frequency in each of these documents, length their stored length in tokens; both are float64
arrays.
"""

_LOG2_E = log2(e)
_NEARLY_ONE = (
    # Terrier's relative frequency f for documents that consist of this term only; below 1, so that 1 - f is
    # above 0.
    0.99999
)


@dataclass(frozen=True)
class Weighted:
    """A formula that multiplies its result by the term's weight itself. Needed for Lucene's formulas, which
    multiply before they round to float32.

    Attributes:
        formula: the formula. Its results are already multiplied by ``term.weight``.
    """

    formula: Formula

    def __call__(self, tf: Array, length: Array, term: Term) -> Array:
        return self.formula(tf, length, term)


def dirichletlm(mu: float) -> Formula:
    """Lucene's DirichletLM (Zhai and Lafferty 2001): max(0, ln(1 + tf / (mu P(t))) + ln(mu / (mu +
    length))).

    P(t) is the term's share of all tokens. A term that a document doesn't contain adds nothing to its score.

    Args:
        mu: the weight of the collection's language model, in tokens; rounded to float32 like in Lucene.
    """
    return _DirichletLM(float(np.float32(mu)))


@dataclass(frozen=True)
class _DirichletLM:
    mu: float

    def __call__(self, tf: Array, length: Array, term: Term) -> Array:
        gain = np.log(1 + tf / (self.mu * term.probability)) + np.log(self.mu / (self.mu + length))
        return np.maximum(0, gain)


def bm25(k1: float, b: float) -> Formula:
    """Lucene's BM25 (Robertson et al. 1994): idf tf / (tf + k1 (1 - b + b length / mean length)).

    idf is ln(1 + (N - df + 0.5) / (df + 0.5)).

    Args:
        k1: how slowly the term frequency saturates; with a larger k1, repeated terms add more.
        b: how much the document's length matters, from 0 to 1.
    """
    return Weighted(_BM25(np.float32(k1), np.float32(b)))


@dataclass(frozen=True)
class _BM25:
    k1: np.float32
    b: np.float32

    def __call__(self, tf: Array, length: Array, term: Term) -> Array:
        """The formula in float32, in Lucene's order of operations: idf - idf / (1 + tf / K).

        K is k1 (1 - b + b length / mean length).
        """
        idf = log(1 + (term.documents - term.df + 0.5) / (term.df + 0.5))
        weighted_idf = np.float32(term.weight) * np.float32(idf)
        length_share = self.b * length.astype(np.float32) / np.float32(term.mean_length)
        # If k1 = 0, the quotient is infinite, which is right: tf doesn't matter then.
        with np.errstate(divide="ignore"):
            inverse_k = 1 / (self.k1 * ((1 - self.b) + length_share))
        return weighted_idf - weighted_idf / (1 + tf.astype(np.float32) * inverse_k)


def dph(tf: Array, length: Array, term: Term) -> Array:
    """Terrier's DPH (Amati et al. 2007), with f = tf / length, for exact lengths.

    (tf log2(f (mean length) N / ttf) + log2(2 pi tf (1 - f)) / 2) (1 - f)^2 / (tf + 1), with N documents.

    Args:
        tf: the term's frequency in each document that contains it.
        length: these documents' exact lengths in tokens.
        term: the term's statistics.
    """
    f = _relative_frequency(tf, length)
    divergence = tf * _log2_frequency_ratio(tf, length, term) + 0.5 * np.log2(2 * pi * tf * (1 - f))
    return divergence * (np.square(1 - f) / (tf + 1))


def dlh(tf: Array, length: Array, term: Term) -> Array:
    """Terrier's DLH (Amati 2006), with f = tf / length, for exact lengths.

    (tf log2(f (mean length) N / ttf) + (length - tf) log2(1 - f) + log2(2 pi tf (1 - f)) / 2) / (tf + 0.5),
    with N documents.

    Args:
        tf: the term's frequency in each document that contains it.
        length: these documents' exact lengths in tokens.
        term: the term's statistics.
    """
    f = _relative_frequency(tf, length)
    divergence = tf * _log2_frequency_ratio(tf, length, term) + (length - tf) * np.log2(1 - f)
    return (divergence + 0.5 * np.log2(2 * pi * tf * (1 - f))) / (tf + 0.5)


def pl2(c: float = 1.0) -> Formula:
    """Terrier's PL2 (Amati and van Rijsbergen 2002), for exact lengths.

    With tfn = tf log2(1 + c mean length / length) and lambda = ttf / N:
    (tfn log2(tfn / lambda) + (lambda - tfn) log2(e) + log2(2 pi tfn) / 2) / (tfn + 1).

    Args:
        c: how much the document's length matters; with a larger c, long documents score higher.

    Raises:
        ParameterError: if c isn't above 0.
    """
    if not 0 < c < float("inf"):
        raise ParameterError(f"c = {c} is out of range; choose a number above 0")
    return _PL2(c)


@dataclass(frozen=True)
class _PL2:
    c: float

    def __call__(self, tf: Array, length: Array, term: Term) -> Array:
        """The formula in ``pl2``'s docstring; ``mean`` is its lambda."""
        mean = term.ttf / term.documents
        tfn = tf * np.log2(1 + self.c * term.mean_length / length)
        poisson = tfn * np.log2(tfn / mean) + (mean - tfn) * _LOG2_E
        return (poisson + 0.5 * np.log2(2 * pi * tfn)) / (tfn + 1)


def _relative_frequency(tf: Array, length: Array) -> Array:
    """Returns f = tf / length, limited to a number below 1, because the formulas contain log2(1 - f)."""
    return np.where(tf < length, tf / length, _NEARLY_ONE)


def _log2_frequency_ratio(tf: Array, length: Array, term: Term) -> Array:
    """Returns log2(f (mean length) N / ttf): the logarithm of the term's relative frequency f = tf / length
    in a document, divided by its relative frequency in the collection of N documents.
    """
    return np.log2(tf * term.mean_length / length * (term.documents / term.ttf))
