"""The verdict whether a rerun is the same system as its original."""

import re
import runpy
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, comb
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from conftest import ROOT
from random_examples import given, st
from touche import tasks
from touche.evaluation import same_system as same_system_module
from touche.evaluation.same_system import (
    EQUAL,
    IDENTICAL,
    NOT_SHOWN,
    OTHER_TEAMS,
    REPRODUCED,
    SAME_TEAM,
    SIMILAR,
    Closeness,
    closeness,
    means_sentence,
    note_on_means,
    same_system,
    share_of_sets,
    verdict_sentences,
)
from touche.tasks.per_topic import RunWithTopics, TopicValues, runs_with_topics, tasks_with_topics

MEASURE = "nDCG@5"
DIMENSIONS = ("relevance", "quality")
EXPLANATION = "docs/explanation/same-system.md"
TASK = "touche-2021-task-1"


def run_of(task_id: str, tag: str) -> RunWithTopics:
    [run] = [run for run in runs_with_topics(tasks.task(task_id), MEASURE) if run.tag == tag]
    return run


def some(run: RunWithTopics, topics: int) -> dict[str, dict[str, float]]:
    """Returns a run's values of its first topics."""
    return {name: dict(sorted(run.values[name].items())[:topics]) for name in DIMENSIONS}


def complete_pairs(task_id: str) -> Iterator[tuple[RunWithTopics, RunWithTopics]]:
    """Yields pairs of runs with a value for each of the 50 topics, in both dimensions."""
    return combinations(complete_runs(task_id, DIMENSIONS), 2)


def complete_runs(task_id: str, dimensions: tuple[str, ...]) -> list[RunWithTopics]:
    return [
        run
        for run in runs_with_topics(tasks.task(task_id), MEASURE)
        if all(len(run.values.get(name, ())) == 50 for name in dimensions)
    ]


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
    copy = "Dread Pirate Roberts (dreadpirateroberts_dirichlet_filtered), a copy, so it is reproduced, too"
    assert f" Other published runs as close: {copy}. The next has " in text
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
    assert close.copies == ["Shanks (re-rank1)"]
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
    assert ours is not None and theirs is not None
    assert ours.copies == ["Swordsman (dirichlet_multi_field)"]
    assert theirs.copies == [f"Dread Pirate Roberts ({original.tag})"]
    assert ours.verdict == REPRODUCED and (ours.equal, ours.values) == (98, 100)


def test_one_topic_shows_nothing_and_a_missing_topic_is_different() -> None:
    run = run_of(TASK, "dirichlet_multi_field")
    task = tasks.task(TASK)
    alone = closeness(task, MEASURE, some(run, 1), some(run, 1))
    assert alone is not None and alone.verdict == NOT_SHOWN and alone.equal == alone.values == 2
    assert "but on 1 topic so are those of 6.6% of pairs" in verdict_sentences(alone)
    partial = closeness(task, MEASURE, some(run, 50), some(run, 20))
    assert partial is not None and (partial.topics, partial.equal) == (50, 40)
    assert partial.difference > 0.1  # missing topics count 0


def test_the_page_counts_pairs_over_three_tasks() -> None:
    found = Counter[tuple[bool, bool]]()
    for task_id in tasks_with_topics():
        for a, b in complete_pairs(task_id):
            equal = equal_values(a.values, b.values)
            if equal < 100:  # not a copy
                found[a.team == b.team, equal >= EQUAL * 100] += 1
    different, one_team = (found[team, False] + found[team, True] for team in (False, True))
    page = " ".join((ROOT / "docs" / "explanation" / "same-system.md").read_text().split())
    assert not found[False, True]
    assert f"none of {different:,} pairs of different teams' runs have at least 90% equal values" in page
    assert f"and {found[True, True]} of {one_team} pairs of one team's runs" in page


def test_zeros_show_nothing() -> None:
    """As of two runs that share no document, and none of whose first documents is relevant."""
    zeros = {
        name: dict.fromkeys(values, 0.0) for name, values in some(run_of(TASK, "LMDSimilarity"), 50).items()
    }
    close = closeness(tasks.task(TASK), MEASURE, zeros, zeros)
    assert close is not None and (close.equal, close.positive) == (100, 0)
    assert close.verdict not in (IDENTICAL, REPRODUCED)
    assert "100 of 100 topic values are equal, but only 0 of these are above 0." in verdict_sentences(close)


def test_topics_on_which_many_runs_are_perfect_show_nothing() -> None:
    """Equal values of three topics are rare enough on average, but 40 runs have them on these topics."""
    topics = ("69", "72", "83")
    perfect = {name: dict.fromkeys(topics, 1.0) for name in DIMENSIONS}
    close = closeness(tasks.task(TASK), MEASURE, perfect, perfect)
    assert close is not None and close.share_of_pairs <= OTHER_TEAMS
    assert close.verdict == SIMILAR and close.other_teams == 40
    text = verdict_sentences(close)
    assert text.startswith("6 of 6 topic values are equal, but on 3 topics so are those of ")


def test_a_run_that_differs_from_its_published_values_is_found_by_its_tag() -> None:
    """Its own published values are not another run that is as close."""
    run = run_of(TASK, "ElrondOpenNlpRun")
    values = {name: {**of_dimension, "68": 0.001} for name, of_dimension in some(run, 50).items()}
    close = closeness(tasks.task(TASK), MEASURE, values, values, run.tag)
    assert close is not None and close.verdict == IDENTICAL
    assert close.next < 50 and not close.copies
    unknown = closeness(tasks.task(TASK), MEASURE, values, values, "another tag")
    assert unknown is not None and unknown.next == 98


def test_runs_without_a_judged_topic_have_no_verdict() -> None:
    nothing: dict[str, dict[str, float]] = {name: {} for name in DIMENSIONS}
    assert same_system(tasks.task(TASK), MEASURE, nothing, nothing) == ""
    toy = {"relevance": {"1": 0.5}}
    assert same_system(tasks.task("spot-check/passages"), MEASURE, toy, toy) == "", "nothing is published"


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


def test_what_a_mean_shows_is_counted_in_two_tasks() -> None:
    """Counted here pair by pair; two copies are left out in 2021, one in 2022."""
    for task_id, pairs in ((TASK, 2169), ("touche-2022-task-2", 282)):
        means = [
            [fmean(run.values["relevance"].values()) for run in pair]
            for pair in combinations(complete_runs(task_id, ("relevance",)), 2)
            if pair[0].team != pair[1].team and pair[0].values["relevance"] != pair[1].values["relevance"]
        ]
        within = sum(abs(a - b) <= 0.01 + 1e-9 for a, b in means)
        assert len(means) == pairs
        share = f"{100 * within / pairs:.2g}% of pairs of different teams' runs in {task_id}"
        assert share in note_on_means()


def shares_by_hand(task_id: str) -> dict[str, float]:
    """The share of different teams' pairs that pass a rule in relevance, on topics that both runs have."""
    runs = runs_with_topics(tasks.task(task_id), MEASURE)
    values = [(run.team, run.values["relevance"]) for run in runs if len(run.values["relevance"]) >= 47]
    counts = Counter[str]()
    for (team_a, a), (team_b, b) in combinations(values, 2):
        if team_a != team_b:
            differences = np.array([a[topic] - b[topic] for topic in a.keys() & b.keys()])
            spread = differences.std(ddof=1) / np.sqrt(len(differences))
            critical = stats.t.ppf(0.975, len(differences) - 1)
            counts["pairs"] += 1
            counts["paired t-test, p > 0.05"] += (
                bool(abs(differences.mean()) < critical * spread) or not spread
            )
            counts["means within 0.01"] += bool(abs(differences.mean()) <= 0.01 + 1e-9)
            equal = np.mean(abs(differences) < 1e-9)
            counts["at least 90% of the topics' values equal"] += bool(equal >= 0.9)
    return {rule: count / counts["pairs"] for rule, count in counts.items() if rule != "pairs"}


def test_the_table_of_rules_and_the_sentences_next_to_it_are_counted_here_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    table = runpy.run_path(str(ROOT / "docs" / "site" / "same_system.py"))["rules_table"]()
    header, _, *lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
    printed = {rule: dict(zip(header[1:], cells, strict=True)) for rule, *cells in lines}
    shares = {task_id: shares_by_hand(task_id) for task_id in tasks_with_topics()}
    for task_id, by_rule in shares.items():
        for rule, share in by_rule.items():
            [cell] = [
                cell
                for column, cell in printed[rule].items()
                if column.startswith(f"{task_id}: ") and column.endswith(" of different teams")
            ]
            assert cell == (f"{100 * share:.2g}%" if share else "0"), (task_id, rule)
    in_2021, in_2022 = shares[TASK], shares["touche-2022-task-2"]
    within = f"{in_2021['means within 0.01']:.0%} of pairs of different teams' runs pass in 2021 task 1, and "
    assert within + f"{in_2022['means within 0.01']:.0%} in 2022 task 2" in text_of(EXPLANATION)
    assert f"no difference for {in_2021['paired t-test, p > 0.05']:.0%}." in " ".join(
        (same_system_module.__doc__ or "").split()
    )


def test_pages_print_the_shares_that_are_counted_here() -> None:
    """Ten topics of 2021, twenty of 2022, all fifty of 2021: what rules would let other teams' runs pass?"""
    in_2021, in_2022 = (pairs_as_arrays(task_id)[False] for task_id in (TASK, "touche-2022-task-2"))
    on_ten = np.mean([comb(int(both), 10) / comb(50, 10) for both in (in_2021 == 2).sum(axis=1)])
    ten = f"{100 * on_ten:.2g}%"
    assert re.findall(r"([\d.]+%) of pairs of different teams' runs would pass", text_of("README.md")) == [
        ten
    ]
    assert (in_2022 == 2).sum(axis=1).max() < 20, "no pair is equal in twenty topics"
    rows = re.findall(r"\| (?:20 of 20|40 of 40) \| ([^|]+) \|", text_of("docs/explanation/replication.md"))
    assert rows == [ten, f"none of {len(in_2022)}"]
    assert in_2021.sum(axis=1).max() < 90, "no pair has 90% equal values"
    assert re.findall(r'"none of ([\d,]+) pairs"', text_of(EXPLANATION)) == [f"{len(in_2021):,}"]


def text_of(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


CLOSE = Closeness(
    topics=50, values=100, equal=100, positive=90, difference=0, copies=(), other_teams=0, same_team=0,
    next=0, pairs=100, share_of_pairs=0, team_pairs=10, share_of_team_pairs=0, share_of_means=0,
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
        ({"positive": 51}, IDENTICAL),
        ({"positive": 50}, SIMILAR),
        ({"same_team": 1}, SIMILAR),
        ({"other_teams": 1, "share_of_means": 0.051}, NOT_SHOWN),
    ],
)
def test_verdicts_at_their_limits(changes: dict[str, float], verdict: str) -> None:
    assert replace(CLOSE, **changes).verdict == verdict  # type: ignore[arg-type]


@cache
def pairs_as_arrays(task_id: str) -> dict[bool, NDArray[np.intp]]:
    """Each pair's number of equal values per topic, by whether its runs are from one team."""
    rows: dict[bool, list[list[int]]] = {False: [], True: []}
    for a, b in complete_pairs(task_id):
        equal = [
            sum(a.values[name][topic] == b.values[name][topic] for name in DIMENSIONS)
            for topic in a.values["relevance"]
        ]
        if sum(equal) < 100:  # not a copy
            rows[a.team == b.team].append(equal)
    return {is_one_team: np.array(equal) for is_one_team, equal in rows.items()}


def errors(task_id: str, topics: int, least: int) -> tuple[float, float]:
    """The shares of different teams' and one team's pairs with enough equal values in random sets."""
    random = np.random.default_rng(topics)
    chosen = [random.permutation(50)[:topics] for _ in range(500)]
    shares = {
        is_one_team: np.mean([equal[:, topics].sum(axis=1) >= least for topics in chosen])
        for is_one_team, equal in pairs_as_arrays(task_id).items()
    }
    return float(shares[False]), float(shares[True])


def fewest_by(task_ids: Collection[str], topics: int, floor: float) -> int | None:
    """The fewest equal values that keep the promised error rates in these tasks, by the verdict's shares.

    Args:
        floor: the share of the values that must be equal in any case.
    """

    def is_rare(equal: int) -> bool:
        close = [closeness_of_equal(task_id, topics, equal) for task_id in task_ids]
        return all(
            each.share_of_pairs <= OTHER_TEAMS and each.share_of_team_pairs <= SAME_TEAM for each in close
        )

    numbers = range(ceil(floor * 2 * topics), 2 * topics + 1)
    fewest = bisect_left(numbers, True, key=is_rare)  # more equal values are rarer
    return numbers[fewest] if fewest < len(numbers) else None


def closeness_of_equal(task_id: str, topics: int, equal: int) -> Closeness:
    """How close a rerun is with so many equal values on so many topics; its other values are missing."""
    run = runs_with_topics(tasks.task(task_id), MEASURE)[0]
    original = some(run, topics)
    rerun: dict[str, dict[str, float]] = {name: {} for name in DIMENSIONS}
    values = [(name, topic) for name in DIMENSIONS for topic in original[name]]
    for name, topic in values[:equal]:
        rerun[name][topic] = original[name][topic]
    close = closeness(tasks.task(task_id), MEASURE, original, rerun, run.tag)
    assert close is not None and close.equal == equal
    return close


@pytest.mark.parametrize("topics", [3, 5, 10, 20, 50])
@pytest.mark.parametrize("left_out", tasks_with_topics())
def test_a_limit_from_two_tasks_keeps_the_error_rates_in_the_third(left_out: str, topics: int) -> None:
    """The error rates are counted in random sets of topics, not by the formula that found the limit."""
    two_tasks = [task_id for task_id in tasks_with_topics() if task_id != left_out]
    least = fewest_by(two_tasks, topics, EQUAL)
    assert least is not None
    other_teams, one_team = errors(left_out, topics, least)
    assert other_teams <= 0.01 and one_team <= 0.10


@pytest.mark.parametrize("topics", [5, 10, 20, 50])
def test_without_the_ninety_percent_a_limit_from_two_tasks_breaks_in_the_third(topics: int) -> None:
    least = fewest_by(["touche-2021-task-2", "touche-2022-task-2"], topics, 0)
    assert least is not None
    other_teams, one_team = errors(TASK, topics, least)
    assert other_teams > 0.01 and one_team > 0.10
    assert topics != 50 or least == 39  # as docs/explanation/same-system.md says


def test_on_two_topics_a_limit_from_two_tasks_does_not_hold_in_the_third() -> None:
    """Therefore the verdict takes the shares of the rerun's own task."""
    assert fewest_by(["touche-2021-task-2", "touche-2022-task-2"], 2, EQUAL) == 4
    close = closeness_of_equal(TASK, 2, 4)
    assert close.share_of_pairs > 0.01 or close.share_of_team_pairs > 0.10
    assert close.equal == close.values and close.verdict not in (IDENTICAL, REPRODUCED)


@pytest.mark.parametrize("task_id", tasks_with_topics())
def test_one_topic_is_never_enough_and_three_are(task_id: str) -> None:
    assert fewest_by([task_id], 1, EQUAL) is None
    assert closeness_of_equal(task_id, 1, 2).verdict not in (IDENTICAL, REPRODUCED)
    assert fewest_by([task_id], 3, EQUAL) == 6
    assert closeness_of_equal(task_id, 3, 6).verdict == IDENTICAL
