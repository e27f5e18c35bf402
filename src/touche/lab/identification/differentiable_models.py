"""Ranking models as functions of unknown numbers, with their derivatives.

tf is a term's frequency in a field, dl the field's stored length. For each field, a term has a number called
own, which depends on the whole collection (for example, idf). Shared numbers, such as mu, are the same for
all terms; they are given as logarithms. A model returns what each term contributes to a document's score, the
derivatives of these contributions with respect to own, and, for each shared number, a row of derivatives with
respect to it. The arrays tf, dl and own contain an element per document and term.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from touche.lab.identification.samples import Array
from touche.scan.lengths import before_lucene_7, exact, one_byte
from touche.scan.statistics import Statistics

_LOG2_E = np.log2(np.e)
_LARGEST_EXPONENT = 50.0  # larger exponents are cut, so that exponentials are finite


class Part(NamedTuple):
    """Terms' contributions to scores, with derivatives.

    Attributes:
        value: the contributions.
        by_own: derivatives with respect to own.
        by_shared: a row of derivatives per shared number.
    """

    value: Array
    by_own: Array
    by_shared: Array


@dataclass(frozen=True)
class Model:
    """A ranking model.

    Attributes:
        part: maps tf, dl, own and shared numbers to contributions with derivatives.
        begin: a function that returns the initial values of own for a field's statistics. Most models only
            use the number of terms.
        lengths: the names of the ways in which engines with this model store lengths, see ``LENGTHS``.
        common: initial values of numbers that all fields share.
        of_field: initial values of each field's numbers.
        relative: initial values for lengths divided by known mean lengths. All fields share these numbers,
            which replace ``common`` and ``of_field``. Empty if the formula doesn't use the mean length.
        linear: whether own is a factor of the contribution. If so, a field's weight can't be fitted
            separately, because it's a factor, too.
    """

    part: Callable[[Array, Array, Array, Array], Part]
    begin: Callable[[Statistics], Array]
    lengths: tuple[str, ...]
    common: Mapping[str, float] = field(default_factory=dict)
    of_field: Mapping[str, float] = field(default_factory=dict)
    relative: Mapping[str, float] = field(default_factory=dict)
    linear: bool = True


def dirichlet(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Lucene's LMDirichlet: max(0, ln(1 + tf / (mu P)) + ln(mu / (dl + mu))); own is ln(mu P)."""
    mu = np.exp(shared[0])
    ratio = tf * np.exp(np.minimum(-own, _LARGEST_EXPONENT))
    # own contains mu in the ratio, so only the second logarithm depends on the shared number, ln mu
    value = np.log1p(ratio) - np.log1p(dl / mu)
    is_positive = value > 0  # negative contributions are replaced with 0, so their derivatives are 0, too
    return Part(
        value=value * is_positive,
        by_own=-ratio / (1 + ratio) * is_positive,
        by_shared=(dl / (dl + mu) * is_positive)[None],  # a single row, for ln mu
    )


def saturation(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """BM25 and Terrier's TF_IDF: own tf / (tf + c0 + c1 dl), where c0 = k1 (1 - b) and c1 = k1 b / avgdl.

    If dl is relative to the mean length, c1 = k1 b.
    """
    c0 = np.exp(shared[0])
    c1_dl = np.exp(shared[1]) * dl
    share = tf / (tf + c0 + c1_dl)
    slope = -own * share / (tf + c0 + c1_dl)  # the derivative with respect to the denominator
    # The factors appear because these are derivatives with respect to ln c0 and ln c1.
    return Part(own * share, share, np.array([slope * c0, slope * c1_dl]))


def classic(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Lucene's ClassicSimilarity: own sqrt(tf / dl)."""
    share = np.sqrt(tf / np.maximum(dl, 1))  # at least 1, because dl can be 0 if the hypothesis has an offset
    return Part(own * share, share, np.empty((0, len(tf))))  # no shared numbers, hence no rows


def dlh(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Terrier's DLH (Amati 2006); own is log2(avgdl N / ttf), and f = tf / dl.

    (tf (log2(f) + own) + (dl - tf) log2(1 - f) + log2(2 pi tf (1 - f)) / 2) / (tf + 0.5)
    """
    f = _relative(tf, dl)
    first_terms = tf * (np.log2(f) + own) + (dl - tf) * np.log2(1 - f)
    value = (first_terms + 0.5 * np.log2(2 * np.pi * tf * (1 - f))) / (tf + 0.5)
    return Part(value, tf / (tf + 0.5), np.empty((0, len(tf))))  # no shared numbers, hence no rows


def pl2(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Terrier's PL2 (Amati and van Rijsbergen 2002), with n = tf log2(1 + c avgdl / dl); own is ln(ttf / N).

    (n log2(n / e^own) + (e^own - n) log2(e) + log2(2 pi n) / 2) / (n + 1)
    """
    ratio = np.exp(shared[0]) / np.maximum(dl, 1)  # c avgdl / dl, because the number is ln(c avgdl)
    n = tf * np.log2(1 + ratio)
    mean = np.exp(np.minimum(own, _LARGEST_EXPONENT))  # the mean frequency per document
    value = (n * (np.log2(n) - own * _LOG2_E) + (mean - n) * _LOG2_E + 0.5 * np.log2(2 * np.pi * n)) / (n + 1)
    # The quotient rule; log2(e) and -log2(e) cancel in the derivative of the numerator.
    value_by_n = (np.log2(n) - own * _LOG2_E + 0.5 * _LOG2_E / n - value) / (n + 1)
    n_by_shared = tf * ratio / (1 + ratio) * _LOG2_E
    return Part(value, (mean - n) * _LOG2_E / (n + 1), (value_by_n * n_by_shared)[None])


def _relative(tf: Array, dl: Array) -> Array:
    """Returns the relative frequency f = tf / dl, limited to a number below 1, because the formulas contain
    log2(1 - f). If a text consists of one term only, f is 0.99999, as in Terrier.
    """
    return np.where(tf < dl, tf / np.maximum(dl, 1), 0.99999)


def dph(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Terrier's DPH (Amati et al. 2007); own is log2(avgdl N / ttf), and f = tf / dl.

    (1 - f)^2 / (tf + 1) (tf (log2(f) + own) + log2(2 pi tf (1 - f)) / 2)
    """
    f = _relative(tf, dl)
    norm = np.square(1 - f) / (tf + 1)
    value = norm * (tf * (np.log2(f) + own) + 0.5 * np.log2(2 * np.pi * tf * (1 - f)))
    return Part(value, norm * tf, np.empty((0, len(tf))))  # no shared numbers, hence no rows


LENGTHS: Mapping[str, Callable[[Array], Array]] = {  # how engines store a length
    "one byte": one_byte,
    "before Lucene 7": before_lucene_7,
    "exact": exact,
}
_ANY = tuple(LENGTHS)  # an engine may store lengths in any of these ways
LM_DIRICHLET, BM25, CLASSIC = "LMDirichlet", "BM25", "Lucene's classic"
DPH, DLH, PL2 = "DPH", "DLH", "PL2"
MU, C0, C1, K1_B, C_AVGDL = "mu", "k1 (1 - b)", "k1 b / avgdl", "k1 b", "c avgdl"
K1, B, C = "k1", "b", "c"
# Initial values of own that don't depend on statistics are typical ones.
MODELS: Mapping[str, Model] = {
    LM_DIRICHLET: Model(
        dirichlet,
        lambda known: np.log(2000 * (known.ttf + 1) / (known.tokens + 1)),
        lengths=_ANY,
        common={MU: 2000.0},
        linear=False,
    ),
    BM25: Model(
        saturation,
        lambda known: np.full(len(known.ttf), 5.0),
        lengths=_ANY,
        common={C0: 0.5},
        of_field={C1: 0.003},
        relative={C0: 0.5, K1_B: 0.5},
    ),
    CLASSIC: Model(classic, lambda known: np.full(len(known.ttf), 5.0), _ANY),
    DPH: Model(dph, lambda known: np.full(len(known.ttf), 10.0), ("exact",), linear=False),
    DLH: Model(dlh, lambda known: np.full(len(known.ttf), 10.0), ("exact",), linear=False),
    PL2: Model(
        pl2, lambda known: np.full(len(known.ttf), -1.0), ("exact",), of_field={C_AVGDL: 200.0}, linear=False
    ),
}
