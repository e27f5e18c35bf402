"""Document lengths in tokens, as engines store them."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_SHIFT = 24  # each smaller length has its own byte; of larger ones, length - 24 is stored
_LEADING_BITS = 4  # of length - 24 that are stored, so that lengths below 24 + 16 are also exact


def one_byte(lengths: Array) -> Array:
    """Lengths of Lucene 7 and later: exact below 40, then 24 and the four leading bits of the rest.

    Lucene's function is SmallFloat.intToByte4.

    Args:
        lengths: the lengths in tokens.
    """
    excess = np.maximum(lengths - _SHIFT, 0)
    _, bits = np.frexp(excess)  # the exponent of an integer is its number of bits
    unit = np.ldexp(1.0, np.maximum(bits - _LEADING_BITS, 0))  # the value of the last bit that is stored
    rounded: Array = np.where(lengths < _SHIFT, lengths, _SHIFT + np.floor(excess / unit) * unit)
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
