"""What engines keep of a document's length."""

from collections.abc import Callable, Mapping

import numpy as np

from touche.identify.samples import Array

_EXACT_IN_A_BYTE, _KEPT_BITS = 24, 4


def one_byte(lengths: Array) -> Array:
    """Lucene from version 7 on: exact below 40, then with its four leading bits (SmallFloat.intToByte4)."""
    above = np.maximum(lengths - _EXACT_IN_A_BYTE, 0)
    _, bits = np.frexp(above)
    unit = np.ldexp(1.0, np.maximum(bits - _KEPT_BITS, 0))
    found: Array = np.where(
        lengths < _EXACT_IN_A_BYTE, lengths, _EXACT_IN_A_BYTE + np.floor(above / unit) * unit
    )
    return found


def before_7(lengths: Array) -> Array:
    """Lucene before version 7: 1 / sqrt(length) in a byte with three bits of mantissa (floatToByte315)."""
    norms = (1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32)
    kept = (norms.view(np.int32) >> 21 << 21).view(np.float32)
    found: Array = 1.0 / np.square(kept.astype(float))
    return found


def exact(lengths: Array) -> Array:
    """As other engines keep them."""
    return lengths


LENGTHS: Mapping[str, Callable[[Array], Array]] = {
    "one byte": one_byte,
    "before Lucene 7": before_7,
    "exact": exact,
}
