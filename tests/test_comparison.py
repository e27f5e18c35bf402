from pathlib import Path

import pytest

from conftest import Touche, Write
from spotcheck import BEST, SPOT, run_text
from touche.comparison import compare, topic_differences
from touche.errors import ToucheError
from touche.scores import score_runs


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """The best run, one that lacks two topics, and one that lacks another."""
    chosen = {"all": BEST, "two": ["11", "12"], "three": ["12", "13", "14"]}
    return [write(f"{name}.txt", run_text(topics, tag=name)) for name, topics in chosen.items()]


def test_every_two_runs_are_compared(runs: list[Path]) -> None:
    found = compare(score_runs(runs, SPOT), "trec_eval")
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


def test_with_the_organizers_evaluator_only_shared_topics_count(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="two and three: 1 topics in common are too few"):
        compare(score_runs(runs, SPOT), "touche")
    (found,) = compare(score_runs(runs[:2], SPOT), "touche")
    assert (found.topics, found.tied, found.p_t_test, found.effect_size) == (2, 2, 1.0, 0.0)


def test_the_largest_differences_come_first_with_their_titles(runs: list[Path]) -> None:
    found = topic_differences(score_runs(runs[1:], SPOT), "trec_eval")
    assert [(each.topic, round(each.difference)) for each in found] == [
        ("11", 1),
        ("13", -1),
        ("14", -1),
        ("12", 0),
    ]
    assert all(each.title.endswith("?") for each in found)


def test_one_run_cannot_be_compared(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="one run alone cannot be compared; give two at least"):
        compare(score_runs(runs[:1], SPOT), "trec_eval")


def test_the_command_shows_tests_and_topics(touche: Touche, runs: list[Path]) -> None:
    code, out, err = touche("compare", *runs[:2], "--task", "spot-check/passages")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[1].split()[:6] == ["all", "two", "relevance", "1.000", "0.500", "+0.500"]
    assert lines[1].endswith("2, 0, 2")
    assert "The largest differences between all (A) and two (B), relevance:" in lines
    assert lines[-4].split()[:4] == ["13", "+1.000", "1.000", "0.000"]


def test_the_command_writes_records(touche: Touche, runs: list[Path]) -> None:
    _, out, _ = touche(
        "compare", *runs[:2], "--task", "spot-check/passages", "--format", "csv", "--per-topic"
    )
    lines = out.splitlines()
    assert lines[0] == "run_a,run_b,task,dimension,evaluator,topic,title,value_a,value_b,difference"
    assert len(lines) == 5
