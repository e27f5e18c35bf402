"""Finds tasks by id. A task's card is only read when the task is needed.

Some cards ship with the project. Users' cards are in the subfolder tasks/ of a folder in ``TOUCHE_DATA``.
"""

import logging
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from os.path import realpath  # unlike Path.resolve, it accepts circular links
from pathlib import Path

from touche.errors import InputError, ToucheError, choice
from touche.io.identifiers import quoted
from touche.io.opening import is_file
from touche.io.toml import read_toml
from touche.tasks.cards import read_card
from touche.tasks.measures import MACRO_F1, MEASURE_OF_QUESTION, Measure, measure_of, measures_in
from touche.tasks.other_names import candidates, has_unknown_year
from touche.tasks.task_records import (
    PAIR,
    SPOT_CHECK,
    STANCE,
    Corpus,
    Judgments,
    Published,
    Rules,
    Task,
    card_id,
    dataset_with,
    newest_first,
)

__all__ = [
    "MACRO_F1",
    "MEASURE_OF_QUESTION",
    "PAIR",
    "STANCE",
    "Corpus",
    "Judgments",
    "Measure",
    "Published",
    "Rules",
    "Task",
    "measure_of",
    "measures_in",
    "newest_first",
]

_FOLDER = Path(__file__).parent

_log = logging.getLogger(__name__)
_read_once = cache(read_card)


def data_folders() -> list[Path]:
    """Returns the folders in ``TOUCHE_DATA``, which are separated as in PATH. If a file is in several
    folders, the one in the earliest folder is used.
    """
    return [Path(folder) for folder in os.environ.get("TOUCHE_DATA", "").split(os.pathsep) if folder]


def data_folder(task_id: str) -> Path | None:
    """Returns the first ``TOUCHE_DATA`` folder with a card for the task, or None."""
    return next((card.parents[1] for card in _cards_of_user(task_id)), None)


def ids() -> list[str]:
    """Returns the ids of all tasks. They are the file names of the cards, so no card is read."""
    return list(_cards())


def all_tasks() -> dict[str, Task]:
    """Returns the tasks by id. A broken card causes a warning."""
    by_id = {}
    for task_id in ids():
        try:
            by_id[task_id] = task(task_id)
        except ToucheError as error:
            _log.warning("%s", error)
    return by_id


def task(task_id: str) -> Task:
    """Returns a task by its id or the id of one of its datasets.

    Raises:
        ToucheError: if the task is unknown, or its card is broken or has the same name as another card.
    """
    name = task_id if isinstance(task_id, str) else ""
    path = _card(name)
    if path:
        for card in _cards_of_user(name):
            check_name(card)
        return _read_once(path)
    if _card(name.rpartition("/")[0]):
        return dataset(name)[0]
    remedy = choice_of_id(name, _cards())
    # The user probably passed a second run, or qrels, in place of the id.
    if is_file(name) or not isinstance(task_id, str):
        remedy = "pass the id of a task; pass several runs as a list, and qrels by qrels="
    raise ToucheError(f"there is no task {quoted(task_id)}; {remedy}")


def datasets() -> list[str]:
    """Returns the ids of all datasets: ``TASK`` for a dataset with a task's whole corpus, ``TASK/NAME`` for
    the others. A card that isn't TOML counts as one dataset, so that ``dataset`` can report the card's
    errors.
    """
    return [
        dataset_with(task_id, name)
        for task_id, card in _cards().items()
        for name in dict.fromkeys(["full", *_corpus_names(card)])
    ]


def is_dataset(dataset_id: str) -> bool:
    """Returns whether there is a dataset with this id; ``TASK/full`` counts, too. Reads at most one card."""
    task_id, name = _task_and_corpus(dataset_id)
    card = _card(task_id)
    if card is None:
        return False
    try:
        return name in _read_once(card).corpora
    # The card is broken, which ``dataset`` reports; the names of its corpora can be read nevertheless.
    except ToucheError:
        return name in ("full", *_corpus_names(card))


def dataset(dataset_id: str) -> tuple[Task, Corpus]:
    """Returns a dataset's task and corpus. If the dataset has only some of the task's topics, they are the
    returned task's ``only_topics``.

    Raises:
        ToucheError: if the dataset is unknown or the card is broken.
    """
    text = dataset_id if isinstance(dataset_id, str) else ""
    task_id, name = _task_and_corpus(text)
    if _card(task_id) is None or name not in task(task_id).corpora:
        otherwise = (
            "choose a task, which touche tasks lists, or a part of one, such as touche-2020-task-1/sample"
        )
        remedy = choice_of_id(text, datasets(), otherwise)
        raise ToucheError(f"there is no dataset {quoted(dataset_id)}; {remedy}")
    corpus = task(task_id).corpora[name]
    return replace(task(task_id), only_topics=corpus.topics, corpus=name), corpus


def choice_of_id(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Suggests known ids for an unknown one, like ``errors.choice``. Also recognizes ids that other systems
    use for the same tasks and datasets.
    """
    # If True, the task is known, and only the name after the slash isn't.
    is_of_task = _card(name.rpartition("/")[0]) is not None
    *others, last = ([] if is_of_task else candidates(name, _cards())) or [""]
    if last:
        return f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"
    # If no task has the year in the name, suggest nothing similar: the same id with another year is another
    # task.
    return choice(name if is_of_task or not has_unknown_year(name, _cards()) else "", known, otherwise)


def _task_and_corpus(dataset_id: str) -> tuple[str, str]:
    """Splits a dataset's id into the task's id and the corpus' name. Both may be unknown."""
    if _card(dataset_id):  # a task id may contain a slash, e.g. spot-check/arguments
        return dataset_id, "full"
    task_id, _, name = dataset_id.rpartition("/")
    return task_id, name


def check_name(card: Path) -> None:
    """Checks that a user's card doesn't have the same name as a shipped card.

    Raises:
        InputError: if it has.
    """
    task_id = card_id(card)
    is_of_user = realpath(card) in map(realpath, _cards_of_user(task_id))
    if is_of_user and task_id in _shipped():
        problem = f"a task {task_id!r} ships with the project"
        raise InputError(card, problem, "change the name of the file and its id")


def _cards() -> dict[str, Path]:
    """Returns the path of each task's card by the task's id. If a user's card has the same name as a shipped
    one, the shipped one is returned.
    """
    # Earlier folders come last, so that their cards overwrite those from later folders.
    folders = reversed(data_folders())
    cards = (card for folder in folders for card in (folder / "tasks").glob("[!.]*.toml"))
    user_cards = {card_id(card): card for card in cards if card.is_file()}
    return dict(sorted((user_cards | _shipped()).items()))


def _card(task_id: str) -> Path | None:
    """Returns the path of a task's card; None if there is no such task. Doesn't list the user's folders,
    which can be slow.
    """
    return _shipped().get(task_id) or next(iter(_cards_of_user(task_id)), None)


@cache
def _shipped() -> dict[str, Path]:
    """Returns the shipped cards by task id."""
    folders = (_FOLDER, _FOLDER / SPOT_CHECK)
    return {card_id(card): card for folder in folders for card in folder.glob("[!.]*.toml")}


def _cards_of_user(task_id: str) -> list[Path]:
    """Returns the task's cards in ``TOUCHE_DATA``, at most one per folder."""
    if "/" in task_id or task_id.startswith("."):  # a user's card is neither in a subfolder nor hidden
        return []
    cards = (folder / "tasks" / f"{task_id}.toml" for folder in data_folders())
    return [card for card in cards if is_file(card)]


@cache
def _corpus_names(card: Path) -> Iterable[str]:
    """Returns the names of the corpora on a card, even if other parts of the card have errors."""
    try:
        corpora = read_toml(card).get("corpora")
    except ToucheError:
        return ()
    return corpora if isinstance(corpora, dict) else ()
