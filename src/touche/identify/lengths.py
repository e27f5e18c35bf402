"""What engines keep of a document's length."""

from collections.abc import Callable, Mapping

import numpy as np

from touche.identify.samples import Array
from touche.scan.lengths import exact, one_byte


def before_7(lengths: Array) -> Array:
    """Lucene before version 7: 1 / sqrt(length) in a byte with three bits of mantissa (floatToByte315)."""
    norms = (1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32)
    kept = (norms.view(np.int32) >> 21 << 21).view(np.float32)
    found: Array = 1.0 / np.square(kept.astype(float))
    return found


LENGTHS: Mapping[str, Callable[[Array], Array]] = {
    "one byte": one_byte,
    "before Lucene 7": before_7,
    "exact": exact,
}
