"""The models as formulas of what is unknown, with their derivatives.

tf is the frequency of a term in a field and dl the length of the field, as far as the engine keeps it. Only
the whole collection tells the number of a term in a field, own; shared numbers are the same for all terms.
Each model returns what terms add to a score, the derivatives of that by own, and a row of derivatives by each
shared number, which are logarithms. tf, dl and own are arrays with an element for each document and term.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from touche.identify.samples import Array
from touche.scan.lengths import before_lucene_7, exact, one_byte

Part = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Model:
    """A ranking model.

    Attributes:
        part: what terms add to a score, with its derivatives.
        begin: from the relative frequencies of terms to values of own to begin with.
        lengths: the names of what its engines keep of lengths.
        common: numbers that all fields share, with the values to begin with.
        of_field: numbers that each field has of its own, the same way.
        relative: numbers that all fields share where their mean lengths are known, which then divide lengths;
            in place of ``common`` and ``of_field``. Empty where the mean length is not part of the formula.
        linear: whether own is a factor; then no weight of a field shows beside it.
    """

    part: Callable[[Array, Array, Array, Array], Part]
    begin: Callable[[Array], Array]
    lengths: tuple[str, ...]
    common: Mapping[str, float] = field(default_factory=dict)
    of_field: Mapping[str, float] = field(default_factory=dict)
    relative: Mapping[str, float] = field(default_factory=dict)
    linear: bool = True

    def with_mean_lengths(self) -> "Model":
        """Returns the model as a function of lengths relative to their mean."""
        return replace(self, common=self.relative, of_field={}) if self.relative else self


def dirichlet(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Lucene's LMDirichlet: max(0, ln(1 + tf / (mu P)) + ln(mu / (dl + mu))); own is ln(mu P)."""
    mu, ratio = np.exp(shared[0]), tf * np.exp(np.minimum(-own, 50.0))
    value = np.log1p(ratio) - np.log1p(dl / mu)
    counts = value > 0
    return value * counts, -ratio / (1 + ratio) * counts, (dl / (dl + mu) * counts)[None]


def saturation(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """BM25 and Terrier's TF_IDF: own tf / (tf + c0 + c1 dl), with c0 = k1 (1 - b) and c1 = k1 b / avgdl.

    Where dl is relative to the mean length, c1 = k1 b.
    """
    c0, c1_dl = np.exp(shared[0]), np.exp(shared[1]) * dl
    share = tf / (tf + c0 + c1_dl)
    slope = -own * share / (tf + c0 + c1_dl)
    return own * share, share, np.array([slope * c0, slope * c1_dl])


def classic(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Lucene's ClassicSimilarity: own sqrt(tf / dl)."""
    share = np.sqrt(tf / np.maximum(dl, 1))
    return own * share, share, np.empty((0, len(tf)))


def dph(tf: Array, dl: Array, own: Array, shared: Array) -> Part:
    """Terrier's DPH (Amati et al. 2007); own is log2(avgdl N / ttf), and f = tf / dl.

    (1 - f)^2 / (tf + 1) (tf (log2(f) + own) + log2(2 pi tf (1 - f)) / 2)
    """
    f = np.minimum(tf / np.maximum(dl, 1), 1 - 1e-12)  # a text of one term only has no logarithm
    norm = np.square(1 - f) / (tf + 1)
    value = norm * (tf * (np.log2(f) + own) + 0.5 * np.log2(2 * np.pi * tf * (1 - f)))
    return value, norm * tf, np.empty((0, len(tf)))


LENGTHS: Mapping[str, Callable[[Array], Array]] = {  # what engines store of a length
    "one byte": one_byte,
    "before Lucene 7": before_lucene_7,
    "exact": exact,
}
_ANY = tuple(LENGTHS)
LM_DIRICHLET, BM25, CLASSIC, DPH = "LMDirichlet", "BM25", "Lucene's classic", "DPH"
MU, C0, C1, K1_B = "mu", "k1 (1 - b)", "k1 b / avgdl", "k1 b"
MODELS: Mapping[str, Model] = {
    # A third of the frequency, for documents that were found have more of the terms than others.
    LM_DIRICHLET: Model(dirichlet, lambda p: np.log(2000 * p / 3), _ANY, {MU: 2000.0}, linear=False),
    BM25: Model(
        saturation, lambda p: np.full(len(p), 5.0), _ANY, {C0: 0.5}, {C1: 0.003}, {C0: 0.5, K1_B: 0.5}
    ),
    CLASSIC: Model(classic, lambda p: np.full(len(p), 5.0), _ANY),
    DPH: Model(dph, lambda p: np.full(len(p), 10.0), ("exact",), linear=False),
}
