"""Rounds document lengths, in tokens, the way search engines do when they store them."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_SHIFT = 24  # below 24, the byte is the length itself; for larger lengths, it represents length - 24
_LEADING_BITS = 4  # how many bits of length - 24 are stored; so lengths below 24 + 16 are exact, too


def one_byte(lengths: Array) -> Array:
    """Lengths in Lucene 7 and later: exact below 40, then 24 plus the rest's four leading bits.

    Lucene's function is SmallFloat.intToByte4.

    Args:
        lengths: lengths in tokens.
    """
    excess = np.maximum(lengths - _SHIFT, 0)
    _, bits = np.frexp(excess)  # frexp's exponent of an integer is the number of its bits
    unit = np.ldexp(1.0, np.maximum(bits - _LEADING_BITS, 0))  # the value of the last stored bit
    rounded: Array = np.where(lengths < _SHIFT, lengths, _SHIFT + np.floor(excess / unit) * unit)
    return rounded


def before_lucene_7(lengths: Array) -> Array:
    """Lengths in Lucene before version 7: 1 / sqrt(length) in a byte (floatToByte315).

    Args:
        lengths: lengths in tokens.
    """
    norms = (1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32)
    # Shifting right and left sets the last 21 bits to 0. Of the mantissa's 23 stored bits, 2 remain.
    stored = (norms.view(np.int32) >> 21 << 21).view(np.float32)
    rounded: Array = 1.0 / np.square(stored.astype(float))
    return rounded


def exact(lengths: Array) -> Array:
    """Exact lengths, as in engines other than Lucene.

    Args:
        lengths: lengths in tokens.
    """
    return lengths
