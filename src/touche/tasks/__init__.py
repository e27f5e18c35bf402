"""The cards of the tasks: a TOML file each, with topics, qrels per dimension, corpora and rules."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from touche.errors import ToucheError


@dataclass(frozen=True)
class Corpus:
    """A collection that a task can be run on.

    Attributes:
        directory: the name of its folder in corpora/.
        ir_datasets: its id in ir_datasets, or None.
    """

    directory: str
    ir_datasets: str | None = None


@dataclass(frozen=True)
class Rules:
    """What a submission must keep to.

    Attributes:
        unit: what is ranked: ``argument``, ``sentence pair``, ``document`` or ``passage``.
        max_results: how many of them per topic at the most.
        min_results: how many at the least.
        max_runs: how many runs a team may submit, or None where no limit was stated.
        stances: the values of the second column.
    """

    unit: str
    stances: tuple[str, ...]
    max_results: int = 1000
    min_results: int = 1
    max_runs: int | None = None


@dataclass(frozen=True)
class Task:
    """A shared task, or a part of the project's own spot check.

    Attributes:
        id: such as ``touche-2020-task-1``.
        title: the title of the task.
        url: its page.
        topics: the name of the file in topics/.
        qrels: the name of the file in qrels/ by dimension, such as relevance and quality.
        corpora: the collections by name; ``full`` is the one of the task.
        rules: what a submission must keep to.
        excluded_topics: topics whose judgments do not count.
        note: what one must know about the judgments.
    """

    id: str
    title: str
    url: str
    topics: str
    qrels: Mapping[str, str]
    corpora: Mapping[str, Corpus]
    rules: Rules
    excluded_topics: tuple[str, ...] = ()
    note: str = ""


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
        raise ToucheError(f"there is no task {task_id!r}; choose among {', '.join(all_tasks())}")
    return all_tasks()[task_id]


def datasets() -> dict[str, tuple[Task, Corpus]]:
    """Task and corpus by dataset id: ``TASK`` for the whole corpus, ``TASK/NAME`` for another one."""
    return {
        task.id if name == "full" else f"{task.id}/{name}": (task, corpus)
        for task in all_tasks().values()
        for name, corpus in task.corpora.items()
    }


def _task_of(card: dict[str, Any]) -> Task:
    rules = card.pop("rules")
    return Task(
        corpora={name: Corpus(**corpus) for name, corpus in card.pop("corpora").items()},
        rules=Rules(stances=tuple(rules.pop("stances")), **rules),
        excluded_topics=tuple(card.pop("excluded_topics", ())),
        **card,
    )
