"""A hypothesis as a function of its numbers, and the numbers found again from the scores that they make."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identifying import PAIR, STANDARD, made_counts
from touche.identify.fitting import Fit, Problem, begin_of_maximum, fit
from touche.identify.hypotheses import MAXIMUM, SUM, Hypothesis
from touche.identify.models import BM25, DPH, LM_DIRICHLET, MODELS

Shape = tuple[tuple[str, ...], str, float | None]
ONE: Shape = (PAIR[:1], "", 1.0)
SHAPES = [ONE, *[(PAIR, how, weight) for how in (SUM, MAXIMUM) for weight in (1.0, 0.25, None)]]


def problem(model: str, shape: Shape, seed: int, rows: int = 12) -> Problem:
    fields, how, weight = shape
    counts = tuple(made_counts(seed + at, rows) for at in range(len(fields)))
    return Problem(Hypothesis(model, STANDARD, fields, how, weight=weight), counts, np.zeros(rows))


def test_scores_are_sums_over_terms_and_fields_by_hand() -> None:
    """With one number for all: w = 1, c0 = 0.5, c1 = 0.003."""
    for how in (SUM, MAXIMUM):
        made = problem(BM25, (PAIR, how, 0.25), seed=3)
        numbers = made.begin()
        for columns in made.own_columns:
            numbers[columns] = 1.0
        fields = np.zeros((2, 12))
        for at, counts in enumerate(made.counts):
            for row, tf, qtf in zip(counts.rows, counts.tf, counts.qtf, strict=True):
                length = counts.lengths[row]
                bits = max(0, int(length - 24).bit_length() - 4)
                length = 24 + (int(length - 24) >> bits << bits)
                fields[at, row] += qtf * tf / (tf + 0.5 + 0.003 * length)
        expected = np.maximum(fields[0], fields[1] / 4) if how == MAXIMUM else fields[0] + fields[1] / 4
        np.testing.assert_allclose(made.predicted(numbers), expected)


@given(st.sampled_from([*MODELS]), st.sampled_from(SHAPES), st.integers(0, 1000))
def test_the_jacobian_is_that_of_differences(model: str, shape: Shape, seed: int) -> None:
    made, step = problem(model, shape, seed), 1e-7
    numbers = made.begin() + np.random.default_rng(seed).normal(0, 0.3, made.size)
    moves = np.eye(made.size) * step
    columns = [(made.residuals(numbers + by) - made.residuals(numbers - by)) / (2 * step) for by in moves]
    np.testing.assert_allclose(made.jacobian(numbers), np.array(columns).T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", [LM_DIRICHLET, BM25, DPH])
def test_numbers_are_found_again_in_spite_of_outliers(model: str) -> None:
    made = problem(model, ONE, seed=1, rows=80)
    true = made.begin() + np.random.default_rng(5).normal(0, 0.3, made.size)
    scores = made.predicted(true)
    scores[::10] += 0.5
    again = Problem(made.hypothesis, made.counts, scores)
    errors = np.abs(again.residuals(fit(again)))
    assert np.all(errors[np.arange(80) % 10 > 0] < 1e-6) and np.all(errors[::10] > 0.4)


def test_a_maximum_begins_with_fields_that_are_fitted_one_after_the_other() -> None:
    made = problem(LM_DIRICHLET, (PAIR, MAXIMUM, 1.0), seed=1, rows=200)
    true, (first, second) = made.begin(), made.own_columns
    true[first], true[second] = [1.0, 0.0, -1.0], [2.5, 2.0, 1.5]
    again = Problem(made.hypothesis, made.counts, made.predicted(true))
    begin = begin_of_maximum(again)
    met = np.mean(np.abs(again.residuals(begin)) < 1e-5)
    assert met > 0.9 > np.mean(np.abs(again.residuals(again.begin())) < 1e-5)


def test_a_number_is_known_no_better_than_engines_store_it() -> None:
    made = problem(DPH, ONE, seed=1, rows=80)
    numbers = made.begin()
    exact = Problem(made.hypothesis, made.counts, made.predicted(numbers))
    np.testing.assert_allclose(Fit.of(exact, numbers).deviations, 2e-7 * numbers)
