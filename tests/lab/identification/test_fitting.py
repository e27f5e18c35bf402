"""Hypotheses as functions of their numbers, and the numbers found again from the resulting scores."""

from dataclasses import replace
from math import log, log2, pi

import numpy as np
import pytest

from identifying import PAIR, STANDARD, made_counts
from oracles.formulas import length_in_one_byte
from random_examples import given, st
from touche.lab.identification.differentiable_models import BM25, CLASSIC, DPH, LM_DIRICHLET, MODELS
from touche.lab.identification.fitting import TOLERANCE, Problem, describe_fit, fit
from touche.lab.identification.hypotheses import MAXIMUM, SUM, Hypothesis

Shape = tuple[tuple[str, ...], str, float | None]
ONE: Shape = (PAIR[:1], "", 1.0)
SHAPES = [ONE, *[(PAIR, how, weight) for how in (SUM, MAXIMUM) for weight in (1.0, 0.25, None)]]


def problem(model: str, shape: Shape, seed: int, rows: int = 12) -> Problem:
    fields, how, weight = shape
    counts = tuple(made_counts(seed + at, rows) for at in range(len(fields)))
    return Problem(Hypothesis(model, STANDARD, fields, how, weight=weight), counts, np.zeros(rows))


@pytest.mark.parametrize(("how", "combined"), [(SUM, np.add), (MAXIMUM, np.maximum)])
def test_scores_are_sums_over_terms_and_fields_by_hand(how: str, combined: np.ufunc) -> None:
    """With the same number everywhere: w = 1, c0 = 0.5, c1 = 0.003."""
    posed = problem(BM25, (PAIR, how, 0.25), seed=3)
    numbers = posed.begin()
    for columns in posed.own_columns:
        numbers[columns] = 1.0
    fields = np.zeros((2, 12))
    for at, counts in enumerate(posed.counts):
        for row, tf, qtf in zip(counts.rows, counts.tf, counts.qtf, strict=True):
            length = length_in_one_byte(int(counts.lengths[row]))
            fields[at, row] += qtf * tf / (tf + 0.5 + 0.003 * length)
    np.testing.assert_allclose(posed.predicted(numbers), combined(fields[0], fields[1] / 4))


@given(st.sampled_from([*MODELS]), st.sampled_from(SHAPES), st.integers(0, 1000))
def test_the_jacobian_is_that_of_differences(model: str, shape: Shape, seed: int) -> None:
    posed = problem(model, shape, seed)
    step = 1e-7
    numbers = posed.begin() + np.random.default_rng(seed).normal(0, 0.3, posed.size)
    moves = np.eye(posed.size) * step
    columns = [(posed.residuals(numbers + by) - posed.residuals(numbers - by)) / (2 * step) for by in moves]
    np.testing.assert_allclose(posed.jacobian(numbers), np.array(columns).T, rtol=1e-4, atol=1e-5)


@given(st.sampled_from([*MODELS]), st.sampled_from(SHAPES), st.integers(0, 1000))
def test_the_normal_equations_are_products_of_the_jacobian(model: str, shape: Shape, seed: int) -> None:
    posed = problem(model, shape, seed)
    random = np.random.default_rng(seed)
    posed = replace(posed, scores=random.normal(5, 2, len(posed.scores)))
    numbers = posed.begin() + random.normal(0, 0.3, posed.size)
    weights = random.random(len(posed.scores))
    jacobian = posed.jacobian(numbers)
    second, first = posed.normal_equations(posed.evaluate(numbers), weights)
    np.testing.assert_allclose(second, jacobian.T @ np.diag(weights) @ jacobian, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(first, jacobian.T @ (weights * posed.residuals(numbers)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", [LM_DIRICHLET, BM25, DPH])
def test_numbers_are_found_again_in_spite_of_outliers(model: str) -> None:
    original = problem(model, ONE, seed=1, rows=80)
    true = original.begin() + np.random.default_rng(5).normal(0, 0.3, original.size)
    scores = original.predicted(true)
    scores[::10] += 0.5
    again = Problem(original.hypothesis, original.counts, scores)
    errors = np.abs(again.residuals(fit(again)))
    assert np.all(errors[np.arange(80) % 10 > 0] < 1e-6) and np.all(errors[::10] > 0.4)


@pytest.mark.parametrize("model", [LM_DIRICHLET, BM25, DPH])
def test_coarse_scales_may_end_early_because_the_last_one_does_not(model: str) -> None:
    original = problem(model, ONE, seed=1, rows=80)
    true = original.begin() + np.random.default_rng(5).normal(0, 0.3, original.size)
    scores = original.predicted(true)
    scores[::10] += 0.5
    again = Problem(original.hypothesis, original.counts, scores)
    errors = again.errors(fit(again, (0.3, 1e-3), least_gain=10.0))
    assert np.all(errors[np.arange(80) % 10 > 0] < TOLERANCE)


def test_a_maximum_is_fitted_though_the_second_field_wins_only_where_the_first_is_low() -> None:
    made = problem(LM_DIRICHLET, (PAIR, MAXIMUM, 1.0), seed=1, rows=200)
    first, second = made.own_columns
    true = made.begin()
    true[first] = [1.0, 0.0, -1.0]
    true[second] = [2.5, 2.0, 1.5]
    again = replace(made, scores=made.predicted(true))
    assert np.mean(again.errors(again.begin()) < 1e-5) < 0.1
    assert np.all(again.errors(fit(again)) < 1e-5)


def test_lengths_are_relative_to_known_means_and_k1_and_b_are_those_of_all_fields() -> None:
    free = problem(BM25, (PAIR, SUM, 1.0), seed=3)
    means = (200.0, 5.0)
    known = replace(free, mean_lengths=means)
    numbers = np.concatenate([np.log([0.54, 0.36]), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]])
    c0 = numbers[:1]
    c1 = [np.log([0.36 / mean]) for mean in means]
    own = (numbers[2:5], numbers[5:])
    assert known.size == free.size - 1
    expected = free.predicted(np.concatenate([c0, c1[0], own[0], c1[1], own[1]]))
    np.testing.assert_allclose(known.predicted(numbers), expected)
    other = problem(LM_DIRICHLET, ONE, seed=3)
    begin = other.begin()
    assert np.array_equal(replace(other, mean_lengths=(200.0,)).predicted(begin), other.predicted(begin))


@pytest.mark.parametrize("model", MODELS)
def test_texts_without_a_term_are_fitted(model: str) -> None:
    """In a small sample, it may be that no conclusion has a term of a title."""
    empty = replace(problem(model, ONE, seed=1), counts=(made_counts(1, terms=0),))
    fitted = describe_fit(empty, fit(empty))
    assert (fitted.share(), fitted.free_parameters) == (1, 0)


@pytest.mark.parametrize("how", [SUM, MAXIMUM])
def test_numbers_relative_to_known_means_are_found_again(how: str) -> None:
    original = replace(problem(BM25, (PAIR, how, 1.0), seed=1, rows=200), mean_lengths=(400.0, 90.0))
    true = np.concatenate([np.log([0.54, 0.36]), [7.0, 5.0, 6.0, 3.0, 4.0, 5.0]])
    again = replace(original, scores=original.predicted(true))
    numbers = fit(again)
    np.testing.assert_allclose(numbers[:2], true[:2], atol=1e-5)


def test_terms_that_only_go_together_are_one_free_parameter_and_a_field_that_loses_could_win() -> None:
    original = problem(BM25, (PAIR, SUM, 1.0), seed=1, rows=60)
    first = original.counts[0]
    twice = replace(
        first,
        rows=np.concatenate([first.rows, first.rows[first.terms == 0]]),
        terms=np.concatenate([first.terms, np.full(int(np.sum(first.terms == 0)), 3)]),
        tf=np.concatenate([first.tf, first.tf[first.terms == 0]]),
        qtf=np.concatenate([first.qtf, first.qtf[first.terms == 0]]),
        vocabulary=(*first.vocabulary, "twin"),
        statistics=replace(
            first.statistics,
            df=first.statistics.df[[0, 1, 2, 0]],
            ttf=first.statistics.ttf[[0, 1, 2, 0]],
        ),
    )
    doubled = replace(original, counts=(twice, original.counts[1]))
    assert (original.free_parameters(original.begin()), doubled.size) == (original.size, original.size + 1)
    assert doubled.free_parameters(doubled.begin()) == original.size
    maximum = problem(BM25, (PAIR, MAXIMUM, 1.0), seed=1, rows=60)
    numbers = maximum.begin()
    numbers[maximum.own_columns[1]] = 1e-6
    assert maximum.free_parameters(numbers) == maximum.size > np.linalg.matrix_rank(maximum.jacobian(numbers))


def test_a_number_is_known_no_better_than_engines_store_it() -> None:
    original = problem(DPH, ONE, seed=1, rows=80)
    numbers = original.begin()
    exact = Problem(original.hypothesis, original.counts, original.predicted(numbers))
    np.testing.assert_allclose(describe_fit(exact, numbers).deviations, 2e-7 * numbers)


def test_a_score_is_met_as_far_as_it_was_rounded_in_the_file() -> None:
    original = problem(DPH, ONE, seed=1, rows=80)
    numbers = original.begin()
    rounded = original.predicted(original.begin()).round(2)
    for slack, is_met in ((0.005, True), (0.001, False)):
        met = describe_fit(Problem(original.hypothesis, original.counts, rounded, slack), numbers).share()
        assert (met == 1) == is_met


@pytest.mark.parametrize(
    ("model", "numbers", "expected"),
    [
        # mu = 2000, P = 1/1000: tf = 2 in 500 tokens adds ln(1 + 2/2) + ln(2000/2500).
        (LM_DIRICHLET, (2, 500, log(2), 2000), log(2) + log(0.8)),
        (LM_DIRICHLET, (1, 4000, log(200), 2000), 0),  # below zero without the cut-off
        # k1 = 1.2, b = 0.75, avgdl = 90; a document of twice the length; tf = 3 adds w 3 / (3 + 0.3 + 1.8).
        (BM25, (3, 180, 7, 0.3, 0.01), 7 * 3 / 5.1),
        (CLASSIC, (4, 100, 7), 7 * 2 / 10),
        (CLASSIC, (1, 0, 7), 7),
        # tf = 2 in 8 tokens: f = 1/4, and the number of the term is log2(avgdl N / ttf) = 10.
        (DPH, (2, 8, 10), (9 / 16) / 3 * (2 * (-2 + 10) + 0.5 * log2(2 * pi * 2 * 3 / 4))),
        (DPH, (3, 3, 10), 0),  # a text of one term only
    ],
)
def test_what_a_term_adds_by_hand(model: str, numbers: tuple[float, ...], expected: float) -> None:
    """Numbers are tf, dl, the term's own number, and shared numbers, which models take as logarithms."""
    tf, dl, own, *shared = numbers
    value, _, _ = MODELS[model].part(*np.array([[tf], [dl], [own]], dtype=float), np.log(shared))
    assert value[0] == pytest.approx(expected, abs=1e-9)
