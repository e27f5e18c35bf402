"""The models against cases computed by hand, and their derivatives against differences."""

from math import e, log, log2, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touche.identify.models import BM25, CLASSIC, DPH, LM_DIRICHLET, MODELS

ONE = np.ones(1)


def part(model: str, tf: float, dl: float, own: float, *shared: float) -> float:
    """What a term adds; shared numbers are given as they are, not as logarithms."""
    value, _, _ = MODELS[model].part(tf * ONE, dl * ONE, own * ONE, np.log(shared))
    return float(value[0])


def test_dirichlet_by_hand() -> None:
    """mu = 2000, P = 1/1000: tf = 2 in 500 tokens adds ln(1 + 2/2) + ln(2000/2500)."""
    assert part(LM_DIRICHLET, 2, 500, log(2), 2000) == pytest.approx(log(2) + log(0.8))
    assert part(LM_DIRICHLET, 1, 4000, log(200), 2000) == 0.0  # below zero, were it not cut off


def test_bm25_by_hand() -> None:
    """k1 = 1.2, b = 0.75, avgdl = 90: in a document twice as long, tf = 3 adds w 3 / (3 + 0.3 + 1.8)."""
    assert part(BM25, 3, 180, 7, 0.3, 0.01) == pytest.approx(7 * 3 / 5.1)


def test_classic_and_dph_by_hand() -> None:
    assert part(CLASSIC, 4, 100, 7) == pytest.approx(7 * 2 / 10)
    # tf = 2 in 8 tokens: f = 1/4, and the number of the term is log2(avgdl N / ttf) = 10.
    expected = (9 / 16) / 3 * (2 * (-2 + 10) + 0.5 * log2(2 * pi * 2 * 3 / 4))
    assert part(DPH, 2, 8, 10) == pytest.approx(expected)
    assert part(DPH, 3, 3, 10) == pytest.approx(0, abs=1e-9)  # a text of one term only
    assert part(CLASSIC, 1, 0, 7) == 7 and sqrt(e) > 1


@given(
    st.sampled_from([*MODELS]),
    st.integers(1, 30),
    st.integers(1, 2000),
    st.floats(-3, 8),
    st.tuples(st.floats(-2, 8), st.floats(-8, 0)),
)
def test_derivatives_are_those_of_the_formula(
    name: str, tf: int, longer: int, own: float, numbers: tuple[float, float]
) -> None:
    model, step = MODELS[name], 1e-6
    shared = np.array(numbers)[: len(model.common) + len(model.of_field)]
    tfs, dl = tf * ONE, (tf + longer) * ONE
    value, by_own, by_shared = model.part(tfs, dl, own * ONE, shared)
    near = (
        model.part(tfs, dl, (own + 1e-4) * ONE, shared)[0],
        model.part(tfs, dl, (own - 1e-4) * ONE, shared)[0],
    )
    if name == LM_DIRICHLET and (min(near) == 0 or value == 0):
        assert value > 0 or (by_own == 0 and not by_shared.any())
        return  # at the kink there is no derivative
    slope = [model.part(tfs, dl, (own + each) * ONE, shared)[0] for each in (step, -step)]
    assert by_own == pytest.approx((slope[0] - slope[1]) / (2 * step), rel=1e-4, abs=1e-7)
    for place in range(len(shared)):
        moved = np.eye(len(shared))[place] * step
        slope = [model.part(tfs, dl, own * ONE, shared + each)[0] for each in (moved, -moved)]
        assert by_shared[place] == pytest.approx((slope[0] - slope[1]) / (2 * step), rel=1e-4, abs=1e-7)
