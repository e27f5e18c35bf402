from dataclasses import replace

import pytest

from touche import tasks
from touche.evaluation.leaderboard import comparable, names, shortlist, standing
from touche.tasks import Judgments, Published


def row(team: str, value: float, baseline: bool = False, tag: str = "") -> Published:
    known = (None, None, baseline, "touche", None, ("table",))
    return Published("t", "relevance", "nDCG@5", team, "", tag, value, *known)


BEST = row("A", 0.9)
SECOND = row("B", 0.7)
OWN = row("O", 0.6, baseline=True)
LATER = row("A", 0.5, tag="second")
LAST = row("C", 0.2)
ROWS = [BEST, SECOND, OWN, LATER, LAST]
BASELINE = "the baseline O: 0.600"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (0.95, f"above A 0.900, the highest published; {BASELINE}"),
        (0.1, f"below C 0.200, the lowest published; {BASELINE}"),
        (0.8, f"between A 0.900 and B 0.700; {BASELINE}"),
        (0.65, "between B 0.700 and the baseline O 0.600"),
        # Only the best run of each team counts.
        (0.4, "between the baseline O 0.600 and C 0.200"),
        (0.6996, f"level with B 0.700; {BASELINE}"),
        (0.6, "level with the baseline O 0.600"),
        # A run that isn't its team's best is named by its tag.
        (0.5, f"level with A (second) 0.500; {BASELINE}"),
    ],
)
def test_the_neighbours_and_the_baseline_are_named(value: float, sentence: str) -> None:
    assert standing(value, ROWS) == sentence


@pytest.mark.parametrize(
    ("value", "rows", "sentence"),
    [
        (0.3779, [BEST, row("B", 0.378), row("C", 0.378)], "level with B 0.378 and C 0.378"),
        (0.4, [OWN], "below the baseline O 0.600"),  # neither the highest nor the lowest
        (0.1, [BEST, SECOND, row("A", 0.2, tag="t")], "below A (t) 0.200, the lowest published"),
        (0.3, [BEST, SECOND, row("A", 0.2, tag="t")], "between B 0.700 and A (t) 0.200"),
        (0.3, [BEST, SECOND, row("A", 0.2)], "between B 0.700 and A 0.200"),  # a run without a tag
        (0.1, [replace(BEST, evaluator=None)], "below A 0.900; the evaluator of the published scores"),
    ],
)
def test_a_standing_among_few(value: float, rows: list[Published], sentence: str) -> None:
    assert standing(value, rows).startswith(sentence)


def test_the_rank_follows_the_neighbours() -> None:
    described = standing(0.65, ROWS, rank="rank 3 of 6")
    assert described == "between B 0.700 and the baseline O 0.600; rank 3 of 6"
    assert standing(0.8, ROWS, rank="rank 2 of 6").endswith(f"; rank 2 of 6; {BASELINE}")


def test_the_short_list_has_the_best_of_each_team_and_all_of_the_organizers() -> None:
    second = row("O", 0.1, baseline=True)
    assert shortlist([*ROWS, second]) == [BEST, SECOND, OWN, LAST, second]


def test_several_baselines_are_distinguished_by_their_tags() -> None:
    rows = [SECOND, *(row("O", 0.6 - n / 10, baseline=True, tag=f"t{n}") for n in (0, 1))]
    assert names(rows) == ["B", "O (t0)", "O (t1)"]
    assert standing(0.7, rows).endswith("; the baseline O (t0): 0.600; the baseline O (t1): 0.500")


def test_only_like_is_compared_with_like() -> None:
    task = tasks.task("touche-2020-task-1")
    assert comparable(task, "relevance", "trec_eval") == []  # the corrected judgments
    assert comparable(task, "relevance-uncorrected", "touche") == []  # published with trec_eval
    assert len(comparable(task, "relevance-uncorrected", "trec_eval")) == 12
    unknown = tasks.task("touche-2022-task-1")  # its evaluator is unknown
    assert comparable(unknown, "quality", "touche") == comparable(unknown, "quality", "trec_eval") != []
    task = tasks.task("touche-2021-task-2")
    other = replace(task, qrels={"quality": Judgments("other.qrels", frozenset())})
    assert comparable(task, "quality", "touche") and not comparable(other, "quality", "touche")


def test_a_mean_of_some_topics_is_comparable_with_no_published_mean() -> None:
    whole, part = (tasks.task(name) for name in ("touche-2021-task-1", "touche-2021-task-1/ten-topics"))
    assert len(comparable(whole, "relevance", "touche")) == 71
    assert comparable(part, "relevance", "touche") == []
