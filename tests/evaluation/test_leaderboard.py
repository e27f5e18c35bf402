from dataclasses import replace

import pytest

from touche import tasks
from touche.evaluation.leaderboard import comparable, standing
from touche.tasks import Judgments, Published


def row(team: str, value: float, baseline: bool = False) -> Published:
    known = ("", "touche", None, ("table",))
    return Published("t", "relevance", team, "", "", value, None, None, baseline, *known)


V1 = comparable(tasks.task("touche-2020-task-1-v1"), "relevance-uncorrected", "trec_eval")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            0.790,
            "between Prince of Persia (Run 1) 0.791 and The Three Mouseketeers 0.789; "
            "the baseline Swordsman: 0.769",
        ),
        (0.9, "above Weiss Schnee 0.804, the highest published; the baseline Swordsman: 0.769"),
        (0.1, "below Boromir 0.152, the lowest published; the baseline Swordsman: 0.769"),
        (0.8040004, "level with Weiss Schnee 0.804; the baseline Swordsman: 0.769"),
        (0.7690004, "level with the baseline Swordsman 0.769"),
        (0.7894, "level with The Three Mouseketeers 0.789; the baseline Swordsman: 0.769"),
        (0.775, "between The Three Mouseketeers 0.789 and the baseline Swordsman 0.769"),
    ],
)
def test_the_neighbours_and_the_baseline_are_named(value: float, sentence: str) -> None:
    assert standing(value, V1) == sentence


def test_all_that_are_level_are_named() -> None:
    rows = [row("A", 0.5), row("B", 0.378), row("C", 0.378)]
    assert standing(0.3779, rows) == "level with B 0.378 and C 0.378"


def test_one_published_result_is_neither_the_highest_nor_the_lowest() -> None:
    assert standing(0.4, [row("A", 0.5, baseline=True)]) == "below the baseline A 0.500"


def test_it_is_said_what_is_not_known_and_what_the_table_holds() -> None:
    rows = comparable(tasks.task("touche-2022-task-1"), "coherence", "touche")
    assert standing(0.1, rows) == (
        "below Korg 0.168, the lowest in a table of the best run of each team; "
        "the baseline Swordsman: 0.248; with which evaluator the published ones were computed is not stated"
    )


def test_qrels_must_be_the_same() -> None:
    task = tasks.task("touche-2021-task-2")
    other = replace(task, qrels={"quality": Judgments("other.qrels", frozenset())})
    assert comparable(task, "quality", "touche") and not comparable(other, "quality", "touche")


def test_only_like_is_compared_with_like() -> None:
    task = tasks.task("touche-2020-task-1")
    assert comparable(task, "relevance", "trec_eval") == []  # the corrected judgments
    assert comparable(task, "relevance-uncorrected", "touche") == []  # published with trec_eval
    assert len(comparable(task, "relevance-uncorrected", "trec_eval")) == 12
    unknown = tasks.task("touche-2021-task-2")  # it is not known which evaluator was used
    assert comparable(unknown, "quality", "touche")[0].team == "Rayla"
