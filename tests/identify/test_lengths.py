"""What engines keep of a length, against Lucene's own functions."""

import numpy as np

from touche.lucene.java import java
from touche.scan.lengths import before_lucene_7, one_byte

LENGTHS = [*range(1, 3000), 9_999, 100_000, 2**20 + 7]


def test_one_byte_is_lucene_s() -> None:
    small = java("org.apache.lucene.util.SmallFloat")
    expected = [small.byte4ToInt(small.intToByte4(length)) for length in LENGTHS]
    assert one_byte(np.array(LENGTHS, dtype=float)).tolist() == expected
    assert one_byte(np.array([100.0, 1000.0])).tolist() == [96, 984]


def test_before_version_7_it_was_a_byte_of_the_norm() -> None:
    small = java("org.apache.lucene.util.SmallFloat")
    norms = [small.byte315ToFloat(small.floatToByte315(1 / length**0.5)) for length in LENGTHS]
    np.testing.assert_allclose(
        before_lucene_7(np.array(LENGTHS, dtype=float)), np.array(norms) ** -2.0, rtol=1e-12
    )
