"""The models compared with cases computed by hand; tests of fitting compare their derivatives."""

from math import log, log2, pi

import numpy as np
import pytest

from touche.identify.models import BM25, CLASSIC, DPH, LM_DIRICHLET, MODELS

ONE = np.ones(1)


@pytest.mark.parametrize(
    ("model", "numbers", "expected"),
    [
        # mu = 2000, P = 1/1000: tf = 2 in 500 tokens adds ln(1 + 2/2) + ln(2000/2500).
        (LM_DIRICHLET, (2, 500, log(2), 2000), log(2) + log(0.8)),
        (LM_DIRICHLET, (1, 4000, log(200), 2000), 0),  # below zero, were it not cut off
        # k1 = 1.2, b = 0.75, avgdl = 90: in a document twice as long, tf = 3 adds w 3 / (3 + 0.3 + 1.8).
        (BM25, (3, 180, 7, 0.3, 0.01), 7 * 3 / 5.1),
        (CLASSIC, (4, 100, 7), 7 * 2 / 10),
        (CLASSIC, (1, 0, 7), 7),
        # tf = 2 in 8 tokens: f = 1/4, and the number of the term is log2(avgdl N / ttf) = 10.
        (DPH, (2, 8, 10), (9 / 16) / 3 * (2 * (-2 + 10) + 0.5 * log2(2 * pi * 2 * 3 / 4))),
        (DPH, (3, 3, 10), 0),  # a text of one term only
    ],
)
def test_what_a_term_adds_by_hand(model: str, numbers: tuple[float, ...], expected: float) -> None:
    """Numbers are tf, dl, the term's own one, and shared ones, which models take as logarithms."""
    tf, dl, own, *shared = numbers
    value, _, _ = MODELS[model].part(tf * ONE, dl * ONE, own * ONE, np.log(shared))
    assert value[0] == pytest.approx(expected, abs=1e-9)
