import pytest

from touche import tasks
from touche.errors import ToucheError


def test_there_is_a_card_for_every_task() -> None:
    assert list(tasks.all_tasks()) == [
        "spot-check/arguments",
        "spot-check/passages",
        "touche-2020-task-1-v1",
        "touche-2020-task-1",
        "touche-2020-task-2",
        "touche-2021-task-1",
        "touche-2021-task-2",
        "touche-2022-task-1",
        "touche-2022-task-2",
    ]


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
