"""Document lengths in tokens, the way engines store them."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_SHIFT = 24  # smaller lengths have their own byte; for larger ones, length - 24 is stored
_LEADING_BITS = 4  # stored bits of length - 24, so lengths below 24 + 16 are exact too


def one_byte(lengths: Array) -> Array:
    """Lengths in Lucene 7 and later: exact below 40, then 24 plus the rest's four leading bits.

    Lucene's function is SmallFloat.intToByte4.

    Args:
        lengths: lengths in tokens.
    """
    excess = np.maximum(lengths - _SHIFT, 0)
    _, bits = np.frexp(excess)  # an integer's exponent is its number of bits
    unit = np.ldexp(1.0, np.maximum(bits - _LEADING_BITS, 0))  # the value of the last stored bit
    rounded: Array = np.where(lengths < _SHIFT, lengths, _SHIFT + np.floor(excess / unit) * unit)
    return rounded


def before_lucene_7(lengths: Array) -> Array:
    """Lengths in Lucene before version 7: 1 / sqrt(length) in a byte (floatToByte315).

    Args:
        lengths: lengths in tokens.
    """
    norms = (1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32)
    # Shifting right and back keeps 2 of the mantissa's 23 bits, whose leading bit is implicit.
    stored = (norms.view(np.int32) >> 21 << 21).view(np.float32)
    rounded: Array = 1.0 / np.square(stored.astype(float))
    return rounded


def exact(lengths: Array) -> Array:
    """Exact lengths, as in engines other than Lucene.

    Args:
        lengths: lengths in tokens.
    """
    return lengths
