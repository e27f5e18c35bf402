import json
from math import log2
from pathlib import Path
from statistics import fmean, stdev

import pytest

from conftest import Touche, Write
from spotcheck import BEST, SPOT, made_up, run_of, run_text
from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons, not_compared, topic_differences
from touche.evaluation.scores import evaluate
from touche.evaluation.significance import bootstrap_interval, randomisation_test


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """The best run, one that lacks two topics, and one that lacks another."""
    chosen = {"all": BEST, "two": ["11", "12"], "three": ["12", "13", "14"]}
    return [write(f"{name}.txt", run_text(topics, tag=name)) for name, topics in chosen.items()]


def test_every_two_runs_are_compared(runs: list[Path]) -> None:
    found = comparisons(evaluate(runs, SPOT), "trec_eval", randomisation=True)
    assert [(each.run_a, each.run_b) for each in found] == [
        ("all", "two"),
        ("all", "three"),
        ("two", "three"),
    ]
    assert [(each.won, each.lost, each.tied, each.topics) for each in found] == [
        (2, 0, 2, 4),
        (1, 0, 3, 4),
        (1, 2, 1, 4),
    ]
    assert [each.difference for each in found] == pytest.approx([0.5, 0.25, -0.25])
    first = found[0]
    assert (first.mean_a, first.mean_b, first.low, first.high) == pytest.approx((1, 0.5, 0, 1))
    assert (first.p_randomisation, first.p_randomisation_holm) == (0.5, 1.0)
    assert first.p_t_test == pytest.approx(0.18169, abs=1e-5)  # t = 0.5 / (0.57735 / 2) = 1.7321, 3 degrees
    assert first.p_t_test_holm == pytest.approx(3 * first.p_t_test)
    assert first.effect_size == pytest.approx(0.86603, abs=1e-5)


def test_dimensions_are_compared_apart_and_by_hand(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """In relevance B wins topic 1, A wins topic 3; in quality the other way round."""
    task = made_up(write, monkeypatch, relevance="a", quality="b")
    a = write("a.txt", run_of("1 b a", "2 a b", "3 a b", "4 x", tag="A"))
    b = write("b.txt", run_of("1 a b", "2 a b", "3 b", "4 b", tag="B"))
    relevance, quality = comparisons(evaluate([a, b], task), "trec_eval", randomisation=True)
    assert [(each.dimension, each.run_a, each.run_b) for each in (relevance, quality)] == [
        ("relevance", "A", "B"),
        ("quality", "A", "B"),
    ]
    second = 1 / log2(3)
    for found, differences in (
        (relevance, [second - 1, 0, 1, 0]),
        (quality, [1 - second, 0, second - 1, -1]),
    ):
        assert found.difference == pytest.approx(fmean(differences))
        assert (found.low, found.high) == pytest.approx(bootstrap_interval(differences))
        assert found.effect_size == pytest.approx(fmean(differences) / stdev(differences))
        assert found.p_randomisation == pytest.approx(randomisation_test(differences))
    assert (relevance.won, relevance.lost, relevance.tied) == (1, 1, 2)
    assert quality.difference < 0


def test_with_the_organizers_evaluator_only_shared_topics_count(runs: list[Path]) -> None:
    every = evaluate(runs, SPOT)
    found, other = comparisons(every, "touche")
    assert [(each.run_a, each.run_b) for each in (found, other)] == [("all", "two"), ("all", "three")]
    assert list(not_compared(every, "touche")) == [
        "two and three are not compared in relevance by touche: too few topics are scored for both, "
        "1 of 2 at the least"
    ]
    assert (found.topics, found.tied, found.p_t_test, found.effect_size) == (2, 2, 1.0, 0.0)


def test_the_largest_differences_come_first_with_their_titles(runs: list[Path]) -> None:
    found = topic_differences(evaluate(runs[1:], SPOT), "trec_eval")
    assert [(each.topic, round(each.difference)) for each in found] == [
        ("11", 1),
        ("13", -1),
        ("14", -1),
        ("12", 0),
    ]
    assert all(each.title.endswith("?") for each in found)


def test_one_run_cannot_be_compared(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="one run alone cannot be compared"):
        comparisons(evaluate(runs[:1], SPOT), "trec_eval")


def test_the_command_shows_tests_and_topics(touche: Touche, runs: list[Path]) -> None:
    code, out, err = touche("compare", *runs[:2], "--task", "spot-check/passages")
    lines = out.splitlines()
    assert code == 0
    assert err.startswith(
        "warning: two, relevance: the run has no results for topics 13, 14, which trec_eval"
    )
    assert lines[1].split()[:6] == ["all", "two", "relevance", "1.000", "0.500", "+0.500"]
    assert lines[1].split()[-4:] == ["2,", "0,", "2", "4"]
    assert not any("?" in line for line in lines)  # no titles of topics, which are shown on request
    _, out, _ = touche("compare", *runs[:2], "--task", "spot-check/passages", "--per-topic")
    assert out.splitlines()[1].split()[:7] == ["all", "two", "relevance", "13", "+1.000", "1.000", "0.000"]


def test_with_a_reference_each_other_run_is_compared_with_it_and_the_correction_is_for_these(
    touche: Touche, runs: list[Path]
) -> None:
    command = "compare", *runs, "--task", "spot-check/passages", "--format", "json", "--reference"
    for reference in ("two", runs[1]):  # tag, path
        rows = json.loads(touche(*command, reference)[1])
        assert [(row["run_a"], row["run_b"], row["difference"]) for row in rows] == [
            ("all", "two", 0.5),
            ("three", "two", 0.25),
        ]
        assert rows[0]["p_t_test_holm"] == 2 * rows[0]["p_t_test"]  # the other one is greater
    topics = json.loads(touche(*command, "two", "--per-topic")[1])
    assert {(row["run_a"], row["run_b"]) for row in topics} == {("all", "two"), ("three", "two")}
    code, _, err = touche(*command, "tow")
    assert code == 2 and "no run 'tow'" in err and "two" in err.partition(";")[2]


def test_significance_is_by_the_corrected_t_test_alone(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, of 8 topics: A is right on all, B on the first two, C on the first alone.

    A - B is 0 twice and 1 six times: t = 0.75 / (0.4629 / sqrt 8) = 4.583 with 7 degrees, p = 0.0025; A - C
    has t = 7 and p = 0.0002. B - C is 1 once: t = 1, p = 0.3506, no finding with any correction.
    """
    numbers = [str(number) for number in range(1, 9)]
    task = made_up(write, monkeypatch, topics=tuple(numbers), relevance="a")
    right = {"A": 8, "B": 2, "C": 1}
    runs = [
        write(f"{tag}.txt", run_of(*(f"{n} {'a' if int(n) <= upto else 'x'}" for n in numbers), tag=tag))
        for tag, upto in right.items()
    ]
    found = comparisons(evaluate(runs, task), "trec_eval")
    assert [each.p_t_test for each in found] == pytest.approx([0.0025, 0.0002, 0.3506], abs=5e-5)
    assert [each.p_t_test_holm for each in found] == pytest.approx([0.0051, 0.0006, 0.3506], abs=5e-5)
    assert [each.significant for each in found] == [True, True, False]
    assert {each.p_randomisation for each in found} == {None}
    command = "compare", *runs, "--qrels", write("relevance.qrels", "".join(f"{n} 0 a 1\n" for n in numbers))
    rows = touche(*command)[1].splitlines()[:4]
    assert "  p t  Holm t    won" in rows[0] and [" * " in row for row in rows] == [False, True, True, False]
    asked = touche(*command, "--randomisation")[1].splitlines()
    assert "p rand.  Holm rand." in asked[0] and " 0.0312 " in asked[1]  # 2 of 64 signs of six topics
    assert "intervals are not corrected" in asked[5] and asked[6].startswith("* significant: below 0.05 by")
