import pytest

from known import KNOWN
from touche import tasks
from touche.errors import ToucheError


def test_there_is_a_card_for_every_task() -> None:
    assert [each for each in tasks.all_tasks() if each in KNOWN] == KNOWN


def test_a_corrected_score_is_never_taken_for_a_published_one() -> None:
    qrels = tasks.task("touche-2020-task-1").qrels
    assert qrels["relevance"].file.endswith("-corrected.qrels")
    assert not qrels["relevance-uncorrected"].file.endswith("-corrected.qrels")
    assert list(tasks.task("touche-2020-task-1-v1").qrels) == ["relevance-uncorrected"]


def test_dimensions_and_rules_are_those_of_the_task_pages() -> None:
    pairs = tasks.task("touche-2022-task-1")
    assert list(pairs.qrels) == ["relevance", "quality", "coherence"]
    assert (pairs.rules.unit, pairs.rules.min_results, pairs.rules.max_results) == (
        "sentence pair",
        100,
        1000,
    )
    assert tasks.task("touche-2022-task-2").rules.stances == ("FIRST", "SECOND", "NEUTRAL", "NO", "Q0")
    assert tasks.task("touche-2020-task-2").rules.max_runs is None
    assert tasks.task("touche-2021-task-2").rules.max_runs == 5


def test_published_results_are_all_rows_of_the_tables() -> None:
    """Their number, the first and the last of each table."""
    tables = {
        ("touche-2020-task-1-v1", "relevance-uncorrected"): (21, ("Weiss Schnee", 0.804), ("Boromir", 0.152)),
        ("touche-2020-task-1", "relevance-uncorrected"): (
            12,
            ("Dread Pirate Roberts (Run 1)", 0.808),
            ("Aragorn (Run 5)", 0.319),
        ),
        ("touche-2020-task-2", "relevance"): (12, ("Bilbo Baggins", 0.580), ("Katana (Run 6)", 0.200)),
        ("touche-2021-task-2", "relevance"): (7, ("Katana", 0.489), ("Prince Caspian", 0.244)),
        ("touche-2021-task-2", "quality"): (7, ("Rayla", 0.688), ("Prince Caspian", 0.548)),
        ("touche-2022-task-1", "relevance"): (11, ("Porthos", 0.742), ("Korg", 0.252)),
        ("touche-2022-task-1", "quality"): (11, ("Daario Naharis", 0.913), ("Korg", 0.453)),
        ("touche-2022-task-1", "coherence"): (11, ("Daario Naharis", 0.458), ("Korg", 0.168)),
        ("touche-2022-task-2", "relevance"): (1, ("Puss in Boots", 0.469), ("Puss in Boots", 0.469)),
        ("touche-2022-task-2", "quality"): (1, ("Puss in Boots", 0.476), ("Puss in Boots", 0.476)),
    }
    rows = [row for known in KNOWN for row in tasks.task(known).published]
    assert {(row.task, row.dimension) for row in rows} == tables.keys()
    for (task_id, dimension), (number, first, last) in tables.items():
        found = [(row.name, row.value) for row in tasks.task(task_id).published if row.dimension == dimension]
        assert (len(found), found[0], found[-1]) == (number, first, last)
        assert found == sorted(found, key=lambda row: -row[1])


def test_published_results_belong_to_judgments_of_their_task() -> None:
    for task in tasks.all_tasks().values():
        for row in task.published:
            assert row.qrels in (None, task.qrels[row.dimension].file)
            assert row.evaluator in (None, "trec_eval", "touche")
            assert row.low is None or row.high is None or row.low < row.value < row.high
            assert row.sources and row.baseline >= (row.team in ("Swordsman", "Puss in Boots"))


def test_a_run_in_page_and_paper_is_one_record_with_two_sources() -> None:
    rows = tasks.task("touche-2020-task-2").published
    assert sorted(len(row.sources) for row in rows) == [1, 1] + 10 * [2]
    assert [(row.team, row.value) for row in rows if len(row.sources) == 1] == [
        ("Frodo Baggins", 0.542),
        ("Katana", 0.464),
    ]


def test_only_2022_was_published_with_intervals() -> None:
    rows = [row for known in KNOWN for row in tasks.task(known).published]
    assert {row.task for row in rows if row.low} == {"touche-2022-task-1"}
    assert {row.team for row in rows if row.baseline} == {"Swordsman", "Puss in Boots"}


def test_a_task_without_published_results_says_so() -> None:
    for task in tasks.all_tasks().values():
        if task.id.startswith("touche") and not task.published:
            assert "no results table" in task.results_note


def test_a_dataset_is_a_task_with_a_corpus() -> None:
    datasets = tasks.datasets()
    assert datasets["touche-2020-task-1"][1].ir_datasets == "argsme/2020-04-01"
    assert datasets["touche-2020-task-1/sample"][1].directory == "argsme-2020-04-01-sample"
    assert datasets["spot-check/arguments"][0].id == "spot-check/arguments"


def test_the_id_of_a_dataset_names_its_task() -> None:
    assert tasks.task("touche-2020-task-1/sample") is tasks.task("touche-2020-task-1")


def test_an_unknown_task_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ToucheError, match="no task 'touche'; choose among spot-check/arguments, "):
        tasks.task("touche")
