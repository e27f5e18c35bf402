"""Document lengths in tokens, as engines store them."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_EXACT_BELOW = 24  # each smaller length has its own byte
_LEADING_BITS = 4  # that are stored of length - 24, so that lengths are exact below 24 + 16


def one_byte(lengths: Array) -> Array:
    """Lengths of Lucene 7 and later: exact below 40, then four leading bits (SmallFloat.intToByte4).

    Args:
        lengths: the lengths in tokens.
    """
    above = np.maximum(lengths - _EXACT_BELOW, 0)
    _, bits = np.frexp(above)  # the exponent of an integer is its number of bits
    unit = np.ldexp(1.0, np.maximum(bits - _LEADING_BITS, 0))  # the value of the last bit that is stored
    rounded: Array = np.where(lengths < _EXACT_BELOW, lengths, _EXACT_BELOW + np.floor(above / unit) * unit)
    return rounded


def before_lucene_7(lengths: Array) -> Array:
    """Lengths of Lucene before version 7: 1 / sqrt(length) in a byte (floatToByte315).

    Args:
        lengths: the lengths in tokens.
    """
    norms = (1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32)
    # Shifts to the right and back keep 2 of the 23 bits of the mantissa, whose leading bit is implicit.
    stored = (norms.view(np.int32) >> 21 << 21).view(np.float32)
    rounded: Array = 1.0 / np.square(stored.astype(float))
    return rounded


def exact(lengths: Array) -> Array:
    """Exact lengths, as in engines other than Lucene.

    Args:
        lengths: the lengths in tokens.
    """
    return lengths
