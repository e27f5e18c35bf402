"""The verdict whether a rerun is the same system as its original."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from random_examples import given, st
from touche import tasks
from touche.evaluation.same_system import (
    IDENTICAL,
    NOT_SHOWN,
    REPRODUCED,
    SIMILAR,
    Closeness,
    closeness,
    means_sentence,
    share_of_sets,
    verdict_sentences,
)
from touche.tasks.per_topic import RunWithTopics, TopicValues, runs_with_topics, tasks_with_topics

MEASURE = "nDCG@5"
DIMENSIONS = ("relevance", "quality")
TASK = "touche-2021-task-1"


def run_of(task_id: str, tag: str) -> RunWithTopics:
    [run] = [run for run in runs_with_topics(tasks.task(task_id), MEASURE) if run.tag == tag]
    return run


def some(run: RunWithTopics, topics: int) -> dict[str, dict[str, float]]:
    """Returns a run's values of its first topics."""
    return {name: dict(sorted(run.values[name].items())[:topics]) for name in DIMENSIONS}


def complete_pairs(task_id: str) -> Iterator[tuple[RunWithTopics, RunWithTopics]]:
    """Yields pairs of runs with a value for each of the 50 topics, in both dimensions."""
    runs = [
        run
        for run in runs_with_topics(tasks.task(task_id), MEASURE)
        if all(len(run.values.get(name, ())) == 50 for name in DIMENSIONS)
    ]
    return combinations(runs, 2)


def equal_values(a: TopicValues, b: TopicValues) -> int:
    return sum(b[name][topic] == value for name in DIMENSIONS for topic, value in a[name].items())


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.data())
def test_a_share_of_sets_is_that_of_all_sets_one_by_one(equal: list[int], data: st.DataObject) -> None:
    topics = data.draw(st.integers(1, len(equal)))
    least = data.draw(st.integers(0, 2 * topics))
    sets = [sum(chosen) >= least for chosen in combinations(equal, topics)]
    assert share_of_sets(Counter(equal), topics, least) == pytest.approx(sum(sets) / len(sets), abs=1e-12)


def test_a_share_of_sets_by_hand() -> None:
    # Two of four topics are equal in both dimensions: 1 of the 6 sets of two topics has all 4 values.
    assert share_of_sets({2: 2, 0: 2}, 2, 4) == float(Fraction(1, 6))


@pytest.mark.parametrize("task_id", tasks_with_topics())
def test_three_pairs_of_published_runs_are_copies(task_id: str) -> None:
    copies = {
        frozenset([a.tag, b.tag])
        for a, b in complete_pairs(task_id)
        if equal_values(a.values, b.values) == 100
    }
    assert (
        copies
        == {
            "touche-2021-task-1": {
                frozenset(["dirichlet_multi_field", "dreadpirateroberts_dirichlet_filtered"]),
                frozenset(["LMDSimilarity", "re-rank1"]),
            },
            "touche-2021-task-2": set(),
            "touche-2022-task-2": {frozenset(["grimjack-baseline", "grimjack-argumentative-axioms"])},
        }[task_id]
    )


def test_ten_topics_are_as_the_issue_counts() -> None:
    """The shares of pairs are counted here in another way: for each pair, by the binomial coefficients."""
    run = run_of(TASK, "dirichlet_multi_field")
    close = closeness(tasks.task(TASK), MEASURE, some(run, 10), some(run, 10), run.tag)
    assert close is not None
    shares: dict[bool, list[float]] = {True: [], False: []}
    for a, b in complete_pairs(TASK):
        both = sum(
            all(a.values[name][topic] == b.values[name][topic] for name in DIMENSIONS)
            for topic in a.values["relevance"]
        )
        if both < 50:  # not a copy
            chance = Fraction(1)
            for position in range(10):
                chance *= Fraction(max(both - position, 0), 50 - position)
            shares[a.team == b.team].append(float(chance))
    assert (close.pairs, close.team_pairs) == (len(shares[False]), len(shares[True]))
    assert close.share_of_pairs == pytest.approx(sum(shares[False]) / len(shares[False]))
    assert close.share_of_team_pairs == pytest.approx(sum(shares[True]) / len(shares[True]))
    assert f"{100 * close.share_of_pairs:.3f}" == "0.009"


def test_the_sentence_of_ten_topics() -> None:
    run = run_of(TASK, "dirichlet_multi_field")
    close = closeness(tasks.task(TASK), MEASURE, some(run, 10), some(run, 10), run.tag)
    assert close is not None
    text = verdict_sentences(close)
    assert text.startswith("20 of 20 topic values are equal: identical. On 10 topics, 0.009% of pairs of")
    assert "one comes as close, a copy; the next has" in text
    assert verdict_sentences(close, fitted=True).startswith(text)
    assert verdict_sentences(close, fitted=True).endswith("its formula and analysis, not its frequencies.")


def test_other_runs_are_counted_by_team() -> None:
    """Counted here run by run, for an original with a copy and many similar runs."""
    original = run_of(TASK, "LMDSimilarity")
    rerun = run_of(TASK, "dirichlet_multi_field")
    close = closeness(tasks.task(TASK), MEASURE, some(original, 50), some(rerun, 50), original.tag)
    assert close is not None
    others = {a.tag: a for pair in complete_pairs(TASK) for a in pair if a.tag != original.tag}
    in_common = {tag: equal_values(original.values, run.values) for tag, run in others.items()}
    as_close = [tag for tag, number in in_common.items() if close.equal <= number < 100]
    assert close.equal == in_common[rerun.tag]
    assert close.copies == 1
    assert close.same_team == sum(others[tag].team == original.team for tag in as_close)
    assert close.other_teams == len(as_close) - close.same_team
    assert close.next == max(number for number in in_common.values() if number < close.equal)


def test_an_original_is_told_from_its_copy_by_its_tag() -> None:
    original = run_of(TASK, "dreadpirateroberts_dirichlet_filtered")
    changed = {name: {**values, "51": 0.123} for name, values in some(original, 50).items()}
    by_tag = {
        tag: closeness(tasks.task(TASK), MEASURE, some(original, 50), changed, tag)
        for tag in (original.tag, "dirichlet_multi_field")
    }
    ours, theirs = by_tag.values()
    assert ours is not None and theirs is not None and ours.copies == theirs.copies == 1
    assert ours.verdict == REPRODUCED and (ours.equal, ours.values) == (98, 100)


def test_one_topic_shows_nothing_and_a_missing_topic_is_different() -> None:
    run = run_of(TASK, "dirichlet_multi_field")
    task = tasks.task(TASK)
    alone = closeness(task, MEASURE, some(run, 1), some(run, 1))
    assert alone is not None and alone.verdict == NOT_SHOWN and alone.equal == alone.values == 2
    assert "but on 1 topic so are 6.6% of pairs" in verdict_sentences(alone)
    partial = closeness(task, MEASURE, some(run, 50), some(run, 20))
    assert partial is not None and (partial.topics, partial.equal) == (50, 40)
    assert partial.difference > 0.1  # missing topics count 0


def test_there_is_no_verdict_without_values_of_topics() -> None:
    values = {"relevance": {"1": 0.5}}
    assert closeness(tasks.task("touche-2020-task-1"), MEASURE, values, values) is None
    assert closeness(tasks.task(TASK), MEASURE, values, values) is None  # topics are 51 to 100
    assert closeness(tasks.task(TASK), "nDCG@10", some(run_of(TASK, "LMDSimilarity"), 50), values) is None


@pytest.mark.parametrize(
    ("task_id", "difference", "shares", "verdict"),
    [
        ("touche-2020-task-1", 0.01, "9% of pairs of different teams' runs in touche-2021-task-1", NOT_SHOWN),
        (
            "touche-2020-task-1",
            0.004,
            "3.6% of pairs of different teams' runs in touche-2021-task-1",
            SIMILAR,
        ),
        ("touche-2023-task-3", 0.01, "1.1% of pairs of different teams' runs in touche-2022-task-2", SIMILAR),
    ],
)
def test_means_alone_are_at_most_similar(task_id: str, difference: float, shares: str, verdict: str) -> None:
    sentence = means_sentence(tasks.task(task_id), difference, 50)
    assert shares in sentence and sentence.endswith(f"{verdict}.")


CLOSE = Closeness(
    topics=50, values=100, equal=100, difference=0, copies=0, other_teams=0, same_team=0, next=0,
    pairs=100, share_of_pairs=0, team_pairs=10, share_of_team_pairs=0, share_of_means=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, IDENTICAL),
        ({"equal": 90}, REPRODUCED),
        ({"equal": 89}, SIMILAR),
        ({"share_of_pairs": 0.0101, "share_of_means": 0.05}, SIMILAR),
        ({"share_of_team_pairs": 0.101, "share_of_means": 0.051}, NOT_SHOWN),
        ({"share_of_pairs": 0.01, "share_of_team_pairs": 0.1}, IDENTICAL),
    ],
)
def test_verdicts_at_their_limits(changes: dict[str, float], verdict: str) -> None:
    assert replace(CLOSE, **changes).verdict == verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("left_out", tasks_with_topics())
@pytest.mark.parametrize("topics", [5, 10, 20, 50])
def test_limits_that_hold_in_two_tasks_hold_in_the_third(left_out: str, topics: int) -> None:
    """A rerun that is reproduced by two tasks' pairs would be reproduced by the third's."""

    def verdict(task_id: str, equal: int) -> str:
        run = runs_with_topics(tasks.task(task_id), MEASURE)[0]
        original = some(run, topics)
        values = [(name, topic) for name in DIMENSIONS for topic in original[name]]
        rerun: dict[str, dict[str, float]] = {name: {} for name in DIMENSIONS}
        for name, topic in values[:equal]:
            rerun[name][topic] = original[name][topic]
        close = closeness(tasks.task(task_id), MEASURE, original, rerun)
        assert close is not None and close.equal == equal
        return close.verdict

    two_tasks = [task_id for task_id in tasks_with_topics() if task_id != left_out]
    for equal in range(2 * topics * 9 // 10, 2 * topics + 1):  # fewer are never reproduced
        if all(verdict(task_id, equal) in (IDENTICAL, REPRODUCED) for task_id in two_tasks):
            assert verdict(left_out, equal) in (IDENTICAL, REPRODUCED), f"{equal} equal values"
            break
    else:
        pytest.fail("two tasks reproduce no rerun")
