from dataclasses import replace

import pytest

from touche import tasks
from touche.evaluation.leaderboard import comparable, names, shortlist, standing
from touche.tasks import Judgments, Published


def row(team: str, value: float, baseline: bool = False) -> Published:
    known = (None, None, baseline, "touche", None, ("table",))
    return Published("t", "relevance", "nDCG@5", team, "", "", value, *known)


V1 = comparable(tasks.task("touche-2020-task-1-v1"), "relevance-uncorrected", "trec_eval")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            0.790,
            "between Prince of Persia (Run 1) 0.791 and The Three Mouseketeers 0.789; "
            "2 of 21 published runs are above it; the baseline Swordsman: 0.769",
        ),
        (0.9, "above Weiss Schnee 0.804, the highest published; the baseline Swordsman: 0.769"),
        (0.1, "below Boromir 0.152, the lowest published; the baseline Swordsman: 0.769"),
        (
            0.66,  # the best of the lesser teams stand between, not the second best of the better ones
            "between Arya Stark 0.662 and Don Quixote 0.617; 11 of 21 published runs are above it; "
            "the baseline Swordsman: 0.769",
        ),
        (
            0.642,
            "level with Prince of Persia (Run 3) 0.642; 11 of 21 published runs are above it; "
            "the baseline Swordsman: 0.769",
        ),
        (0.8040004, "level with Weiss Schnee 0.804; the baseline Swordsman: 0.769"),
        (0.7690004, "level with the baseline Swordsman 0.769; 3 of 21 published runs are above it"),
        (
            0.7894,
            "level with The Three Mouseketeers 0.789; 2 of 21 published runs are above it; "
            "the baseline Swordsman: 0.769",
        ),
        (
            0.775,
            "between The Three Mouseketeers 0.789 and the baseline Swordsman 0.769; "
            "3 of 21 published runs are above it",
        ),
    ],
)
def test_the_neighbours_and_the_baseline_are_named(value: float, sentence: str) -> None:
    assert standing(value, V1) == sentence


def test_all_that_are_level_are_named() -> None:
    rows = [row("A", 0.5), row("B", 0.378), row("C", 0.378)]
    assert standing(0.3779, rows) == "level with B 0.378 and C 0.378"


def test_one_published_result_is_neither_the_highest_nor_the_lowest() -> None:
    assert standing(0.4, [row("A", 0.5, baseline=True)]) == "below the baseline A 0.500"


def test_the_lowest_published_is_that_of_all_runs() -> None:
    assert (
        standing(0.1, [row("A", 0.9), row("B", 0.5), row("A", 0.2)]) == "below A 0.200, the lowest published"
    )


def test_it_is_said_what_is_not_known() -> None:
    rows = comparable(tasks.task("touche-2022-task-1"), "coherence", "touche")
    assert standing(0.1, rows) == (
        "below Porthos 0.105, the lowest published; the baseline Swordsman: 0.248; "
        "with which evaluator the published ones were computed is not stated"
    )


def test_the_short_list_has_the_best_of_each_team_and_all_of_the_organizers() -> None:
    rows = [row("A", 0.9), row("B", 0.8), row("A", 0.7), row("O", 0.6, True), row("O", 0.5, True)]
    assert shortlist(rows) == [rows[0], rows[1], rows[3], rows[4]]
    of_2021 = comparable(tasks.task("touche-2021-task-1"), "quality", "touche")
    assert len(of_2021) == 71 and len({each.team for each in shortlist(of_2021)}) == 22
    assert [each.tag for each in shortlist(of_2021) if each.baseline] == ["dirichlet_multi_field", "ARGSME"]


def test_below_the_best_of_all_teams_the_lesser_runs_are_told() -> None:
    assert standing(0.3, [row("A", 0.9), row("B", 0.5), row("A", 0.1)]) == (
        "between B 0.500 and A 0.100; 2 of 3 published runs are above it"
    )


def test_several_baselines_are_told_apart_by_their_tags() -> None:
    of_2021 = comparable(tasks.task("touche-2021-task-1"), "relevance", "touche")
    assert standing(0.0, of_2021) == (
        "level with Heimdall 0.000 and Batman 0.000; 69 of 71 published runs are above it; "
        "the baseline Swordsman (dirichlet_multi_field): 0.626; the baseline Swordsman (ARGSME): 0.607"
    )
    assert "Swordsman (ARGSME)" in names(of_2021) and "Elrond" in names(of_2021)


def test_qrels_must_be_the_same() -> None:
    task = tasks.task("touche-2021-task-2")
    other = replace(task, qrels={"quality": Judgments("other.qrels", frozenset())})
    assert comparable(task, "quality", "touche") and not comparable(other, "quality", "touche")


def test_only_like_is_compared_with_like() -> None:
    task = tasks.task("touche-2020-task-1")
    assert comparable(task, "relevance", "trec_eval") == []  # the corrected judgments
    assert comparable(task, "relevance-uncorrected", "touche") == []  # published with trec_eval
    assert len(comparable(task, "relevance-uncorrected", "trec_eval")) == 12
    assert comparable(tasks.task("touche-2021-task-2"), "quality", "touche")[0].team == "Rayla"
    unknown = tasks.task("touche-2022-task-1")  # it is not known which evaluator was used
    assert comparable(unknown, "quality", "touche") == comparable(unknown, "quality", "trec_eval") != []
