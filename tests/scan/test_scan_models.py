"""The formulas against cases computed by hand, and against those of plain Python."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.formulas import dlh, dph, pl2
from touche.errors import ParameterError
from touche.scan import models
from touche.scan.statistics import Term

Numbers = Callable[[float, float, Term], float]


def value(model: models.Formula, tf: float, length: float, term: Term) -> float:
    (score,) = model(np.array([float(tf)]), np.array([float(length)]), term)
    return float(score)


def test_terriers_models_by_hand() -> None:
    """Step by step, because no installed package has these models: Lucene lacks DPH, DLH and now PL2.

    tf = 2 in 8 tokens, f = 1/4; 64 documents of 16 tokens, the term in them 4 times: 2 * 16 / 8 * 64 / 4 is
    2^6, and log2(2 pi * 2 * 3/4) = log2(9.424778) = 3.236459, half of it 1.618229.
    """
    term = Term(df=4, ttf=4, documents=64, tokens=1024)
    # (3/4)^2 / 3 = 0.1875, times 2 * 6 + 1.618229.
    assert value(models.dph, 2, 8, term) == pytest.approx(0.1875 * 13.618229, abs=1e-6)
    # (8 - 2) log2(3/4) = 6 * -0.4150375 = -2.490225; 12 - 2.490225 + 1.618229 = 11.128004, by 2 + 0.5.
    assert value(models.dlh, 2, 8, term) == pytest.approx(11.128004 / 2.5, abs=1e-6)
    # In a text of mean length tfn = 2 log2(1 + 16/16) = 2; lambda = 4/64 = 1/16, and 2 log2(2 * 16) = 10;
    # (1/16 - 2) log2(e) = -1.9375 * 1.442695 = -2.795222; log2(2 pi * 2) / 2 = 3.651496 / 2 = 1.825748.
    assert value(models.pl2(), 2, 16, term) == pytest.approx((10 - 2.795222 + 1.825748) / 3, abs=1e-6)
    # With c = 7 tfn = 2 log2(8) = 6: 6 log2(96) = 39.509775, (1/16 - 6) log2(e) = -8.566002, and
    # log2(2 pi * 6) / 2 = 2.618229.
    assert value(models.pl2(7), 2, 16, term) == pytest.approx((39.509775 - 8.566002 + 2.618229) / 7, abs=1e-6)


def test_a_text_of_one_term_only_has_a_score() -> None:
    for model in (models.dph, models.dlh, models.pl2()):
        assert np.isfinite(value(model, 3, 3, Term(df=50, ttf=99, documents=1000, tokens=99_999)))


TERMS = st.builds(
    lambda df, more, documents, tokens: Term(
        df=df, ttf=df + more, documents=df + documents, tokens=df + more + documents + tokens
    ),
    *[st.integers(1, 10_000)] * 4,
)


@pytest.mark.parametrize(
    ("model", "anew"), [(models.dph, dph), (models.dlh, dlh), (models.pl2(), pl2)], ids=["dph", "dlh", "pl2"]
)
@given(st.integers(1, 50), st.integers(1, 1000), TERMS)
def test_terriers_models_written_anew(
    model: models.Formula, anew: Numbers, tf: int, more: int, term: Term
) -> None:
    assert value(model, tf, tf + more, term) == pytest.approx(anew(tf, tf + more, term), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("c", [0, -1, float("inf"), float("nan")])
def test_parameters_without_a_meaning_are_refused(c: float) -> None:
    with pytest.raises(ParameterError, match="out of range"):
        models.pl2(c)
