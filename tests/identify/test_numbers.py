"""Fitted numbers beside the round values that they are near."""

from math import log

import numpy as np
import pytest

from identifying import PAIR, STANDARD, made_counts
from touche.identify.fitting import Problem
from touche.identify.hypotheses import SUM, Hypothesis
from touche.identify.models import BM25, LM_DIRICHLET
from touche.identify.numbers import k1_and_b, near, shared_numbers


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1999.99997, 2000), (1500.4, 1500), (0.25001, 0.25), (0.54, 0.54), (2234.6, None), (0.123456, 0.123)],
)
def test_round_values(value: float, expected: float | None) -> None:
    assert near(value) == (pytest.approx(expected) if abs((expected or 0) - value) <= value / 1000 else None)


def test_k1_and_b_in_use_go_before_other_round_ones() -> None:
    assert k1_and_b(0.5400001) == [(0.9, 0.4)]
    assert k1_and_b(0.3) == [(1.2, 0.75)]
    assert (0.7, 0.5) in k1_and_b(0.35) and k1_and_b(0.123456) == []


def test_bm25_has_an_average_length_for_each_field() -> None:
    problem = Problem(Hypothesis(BM25, STANDARD, PAIR, SUM), (made_counts(1), made_counts(2)), np.zeros(12))
    numbers = problem.begin()
    numbers[0], numbers[1], numbers[5] = log(0.54), log(0.36 / 108.5), log(0.36 / 5.25)
    c0, premises, conclusion = shared_numbers(problem, numbers)
    assert (c0.round, c0.note) == (0.54, "as with k1 = 0.9, b = 0.4 (Anserini's defaults)")
    assert (premises.name, premises.note) == ("k1 b / avgdl in premises", "then avgdl is 108.50")
    assert conclusion.note == "then avgdl is 5.25"


def test_a_free_weight_is_a_number_and_a_fixed_one_is_named() -> None:
    for weight in (0.25, None):
        hypothesis = Hypothesis(LM_DIRICHLET, STANDARD, PAIR, SUM, weight=weight)
        problem = Problem(hypothesis, (made_counts(1), made_counts(2)), np.zeros(12))
        mu, found = shared_numbers(problem, problem.begin())
        assert (mu.name, mu.round) == ("mu", 2000) and found.name == "weight of conclusion"
        assert found.value == pytest.approx(weight or 0.5)
