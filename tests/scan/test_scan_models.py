"""The formulas against those of plain Python."""

from collections.abc import Callable

import numpy as np
import pytest

from oracles.formulas import dlh, dph, pl2
from random_examples import given, st
from touche.errors import ParameterError
from touche.scan import models
from touche.scan.statistics import Term

Numbers = Callable[[float, float, Term], float]


TERMS = st.builds(
    lambda df, more, documents, tokens: Term(
        df=df, ttf=df + more, documents=df + documents, tokens=df + more + documents + tokens
    ),
    *[st.integers(1, 10_000)] * 4,
)


@pytest.mark.parametrize(
    ("model", "anew"), [(models.dph, dph), (models.dlh, dlh), (models.pl2(), pl2)], ids=["dph", "dlh", "pl2"]
)
@given(st.integers(1, 50), st.integers(0, 1000), TERMS)  # also texts of one term
def test_terriers_models_written_anew(
    model: models.Formula, anew: Numbers, tf: int, more: int, term: Term
) -> None:
    scores = model(np.array([float(tf)]), np.array([float(tf + more)]), term)
    assert scores.tolist() == [pytest.approx(anew(tf, tf + more, term), rel=1e-9, abs=1e-9)]


@pytest.mark.parametrize("c", [0, -1, float("inf"), float("nan")])
def test_parameters_without_a_meaning_are_refused(c: float) -> None:
    with pytest.raises(ParameterError, match="out of range"):
        models.pl2(c)
