import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy import stats

from random_examples import given, settings, st
from touche.errors import ToucheError
from touche.evaluation import significance

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda number: number / 8), min_size=2, max_size=12)


def test_the_interval_of_two_topics_by_hand() -> None:
    """A quarter of the resamples of (0, 1) has the mean 0, a quarter 1, and half 0.5."""
    assert significance.bootstrap_interval([0.0, 1.0]) == (0.0, 1.0)
    assert significance.bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_the_interval_is_the_percentile_bootstrap_of_scipy() -> None:
    scores = np.random.default_rng(1).random(50)
    expected = stats.bootstrap((scores,), np.mean, n_resamples=10_000, method="percentile", rng=2)
    interval = significance.bootstrap_interval(list(scores))
    assert interval == pytest.approx(tuple(expected.confidence_interval), abs=0.004)
    assert interval == significance.bootstrap_interval(list(scores))  # the same every time


def test_the_t_test_by_hand() -> None:
    """Mean 2, standard error 1 / sqrt(3), so t = 3.4641 with 2 degrees of freedom."""
    assert significance.t_test([1.0, 2.0, 3.0]) == pytest.approx(0.0741799, abs=1e-7)
    assert significance.t_test([0.0, 0.0]) == 1.0


@pytest.mark.parametrize(
    ("scores", "others", "differences", "p", "d"),
    [
        ([0.3, 0.2, 0.4], [0.2, 0.1, 0.3], [0.1] * 3, None, None),  # equal, except for rounding
        ([0.0] * 4, [1.0] * 4, [-1.0] * 4, None, None),
        ([(1 / 2 + 2 / 4 + 3 / 6) / 3] * 2, [(1 / 2 + 2 / 3 + 3 / 9) / 3] * 2, [0.0] * 2, 1.0, 0.0),
    ],
)
def test_equal_differences_have_no_t_and_ties_no_difference(
    scores: list[float], others: list[float], differences: list[float], p: float | None, d: float | None
) -> None:
    """Without variance, t is undefined; the last values of AP differ in the 16th decimal."""
    found = significance.differences_of(scores, others)
    assert found == pytest.approx(differences, abs=1e-15) and "-0.0" not in map(str, found)
    assert [difference == 0 for difference in found] == [difference == 0 for difference in differences]
    assert (significance.t_test(found), significance.effect_size(found)) == (p, d)


@settings(max_examples=30)
@given(DIFFERENCES)
def test_the_randomisation_test_is_that_of_scipy(differences: list[float]) -> None:
    of_scipy = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=10_000
    )  # one sample: it flips signs, exactly for at most 4096 combinations
    if sum(differences):
        assert significance.randomisation_test(differences) == pytest.approx(of_scipy.pvalue)


def test_all_signs_are_tried_up_to_16_topics_and_a_sampled_p_value_is_never_zero() -> None:
    assert significance.randomisation_test([1.0] * 16) == 2 / 2**16
    assert significance.randomisation_test([1.0] * 40) == 1 / 100_001


def test_equal_sums_are_equal_whatever_their_order() -> None:
    """0.1 + 0.2 + 0.3 and 0.6 differ in the last bit."""
    assert significance.randomisation_test([0.1, 0.2, 0.3, -0.6]) == 1.0


@settings(max_examples=50)
@given(
    st.sampled_from([3, 5, 7, 60]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=10),
)
def test_the_randomisation_test_of_precision_is_a_count_in_whole_numbers(
    cutoff: int, hits: list[tuple[int, int]]
) -> None:
    """P@k is hits / k, so the sums of hits decide which assignments are as far from 0 as the observed one."""
    hit_differences = [a - b for a, b in hits]
    sums = [
        sum(sign * hit for sign, hit in zip(signs, hit_differences, strict=True))
        for signs in product((1, -1), repeat=len(hits))
    ]
    as_far = sum(abs(total) >= abs(sum(hit_differences)) for total in sums)
    differences = significance.differences_of([a / cutoff for a, _ in hits], [b / cutoff for _, b in hits])
    assert significance.randomisation_test(differences) == as_far / len(sums)


def test_sums_that_differ_by_rounding_errors_are_equal_among_drawn_assignments() -> None:
    """In thirds and in whole numbers, the same assignments are as far from 0 as the observed one."""
    thirds = [1 / 3] * 15 + [2 / 3 - 1.0] * 5 + [1.0 - 2 / 3] * 10
    whole = [1.0] * 15 + [-1.0] * 5 + [1.0] * 10
    assert significance.randomisation_test(thirds) == significance.randomisation_test(whole)


@pytest.mark.parametrize("topics", [50, 1_500])
def test_the_size_of_blocks_changes_no_draw(monkeypatch: pytest.MonkeyPatch, topics: int) -> None:
    """Resamples and signs are those of one large draw, however many are drawn at a time."""
    values = [number % 7 / 7 for number in range(topics)]
    differences = [value - 0.4 for value in values]
    resamples = np.random.default_rng(significance.SEED).integers(topics, size=(10_000, topics))
    expected = significance.interval_of(np.array(values)[resamples].mean(axis=1))
    p = significance.randomisation_test(differences)
    monkeypatch.setattr(significance, "_CELLS", 7_000)
    monkeypatch.setattr(significance, "_CACHED", 0)
    assert significance.bootstrap_interval(values) == expected
    assert significance.randomisation_test(differences) == p


def test_the_memory_of_the_bootstrap_and_of_signs_does_not_grow_with_the_topics() -> None:
    """Half a gigabyte of indices are drawn, and 12 MB of them are held at a time."""
    tracemalloc.start()
    try:
        significance.bootstrap_interval([0.0, 1.0] * 3_000)
        significance.resampled_sums(np.ones((6_000, 1)))
        significance.randomisation_test([0.1, -0.1] * 1_000)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """A hypothesis is rejected if Bonferroni's test rejects every set that contains it."""
    number = len(p_values)
    for index, corrected in enumerate(significance.holm(p_values)):
        sets = [
            [p for p, taken in zip(p_values, chosen, strict=True) if taken]
            for chosen in product((False, True), repeat=number)
            if chosen[index]
        ]
        assert corrected == pytest.approx(max(min(1.0, len(p_values) * min(p_values)) for p_values in sets))


def test_a_test_without_a_p_value_is_still_one_of_the_family() -> None:
    assert significance.holm([]) == []
    assert significance.holm([0.01, None, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06)]


def test_the_effect_size_by_hand() -> None:
    assert significance.effect_size([1.0, 2.0, 3.0]) == 2.0
    assert significance.effect_size([0.0, 0.0]) == 0.0
    assert significance.effect_size([0.25, 0.25]) is None


def test_one_topic_is_too_few() -> None:
    with pytest.raises(ToucheError, match="1 topic in common, too few"):
        significance.t_test([0.5])
