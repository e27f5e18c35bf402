import json
from pathlib import Path

import pytest

import touche as package
from conftest import Touche, Write
from spotcheck import BEST, SPOT, made_up, run_of, run_text
from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons, topic_differences
from touche.evaluation.scores import evaluate


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """The best run, one that lacks two topics, and one that lacks another."""
    chosen = {"all": BEST, "two": ["11", "12"], "three": ["12", "13", "14"]}
    return [write(f"{name}.txt", run_text(topics, tag=name)) for name, topics in chosen.items()]


def test_every_two_runs_are_compared(runs: list[Path]) -> None:
    compared, _ = comparisons(evaluate(runs, SPOT), "trec_eval", randomisation=True)
    names = [("all", "two"), ("all", "three"), ("two", "three")]
    assert [(comparison.run_a, comparison.run_b) for comparison in compared] == names
    outcomes = [(2, 0, 2, 4), (1, 0, 3, 4), (1, 2, 1, 4)]
    assert [
        (comparison.won, comparison.lost, comparison.tied, comparison.topics) for comparison in compared
    ] == outcomes
    assert [comparison.difference for comparison in compared] == pytest.approx([0.5, 0.25, -0.25])
    first = compared[0]
    assert (first.mean_a, first.mean_b, first.low, first.high) == pytest.approx((1, 0.5, 0, 1))
    assert (first.p_randomisation, first.p_randomisation_holm) == (0.5, 1.0)
    assert first.p_t_test == pytest.approx(0.18169, abs=1e-5)  # t = 0.5 / (0.57735 / 2) = 1.7321, 3 degrees
    assert first.p_t_test_holm == pytest.approx(3 * first.p_t_test)
    assert first.effect_size == pytest.approx(0.86603, abs=1e-5)


def test_with_the_organizers_evaluator_only_shared_topics_count(runs: list[Path]) -> None:
    (first, other), faults = comparisons(evaluate(runs, SPOT), "touche")
    assert [(comparison.run_a, comparison.run_b) for comparison in (first, other)] == [
        ("all", "two"),
        ("all", "three"),
    ]
    assert faults == [
        "two and three are not compared in relevance by touche: 1 topics are scored for both, "
        "but a test needs 2"
    ]
    assert (first.topics, first.tied, first.p_t_test, first.effect_size) == (2, 2, 1.0, 0.0)


def test_the_largest_differences_come_first_with_their_titles(runs: list[Path]) -> None:
    differences = topic_differences(evaluate(runs[1:], SPOT), "trec_eval")
    expected = [("11", 1), ("13", -1), ("14", -1), ("12", 0)]
    assert [(difference.topic, round(difference.difference)) for difference in differences] == expected
    assert all(difference.title.endswith("?") for difference in differences)


def test_one_run_cannot_be_compared(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="at least two runs"):
        comparisons(evaluate(runs[:1], SPOT), "trec_eval")


def test_a_reference_without_stances_is_compared_only_by_its_rankings(write: Write) -> None:
    ranked = run_text(["11", "12"], tag="with").replace(" Q0 ", " NO ")
    runs = [write("with.txt", ranked), write("none.txt", run_text())]
    compared = package.compare(runs, "spot-check/passages", reference=runs[1])
    assert {comparison.dimension for comparison in compared} == {"relevance"}


def test_with_a_reference_each_other_run_is_compared_with_it_and_the_correction_is_for_these(
    touche: Touche, runs: list[Path]
) -> None:
    command = (
        "compare",
        *runs,
        "--task",
        "spot-check/passages",
        "--measure",
        "nDCG@5",
        "--format",
        "json",
        "--reference",
    )
    for reference in ("two", runs[1]):  # tag, path
        rows = json.loads(touche(*command, reference)[1])
        differences = [("all", "two", 0.5), ("three", "two", 0.25)]
        assert [(row["run_a"], row["run_b"], row["difference"]) for row in rows] == differences
        assert rows[0]["p_t_test_holm"] == 2 * rows[0]["p_t_test"]  # the other difference is larger
    topics = json.loads(touche(*command, "two", "--per-topic")[1])
    assert {(row["run_a"], row["run_b"]) for row in topics} == {("all", "two"), ("three", "two")}
    code, _, err = touche(*command, "tow")
    assert code == 2 and "no run is called 'tow'" in err and "two" in err.partition(";")[2]


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
    compared, _ = comparisons(evaluate(runs, task), "trec_eval")
    assert [comparison.p_t_test for comparison in compared] == pytest.approx(
        [0.0025, 0.0002, 0.3506], abs=5e-5
    )
    assert [comparison.p_t_test_holm for comparison in compared] == pytest.approx(
        [0.0051, 0.0006, 0.3506], abs=5e-5
    )
    assert [comparison.significant for comparison in compared] == [True, True, False]
    assert {comparison.p_randomisation for comparison in compared} == {None}
    command = "compare", *runs, "--qrels", write("relevance.qrels", "".join(f"{n} 0 a 1\n" for n in numbers))
    rows = touche(*command)[1].splitlines()[:4]
    assert "  p t  Holm t    won" in rows[0] and [" * " in row for row in rows] == [
        False,
        True,
        True,
        False,
    ]
    randomised = touche(*command, "--randomisation")[1].splitlines()
    assert "p rand.  Holm rand." in randomised[0] and " 0.0312 " in randomised[1]  # 2 of 64 signs of 6 topics
    assert randomised[6].startswith("* significant: corrected p of")
