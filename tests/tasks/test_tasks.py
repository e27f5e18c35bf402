import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from operator import attrgetter
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write
from known import KNOWN
from touche import tasks
from touche.data.places import check_exists
from touche.errors import ToucheError
from touche.evaluation.leaderboard import comparable
from touche.tasks.cards import read_card
from touche.tasks.per_topic import values_of_topics


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of all cards, which is the one in use."""
    folder = shutil.copytree(ROOT / "src" / "touche" / "tasks", tmp_path / "tasks")
    monkeypatch.setattr(tasks, "_FOLDER", folder)
    monkeypatch.setattr(tasks, "_shipped", cache(tasks._shipped.__wrapped__))
    return folder


def test_there_is_a_card_for_every_task_with_the_best_results_first() -> None:
    assert [name for name in tasks.ids() if name in KNOWN] == KNOWN
    assert list(tasks.all_tasks()) == tasks.ids()
    for task in tasks.all_tasks().values():
        for kind in {row.kind for row in task.published}:
            values = [row.value for row in task.published if row.kind == kind]
            assert values == sorted(values, reverse=True)
            organizers = ("Swordsman", "Puss in Boots", "Minsc")
            assert all(row.baseline == (row.team in organizers) for row in task.published)


def pages(folder: Path, kind: str) -> Iterator[tuple[str, str, str, list[list[str]]]]:
    """The tables of the task pages: task, dimension, address, and the rows as they are printed."""
    for path in sorted((folder / "published").glob("touche-*.tsv")):
        number = -1 if not path.stem.endswith("-uncorrected") else -2
        parts = path.stem.split("-")
        dimension = "-".join(parts[number:])
        if "-".join(parts[:number]) in KNOWN and (dimension == "stance") == (kind == "stance"):
            address, _, *lines = path.read_text(encoding="utf-8").splitlines()
            rows = [line.split("\t") for line in lines]
            yield "-".join(parts[:number]), dimension, address.removeprefix("# "), rows


GARBLED = [
    "Aragornrançois de Jarjayes",
    "cedr_knrmieUeberdurchschnittlichenUndGrossartigenInformationRetriever",
]


def test_the_published_results_are_those_of_the_task_pages(official: Path) -> None:
    """Both ways: every row that a page prints, and nothing else but what has another source."""
    tables = list(pages(official, "nDCG"))
    assert len(tables) == 15 and sum(len(rows) for *_, rows in tables) == 421
    for task, dimension, address, printed in tables:
        source = f"Task page ({address})"
        rows = [row for row in tasks.task(task).published if row.dimension == dimension]
        rows_found = [
            [row.printed or row.team, row.tag, f"{row.value:.3f}"]
            + ([] if row.low is None else [f"{row.low:.3f}", f"{row.high:.3f}"])
            for row in rows
            if source in row.sources
        ]
        as_printed = [
            [team.removesuffix(" (baseline)"), "cedr_knrm" if [team, tag] == GARBLED else tag, *values]
            for team, tag, *values in printed
        ]
        assert sorted(rows_found) == sorted(as_printed), (task, dimension)
        others = [row.sources for row in rows if source not in row.sources]
        assert all("Overview of Touché 2020" in only for (only,) in others)
    known = {(task, dimension) for task, dimension, *_ in tables}
    assert known == {
        (row.task, row.dimension)
        for name in KNOWN
        for row in tasks.task(name).published
        if row.results is None
    }


def test_the_published_stances_are_those_of_the_task_pages(official: Path) -> None:
    tables = list(pages(official, "stance"))
    assert [len(rows) for *_, rows in tables] == [16, 8, 1]
    for task, _, address, printed in tables:
        rows = [row for row in tasks.task(task).published if row.dimension == "stance"]
        columns = attrgetter("team", "tag", "value", "results", "team_value", "team_results")
        values = [
            [f"{cell:.3f}" if type(cell) is float else str(cell) for cell in columns(row)] for row in rows
        ]
        assert values == printed
        assert {row.sources for row in rows} == {(f"Task page ({address})",)}
    published = [row for name in KNOWN for row in tasks.task(name).published]
    assert {task for task, *_ in tables} == {row.task for row in published if row.results is not None}


def test_a_dataset_is_a_task_with_a_corpus() -> None:
    assert tasks.dataset("touche-2020-task-1/sample")[1].directory == "argsme-2020-04-01-sample"
    sample = tasks.task("touche-2020-task-1/sample")
    assert sample.corpus == "sample"
    assert replace(sample, corpus="full") == tasks.task("touche-2020-task-1")
    assert tasks.dataset("spot-check/arguments")[0].id == "spot-check/arguments"
    corpora = [tasks.dataset(name) for name in tasks.datasets()]
    assert len(corpora) == sum(len(task.corpora) for task in tasks.all_tasks().values())


def test_an_unknown_id_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(ToucheError, match="no task 'touche'"):
        tasks.task("touche")
    for look_up in (tasks.task, tasks.dataset):
        with pytest.raises(ToucheError, match=r"no dataset '.*/simple'; did you mean .*/sample"):
            look_up("touche-2020-task-1/simple")


BEIR = "beir-webis-touche2020"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("argsme/2020-04-01/touche-2020-task-1", ["touche-2020-task-1"]),
        ("argsme/2020-04-01/touche-2020-task-1/uncorrected", ["touche-2020-task-1"]),
        ("argsme/2020-04-01/touche-2021-task-1", ["touche-2021-task-1"]),
        ("argsme/2020-04-01/processed/touche-2022-task-1", ["touche-2022-task-1"]),
        ("argsme/1.0/touche-2020-task-1/uncorrected", ["touche-2020-task-1-v1"]),
        ("clueweb12/touche-2022-task-2/expanded-doc-t5-query", ["touche-2022-task-2"]),
        ("irds:clueweb12/touche-2020-task-2", ["touche-2020-task-2"]),
        ("touche-image/2022-06-13/touche-2022-task-3", ["touche-2022-task-3"]),
        ("argsme-touche-2020-task-1-20230209-training", ["touche-2020-task-1"]),
        ("touche-task-2-20220422-test", ["touche-2022-task-2"]),
        ("touche-2020-task1", ["touche-2020-task-1"]),
        ("Touche_2022_Task_3", ["touche-2022-task-3"]),
        ("touche-2021-taks-2", ["touche-2021-task-2"]),
        ("2021-1", ["touche-2021-task-1"]),
        ("touche2021", ["touche-2021-task-1", "touche-2021-task-2"]),
        ("touche-task-3", ["touche-2022-task-3", "touche-2023-task-3"]),
        ("webis-touche2020", [f"{BEIR}-v2"]),
        ("beir/webis-touche2020", [f"{BEIR}-v2"]),
        ("beir/webis-touche2020/v2", [f"{BEIR}-v2"]),
        ("castorini/webis-touche2020-v3", [f"{BEIR}-v3"]),
        ("Touche2020Retrieval.v3", [f"{BEIR}-v3"]),
        (
            "mteb/touche2020",
            [f"{BEIR}-v2", f"{BEIR}-v3", "touche-2020-task-1", "touche-2020-task-1-v1", "touche-2020-task-2"],
        ),
    ],
)
def test_ids_of_other_systems_are_answered_with_the_tasks_that_they_may_mean(
    name: str, expected: list[str]
) -> None:
    *others, last = expected
    listed = f"{', '.join(others)} or {last}" if others else last
    for look_up in (tasks.task, tasks.dataset, check_exists):
        with pytest.raises(ToucheError) as caught:
            look_up(name)
        assert str(caught.value).endswith(f"; did you mean {listed}?")


@pytest.mark.parametrize("name", ["touche-2099-task-3", "touche-2019", "msmarco-passage-v2", "task", "1"])
def test_an_id_of_a_task_that_there_is_not_suggests_none_of_another_year(name: str) -> None:
    with pytest.raises(ToucheError, match="choose among"):
        tasks.task(name)


CARD = """
id = "cats-2027"
title = "Cats"
url = "https://touche.webis.de"
topics = "cats-2027.xml"
measure = "P@1"
qrels.relevance.file = "cats-2027.qrels"
corpora.full.directory = "cats-2027"
rules.unit = "document"
"""


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch, write: Write) -> Path:
    """A folder for TOUCHE_DATA, with the card of a task."""
    card = write("data/tasks/cats-2027.toml", CARD)
    monkeypatch.setenv("TOUCHE_DATA", str(card.parents[1]))
    return card.parents[1]


def test_a_card_beside_the_data_is_a_task_like_any_other(mine: Path, write: Write, touche: Touche) -> None:
    topic = "<topic><number>1</number><title>cats</title></topic>"
    write("data/topics/cats-2027.xml", f"<topics>{topic}</topics>")
    write("data/qrels/cats-2027.qrels", "1 0 d1 1\n")
    write("data/corpora/cats-2027/documents.jsonl", '{"docno": "d1", "text": "cats"}\n')
    assert "cats-2027" in tasks.datasets() and tasks.ids() == sorted(tasks.ids())
    assert touche("run", "bm25", "-i", "cats-2027", "-o", mine / "out")[0] == 0
    out = touche("evaluate", mine / "out" / "run.txt", "--task", "cats-2027")[1].splitlines()
    assert (out[0].split()[3], out[1].split()[2:4]) == ("P@1", ["trec_eval", "1.000"])
    assert touche("tasks", "check", mine / "tasks" / "cats-2027.toml")[0] == 0
    line = {"COMP_WORDS": "touche evaluate --task cats-2", "COMP_CWORD": "3"}
    variables = os.environ | line | {"_TOUCHE_COMPLETE": "bash_complete"}
    completed = subprocess.run(
        [sys.executable, "-m", "touche"], env=variables, capture_output=True, text=True
    )
    assert completed.stdout == "plain,cats-2027\n"


@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_a_task_that_only_judges_stances_has_no_measures_of_rankings(
    mine: Path, write: Write, touche: Touche, command: str
) -> None:
    card = CARD.replace('id = "cats-2027"', 'id = "stances"').replace("relevance", "stance")
    write("data/tasks/stances.toml", card + 'rules.stances = ["PRO", "CON"]\n')
    write("data/qrels/cats-2027.qrels", "1 0 d1 PRO\n")
    runs = [write(f"{tag}.txt", f"1 PRO d1 1 1 {tag}\n") for tag in "ab"]
    output = ["-o", mine / "out"] if command == "report" else []
    code, _, err = touche(command, *runs, "--task", "stances", "--measure", "nDCG@5", *output)
    assert (code, err.count("\n")) == (2, 1) and "nDCG@5 needs judged rankings" in err


def test_of_two_cards_with_one_name_the_first_wins(
    mine: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = write("second/tasks/cats-2027.toml", CARD.replace("P@1", "AP")).parents[1]
    write("second/tasks/other.toml", CARD.replace('id = "cats-2027"', 'id = "other"'))
    monkeypatch.setenv("TOUCHE_DATA", f"{mine}:{second}")
    assert str(tasks.task("cats-2027").measure) == "P@1" and tasks.task("other").id == "other"
    monkeypatch.setenv("TOUCHE_DATA", f"{second}:{mine}")
    assert str(tasks.task("cats-2027").measure) == "AP"


def test_the_newest_year_comes_first_and_ids_without_a_year_last() -> None:
    ids = ["beir-webis-touche2020-v3", "touche-2020-task-1", "touche-2023-task-2", "touche-2023-task-1"]
    assert sorted(ids, key=tasks.newest_first) == [*reversed(ids[1:]), ids[0]]


def test_a_note_on_judgments_is_printed_next_to_their_file(touche: Touche) -> None:
    lines = touche("tasks", "touche-2020-task-1")[1].splitlines()
    [uncorrected] = [line for line in lines if line.startswith("  relevance-uncorrected: ")]
    assert ".qrels. The published values were computed with these grades, -2 and 1 to 5" in uncorrected


def test_a_card_with_the_name_of_one_that_ships_is_refused(mine: Path, touche: Touche) -> None:
    """Neither of the two is taken for the other, and no other task is in the way."""
    card = mine / "tasks" / "touche-2022-task-1.toml"
    card.write_text(CARD.replace("cats-2027", "touche-2022-task-1"))
    message = f"{card}: a task 'touche-2022-task-1' ships with the project"
    code, _, err = touche("tasks", "touche-2022-task-1")
    assert code == 2 and err.startswith(f"touche: {message}")
    code, out, err = touche("tasks", "check", card)
    assert (code, err) == (2, "") and out.startswith(message)
    code, out, err = touche("tasks")
    assert code == 0 and err.startswith(f"touche: warning: {message}")
    assert "touche-2022-task-1 " not in out and "cats-2027 " in out and "touche-2022-task-2 " in out
    assert touche("tasks", "check", tasks._FOLDER / "touche-2022-task-1.toml")[0] == 0


def test_published_values_keep_their_measure_if_a_card_gets_another_one(
    cards: Path, touche: Touche, write: Write
) -> None:
    card = cards / "touche-2022-task-2.toml"
    before = [(row.measure, row.value) for row in tasks.task("touche-2022-task-2").published]
    topics_before = values_of_topics(tasks.task("touche-2022-task-2"))
    changed = card.read_text().replace("topics =", 'measure = "nDCG@10"\ntopics =', 1)
    task = read_card(write(card.name, changed))
    assert [(row.measure, row.value) for row in task.published] == before
    assert values_of_topics(task) == topics_before
    assert (
        comparable(task, "relevance", "touche") == [] and len(comparable(task, "stance", "touche", 1328)) == 1
    )
    deeper = [replace(row, measure="nDCG@10") for row in task.published]  # a table of another measure
    assert values_of_topics(replace(task, published=deeper)) == ()


@pytest.mark.parametrize("broken", ["max_runs", "maxruns", "]"])
def test_a_broken_card_is_left_out_with_a_warning(cards: Path, touche: Touche, broken: str) -> None:
    card = cards / "touche-2022-task-1.toml"
    card.write_text(card.read_text().replace("max_runs = 5", f"{broken} = '5'"))
    code, out, err = touche("tasks")
    assert code == 0 and "touche-2022-task-1 " not in out and "touche-2022-task-2 " in out
    assert err.startswith(f"touche: warning: {card}: ") and len(err.splitlines()) == 1
    message = r"touche-2022-task-1\.toml: (rules.*max_?runs|broken TOML)"
    for look_up in (tasks.task, tasks.dataset):
        for name in ("touche-2022-task-1", "touche-2022-task-1/sample"):
            with pytest.raises(ToucheError, match=message):
                look_up(name)
