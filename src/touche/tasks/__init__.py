"""The cards of the tasks: a TOML file each, with topics, qrels, corpora, rules and published results."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from touche.errors import ToucheError, choice

PAIR = "sentence pair"  # a unit that is ranked


@dataclass(frozen=True)
class Corpus:
    """A collection that a task can be run on.

    Attributes:
        directory: the name of its folder in corpora/.
        ir_datasets: its id in ir_datasets, or None.
        files: the parts that it consists of, where it is published in several.
    """

    directory: str
    ir_datasets: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgments:
    """The judgments of one dimension, such as relevance or quality.

    Attributes:
        file: the name of the file in qrels/.
        labels: the labels that occur in it.
    """

    file: str
    labels: frozenset[int]


@dataclass(frozen=True)
class Rules:
    """What a submission must keep to.

    Attributes:
        unit: what is ranked: ``argument``, ``sentence pair``, ``document`` or ``passage``.
        max_results: how many of them per topic at the most.
        min_results: how many at the least; 0 where no minimum was stated.
        max_runs: how many runs a team may submit, or None where no limit was stated.
        stances: the values of the second column.
    """

    unit: str
    stances: tuple[str, ...]
    max_results: int = 1000
    min_results: int = 0
    max_runs: int | None = None


@dataclass(frozen=True)
class Published:
    """One row of a published results table.

    Attributes:
        task: the id of the task.
        dimension: what was judged.
        team: the name of the team.
        run: the number that a paper gives the run, such as ``Run 1``; empty where it has none.
        tag: the tag of the run; empty where none was printed.
        value: mean nDCG@5.
        low, high: the 95% confidence interval, or None where none was printed.
        baseline: whether it is the organizers' own.
        selection: which runs are in the table, such as ``the best run of each team``; empty for all.
        evaluator: the one it was computed with, or None where that is not known.
        qrels: the judgments it was computed with, or None where that is not known.
        sources: every document and table that prints it.
    """

    task: str
    dimension: str
    team: str
    run: str
    tag: str
    value: float
    low: float | None
    high: float | None
    baseline: bool
    selection: str
    evaluator: str | None
    qrels: str | None
    sources: tuple[str, ...]

    @property
    def name(self) -> str:
        """Team and run, such as ``Prince of Persia (Run 1)``."""
        return f"{self.team} ({self.run})" if self.run else self.team


@dataclass(frozen=True)
class Task:
    """A shared task, or a part of the project's own spot check.

    Attributes:
        id: such as ``touche-2020-task-1``.
        title: the title of the task.
        url: its page.
        topics: the name of the file in topics/.
        qrels: the judgments by dimension.
        corpora: the collections by name; ``full`` is the one of the task.
        rules: what a submission must keep to.
        excluded_topics: topics whose judgments do not count.
        note: what one must know about the judgments.
        published: all published results, the best of each dimension first.
        results_note: why results are missing, where they are.
    """

    id: str
    title: str
    url: str
    topics: str
    qrels: Mapping[str, Judgments]
    corpora: Mapping[str, Corpus]
    rules: Rules
    excluded_topics: tuple[str, ...] = ()
    note: str = ""
    published: tuple[Published, ...] = ()
    results_note: str = ""


@cache
def all_tasks() -> Mapping[str, Task]:
    """The tasks by id."""
    cards = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".toml")), key=str)
    tasks = [_task_of(tomllib.loads(card.read_text(encoding="utf-8"))) for card in cards]
    return {task.id: task for task in tasks}


def task(task_id: str) -> Task:
    """The task with an id; the id of one of its datasets will do, too.

    Raises:
        ToucheError: if there is none.
    """
    if task_id in datasets():
        return datasets()[task_id][0]
    if task_id not in all_tasks():
        raise ToucheError(f"there is no task {task_id!r}; {choice(task_id, all_tasks())}")
    return all_tasks()[task_id]


def datasets() -> dict[str, tuple[Task, Corpus]]:
    """Task and corpus by dataset id: ``TASK`` for the whole corpus, ``TASK/NAME`` for another one."""
    return {
        task.id if name == "full" else f"{task.id}/{name}": (task, corpus)
        for task in all_tasks().values()
        for name, corpus in task.corpora.items()
    }


def dataset(dataset_id: str) -> tuple[Task, Corpus]:
    """Task and corpus of a dataset.

    Raises:
        ToucheError: if there is none.
    """
    if dataset_id not in datasets():
        raise ToucheError(f"there is no dataset {dataset_id!r}; {choice(dataset_id, datasets())}")
    return datasets()[dataset_id]


def _task_of(card: dict[str, Any]) -> Task:
    rules = card.pop("rules")
    return Task(
        qrels={
            dimension: Judgments(each["file"], frozenset(each["labels"]))
            for dimension, each in card.pop("qrels").items()
        },
        corpora={
            name: Corpus(each["directory"], each.get("ir_datasets"), tuple(each.get("files", ())))
            for name, each in card.pop("corpora").items()
        },
        rules=Rules(stances=tuple(rules.pop("stances")), **rules),
        excluded_topics=tuple(card.pop("excluded_topics", ())),
        published=tuple(_published(card["id"], card.pop("published", []))),
        **card,
    )


def _published(task_id: str, tables: list[dict[str, Any]]) -> list[Published]:
    rows = [
        Published(
            task=task_id,
            dimension=table["dimension"],
            team=row["team"],
            run=row.get("run", ""),
            tag=row.get("tag", ""),
            value=row["value"],
            low=row.get("interval", (None, None))[0],
            high=row.get("interval", (None, None))[1],
            baseline=row.get("baseline", False),
            selection=table.get("selection", ""),
            evaluator=table.get("evaluator"),
            qrels=table.get("qrels"),
            sources=tuple(table["sources"]),
        )
        for table in tables
        for row in table["runs"]
    ]
    dimensions = list(dict.fromkeys(row.dimension for row in rows))
    return sorted(rows, key=lambda row: (dimensions.index(row.dimension), -row.value))
