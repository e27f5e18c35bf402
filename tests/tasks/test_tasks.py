import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Touche
from known import KNOWN
from touche import tasks
from touche.errors import ToucheError


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of all cards, which is the one in use."""
    folder = shutil.copytree(ROOT / "src" / "touche" / "tasks", tmp_path / "tasks")
    monkeypatch.setattr(tasks, "_FOLDER", folder)
    return folder


def test_there_is_a_card_for_every_task() -> None:
    assert [each for each in tasks.ids() if each in KNOWN] == KNOWN
    assert list(tasks.all_tasks()) == tasks.ids()


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
    assert tasks.dataset("touche-2020-task-1")[1].ir_datasets == "argsme/2020-04-01"
    assert tasks.dataset("touche-2020-task-1/sample")[1].directory == "argsme-2020-04-01-sample"
    assert tasks.dataset("spot-check/arguments")[0].id == "spot-check/arguments"
    both = ["touche-2020-task-1", "touche-2020-task-1/sample"]
    assert [each for each in tasks.datasets() if each in both] == both
    corpora = [tasks.dataset(each) for each in tasks.datasets()]
    assert len(corpora) == sum(len(task.corpora) for task in tasks.all_tasks().values())


def test_the_id_of_a_dataset_names_its_task() -> None:
    assert tasks.task("touche-2020-task-1/sample") is tasks.task("touche-2020-task-1")


def test_an_unknown_task_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ToucheError, match="no task 'touche'; choose among spot-check/arguments, "):
        tasks.task("touche")


def test_an_unknown_dataset_of_a_task_is_answered_with_those_that_it_has() -> None:
    for look_up in (tasks.task, tasks.dataset):
        with pytest.raises(
            ToucheError, match=r"no dataset 'touche-2020-task-1/simple'; did you mean .*/sample"
        ):
            look_up("touche-2020-task-1/simple")


def test_ids_are_told_without_reading_a_card(cards: Path) -> None:
    for card in cards.rglob("*.toml"):
        card.write_bytes(b"\xff")
    assert [each for each in tasks.ids() if each in KNOWN] == KNOWN
    assert tasks.datasets() == tasks.ids()


@pytest.mark.parametrize("broken", ["max_runs", "maxruns", "]"])
def test_a_broken_card_is_left_out_with_a_warning_and_named_where_it_is_asked_for(
    cards: Path, touche: Touche, broken: str
) -> None:
    card = cards / "touche-2022-task-1.toml"
    card.write_text(card.read_text().replace("max_runs = 5", f"{broken} = '5'"))
    code, out, err = touche("tasks")
    assert code == 0 and "touche-2022-task-1 " not in out and "touche-2022-task-2 " in out
    assert err.startswith(f"touche: warning: {card}: ") and len(err.splitlines()) == 1
    for asked in ("touche-2022-task-1", "touche-2022-task-1/sample"):
        for look_up in (tasks.task, tasks.dataset):
            with pytest.raises(
                ToucheError, match=r"touche-2022-task-1\.toml: (rules\.max_?runs|broken TOML)"
            ):
                look_up(asked)


@pytest.mark.parametrize("broken", ["maxruns = 5", "max_runs = ["])
def test_a_broken_card_costs_only_the_commands_that_need_it(tmp_path: Path, broken: str) -> None:
    src = shutil.copytree(ROOT / "src", tmp_path / "src")
    card = src / "touche" / "tasks" / "touche-2022-task-1.toml"
    card.write_text(card.read_text().replace("max_runs = 5", broken))
    environment = os.environ | {"PYTHONPATH": str(src)}

    def call(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "touche", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return done.returncode, done.stderr

    run = str(tmp_path / "out" / "run.txt")
    assert call("--help") == call("evaluate", "--help") == (0, "")
    assert call("run", "bm25", "-i", "spot-check/arguments", "-o", str(tmp_path / "out"), "--quiet") == (
        0,
        "",
    )
    assert call("evaluate", run, "--task", "spot-check/arguments") == (0, "")
    code, err = call("evaluate", run, "--task", "touche-2022-task-1")
    assert code == 2 and err.startswith(f"touche: {card}: ") and len(err.splitlines()) == 1
    assert "rules.maxruns: no such key; did you mean max_runs?\n" in err or "broken TOML" in err
