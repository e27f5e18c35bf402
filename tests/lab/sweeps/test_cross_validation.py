from math import nextafter

import pytest

from random_examples import given, st
from touche.errors import ToucheError
from touche.lab.sweeps.cross_validation import FOLDS, best, cross_validated

TOPICS = list("12345678")
VALUES = st.sampled_from([0.125, 0.25, 0.5, 1.0])
CANDIDATES = st.dictionaries(
    st.sampled_from("abcd"), st.fixed_dictionaries(dict.fromkeys(TOPICS, VALUES)), min_size=2
)


def test_two_folds_come_to_what_is_computed_by_hand() -> None:
    candidates = {
        "a": {"1": 1.0, "2": 0.0, "3": 0.75, "4": 0.0},
        "b": {"1": 0.5, "2": 0.25, "3": 0.0, "4": 0.5},
    }
    validation = cross_validated([*candidates.items()], "two-fold")
    # Topics 1 and 3 are scored with b, the best of 2 and 4; and these with a, the best of 1 and 3.
    assert [(fold.choice, dict(fold.values)) for fold in validation.folds] == [
        ("b", {"1": 0.5, "3": 0.0}),
        ("a", {"2": 0.0, "4": 0.0}),
    ]
    assert [fold.mean for fold in validation.folds] == [0.25, 0.0]
    assert validation.mean == 0.125 and validation.interval[0] <= 0.125 <= validation.interval[1]


@pytest.mark.parametrize("method", FOLDS)
@given(CANDIDATES, CANDIDATES)
def test_a_tested_topic_has_no_say_in_the_choice(method, candidates, others) -> None:  # type: ignore[no-untyped-def]
    validation = cross_validated([*candidates.items()], method)
    assert [topic for fold in validation.folds for topic in fold.values] != []
    assert sorted(validation.values) == TOPICS
    for position, fold in enumerate(validation.folds):
        changed = {
            name: {
                topic: others.get(name, {}).get(topic, 0.0) if topic in fold.values else value
                for topic, value in values.items()
            }
            for name, values in candidates.items()
        }
        again = cross_validated([*changed.items()], method).folds[position]
        assert again.choice == fold.choice
        assert dict(again.values) == {topic: changed[fold.choice][topic] for topic in fold.values}


def test_of_equal_candidates_the_first_is_chosen_and_a_better_one_is_not_missed() -> None:
    halves = {"1": 0.5, "2": 0.5}
    assert best([("x", halves), ("a", halves)], {"1", "2"}) == ("x", halves)
    equal_but_for_rounding = {"1": nextafter(0.5, 1), "2": 0.5}
    assert best([("x", halves), ("a", equal_but_for_rounding)], {"1"}) == ("x", halves)
    better = {"1": 0.500001, "2": 0.5}
    assert best([("x", halves), ("a", better)], {"1"}) == ("a", better)


def test_a_topic_that_the_evaluator_leaves_out_counts_nowhere() -> None:
    candidates = [("a", {"1": 0.2, "3": 0.9}), ("b", {"2": 0.4})]
    validation = cross_validated(candidates, "leave-one-topic-out")
    # Topic 1 would be scored with a, which it has; topic 2 with a, which lacks it; topic 3 with b, likewise.
    assert [fold.choice for fold in validation.folds] == ["a", "a", "b"]
    assert validation.values == {"1": 0.2} and validation.folds[1].mean is None
    assert best([("none", {}), ("a", {"1": 0.0})], {"1"})[0] == "a"


ZEROS = {"1": 0.0, "2": 0.0}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, r"two-fold.*two topics"),
        ({"1": 1.0}, r"two-fold.*two topics"),
        (ZEROS, r"are 0.*task"),
    ],
)
def test_one_topic_is_too_few_and_scores_that_are_all_0_choose_nothing(
    values: dict[str, float], problem: str
) -> None:
    with pytest.raises(ToucheError, match=problem):
        cross_validated([("a", values), ("b", values)], "two-fold")


def test_one_score_above_0_is_enough() -> None:
    assert cross_validated([("a", ZEROS), ("b", ZEROS | {"2": 0.1})], "two-fold").mean == 0
