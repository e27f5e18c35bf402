"""Published values of each topic, and the rounding of the tables."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

import touche
from conftest import Touche
from touche import tasks
from touche.tasks.per_topic import equal_runs
from touche.tasks.task_records import rounded

MEASURE = "nDCG@5"
PUBLISHED = ["touche-2021-task-1", "touche-2021-task-2", "touche-2022-task-2"]


@pytest.mark.parametrize(
    ("value", "decimals", "printed"),
    [
        (0.40348, [4, 3], 0.404),  # trec_eval prints 0.4035
        (0.46350, [4, 3], 0.464),
        (0.40348, [3], 0.403),
        (0.40344, [4, 3], 0.403),
        (1.0, [4, 3], 1.0),
    ],
)
def test_tables_of_2020_round_what_trec_eval_prints(
    value: float, decimals: list[int], printed: float
) -> None:
    assert rounded(value, decimals) == printed


def test_the_official_run_of_2020_is_level_with_its_own_value(touche: Touche, official: Path) -> None:
    """Katana's run scores 0.40348, which was printed as 0.404."""
    run = official / "runs" / "touche-2020-task-2" / "katana-4.run.gz"
    out = touche("evaluate", run, "--task", "touche-2020-task-2")[1]
    assert "0.40348, which the tables round twice, is level with Katana" in out


def test_means_of_topics_are_the_published_means() -> None:
    """Of 71, 20 and 26 runs in two dimensions; means over rounded values differ by 0.0005 at most."""
    compared = 0
    for task_id in PUBLISHED:
        rows = [row for row in tasks.task(task_id).published if row.dimension != "stance"]
        topics = touche.published_topics(task_id)
        for row in rows:
            values = [topic.value for topic in topics if topic.row == row]
            assert fmean(values) == pytest.approx(row.value, abs=0.001)
            compared += 1
    assert compared == 2 * (71 + 20 + 26)


def test_the_files_are_those_of_the_organizers(official: Path) -> None:
    for path in (official / "published" / "per-topic").glob("*.csv"):
        _, *lines = path.read_text(encoding="utf-8").splitlines()
        printed = Counter(tuple(line.rsplit(",", 3)[1:]) for line in lines)
        task_id, _, dimension = path.stem.removesuffix("-per-topic").rpartition("-")
        values = [value for value in touche.published_topics(task_id) if value.row.dimension == dimension]
        ours = Counter((value.row.tag, value.topic, str(value.value)) for value in values)
        assert {(tag.strip('"'), *others): n for (tag, *others), n in printed.items()} == {
            (tag.strip('"'), *others): n for (tag, *others), n in ours.items()
        }


def test_a_value_has_columns_of_its_row_also_in_an_empty_table() -> None:
    table = touche.published_topics("touche-2021-task-1", team="Elrond")
    value = next(value for value in table if value.row.tag == "ElrondKRun" and value.topic == "51")
    row = {"task": "touche-2021-task-1", "dimension": "relevance", "measure": MEASURE, "team": "Elrond"}
    row |= {"tag": "ElrondKRun", "baseline": False, "topic": "51", "value": value.value}
    columns = table.rows[table.index(value)]
    assert columns == row | {"is_ambiguous": False}
    assert [*touche.published_topics("touche-2020-task-1").frame().columns] == [*columns]


def values_of(task_id: str, tag: str) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {}
    for published in touche.published_topics(task_id):
        row = published.row
        if row.tag == tag and row.dimension != "stance":
            values.setdefault(row.dimension, {})[published.topic] = published.value
    return values


@pytest.mark.parametrize("dataset", ["touche-2021-task-1", "touche-2021-task-1/ten-topics"])
def test_a_run_equals_a_published_one_only_in_every_topic_and_dimension(dataset: str) -> None:
    task = tasks.task(dataset)
    values = values_of(dataset, "ElrondKRun")
    assert [row.tag for row in equal_runs(task, MEASURE, values)] == ["ElrondKRun"]
    assert equal_runs(task, MEASURE, {"relevance": values["relevance"]}) == []
    assert equal_runs(task, "nDCG@10", values) == []
    for dimension, of_topics in values.items():
        changed = of_topics | {"51": of_topics["51"] + 0.001}
        assert equal_runs(task, MEASURE, values | {dimension: changed}) == []
        fewer = {topic: value for topic, value in of_topics.items() if topic != "51"}
        assert equal_runs(task, MEASURE, values | {dimension: fewer}) == []


def test_few_values_or_ambiguous_ones_equal_no_run() -> None:
    task = tasks.task("touche-2021-task-1")
    assert equal_runs(task, MEASURE, values_of(task.id, "argrank_r0_c0.1_q5.0")) == []  # four values above 0
    values = values_of(task.id, "ElrondKRun")
    good = [
        topic
        for topic in values["relevance"]
        if min(values_of_topics[topic] for values_of_topics in values.values()) > 0
    ]
    for count, tags in ((9, []), (10, ["ElrondKRun"])):
        some = {
            name: {topic: values_of_topics[topic] for topic in good[:count]}
            for name, values_of_topics in values.items()
        }
        part = replace(task, only_topics=tuple(good[:count]))
        assert [row.tag for row in equal_runs(part, MEASURE, some)] == tags
    other = tasks.task("touche-2021-task-2")
    assert equal_runs(other, MEASURE, values_of(other.id, "JackSparrow__argumentative_bert")) == []
