"""What engines store of a length, compared with Lucene's own functions and with numbers computed by hand."""

import numpy as np
import pytest

from touche.lucene.java import java
from touche.scan.lengths import before_lucene_7, one_byte

LENGTHS = [*range(1, 3000), 9_999, 100_000, 2**20 + 7]


# floatToByte315 keeps a float's exponent and the first two bits after its leading one. So 1 / sqrt(length) is
# cut to 4, 5, 6 or 7 times a power of two. For example, 1 / sqrt(7) = 0.37796 is between 6/16 and 7/16.
BY_HAND = {
    1: 1.0,  # 4/4
    2: (8 / 5) ** 2,  # 0.70711
    3: 4.0,  # 0.57735: 4/8
    4: 4.0,  # 0.5: 4/8
    5: (16 / 7) ** 2,  # 0.44721
    6: (16 / 6) ** 2,  # 0.40825
    7: (16 / 6) ** 2,  # 0.37796
    8: (16 / 5) ** 2,  # 0.35355
    10: (16 / 5) ** 2,  # 0.31623, just above 0.3125
    11: 16.0,  # 0.30151: 4/16
    16: 16.0,  # 0.25: 4/16
    17: (32 / 7) ** 2,  # 0.24254
    18: (32 / 7) ** 2,  # 0.23570
    90: (64 / 6) ** 2,  # 0.10541
    100: (64 / 6) ** 2,  # 0.1
    400: (128 / 6) ** 2,  # 0.05
    700: 1024.0,  # 0.03780: 4/128
    100_000: (2048 / 6) ** 2,  # 0.0031623
}


@pytest.mark.parametrize(("length", "stored"), BY_HAND.items())
def test_lengths_before_lucene_7_are_those_computed_by_hand(length: int, stored: float) -> None:
    assert before_lucene_7(np.array([float(length)])).tolist() == pytest.approx([stored], rel=1e-12)


def test_lengths_are_stored_as_by_lucene() -> None:
    small = java("org.apache.lucene.util.SmallFloat")
    expected = [small.byte4ToInt(small.intToByte4(length)) for length in LENGTHS]
    assert one_byte(np.array(LENGTHS, dtype=float)).tolist() == expected
    norms = [small.byte315ToFloat(small.floatToByte315(1 / length**0.5)) for length in LENGTHS]
    before = before_lucene_7(np.array(LENGTHS, dtype=float))
    np.testing.assert_allclose(before, np.array(norms) ** -2.0, rtol=1e-12)
