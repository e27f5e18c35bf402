"""The tasks by their ids, each read from its card once it is asked for.

Cards are those that ship, and those in the folders tasks/ of ``TOUCHE_DATA``.
"""

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from os.path import realpath  # that of Path raises where links lead round in circles
from pathlib import Path

from touche.errors import InputError, ToucheError, choice
from touche.io.opening import is_file
from touche.io.toml import read_toml
from touche.tasks.cards import read_card
from touche.tasks.measures import MACRO_F1, Measure, measure_of
from touche.tasks.records import CUTOFF, PAIR, STANCE, Corpus, Judgments, Published, Rules, Task, id_of

__all__ = [
    "CUTOFF",
    "MACRO_F1",
    "PAIR",
    "STANCE",
    "Corpus",
    "Judgments",
    "Measure",
    "Published",
    "Rules",
    "Task",
    "measure_of",
]

_FOLDER = Path(__file__).parent

_log = logging.getLogger(__name__)
_read = cache(read_card)


def data_folders() -> list[Path]:
    """The folders in ``TOUCHE_DATA``, which are separated as in PATH; the first match wins."""
    return [Path(folder) for folder in os.environ.get("TOUCHE_DATA", "").split(os.pathsep) if folder]


def folder_of(task_id: str) -> Path | None:
    """The folder in ``TOUCHE_DATA`` that has the card of a task; None for a task that ships."""
    return next((card.parents[1] for card in _of_user(task_id)), None)


def ids() -> list[str]:
    """The ids of all tasks, by the names of their cards, of which none is read."""
    return list(_cards())


def all_tasks() -> dict[str, Task]:
    """The tasks by id; a card that cannot be read is left out with a warning."""
    found = {}
    for task_id in ids():
        try:
            found[task_id] = task(task_id)
        except ToucheError as error:
            _log.warning("%s", error)
    return found


def task(task_id: str) -> Task:
    """The task with an id; the id of one of its datasets will do, too.

    Raises:
        ToucheError: if there is none, its card cannot be read, or another one has its name.
    """
    cards = _cards()
    if task_id in cards:
        for card in _of_user(task_id):
            check_name(card)
        return _read(cards[task_id])
    if task_id.rpartition("/")[0] in cards:
        return dataset(task_id)[0]
    raise ToucheError(f"there is no task {task_id!r}; {choice(task_id, ids())}")


def task_scored_by(task_id: str | None, measure: str | None = None, qrels: Path | None = None) -> Task:
    """A task as runs are to be scored for it: by its own measure and judgments, or by others.

    Args:
        task_id: its id, or that of one of its datasets; None where nothing but the judgments is known.
        measure: another measure, in the notation of ir_measures.
        qrels: a file with other judgments, to which no published value belongs. Its name, without the ending,
            is that of the dimension.

    Raises:
        ToucheError: if there is no such task, measure or file, or neither task nor judgments are named.
    """
    if task_id is None and qrels is None:
        named = f"name --task, one of {', '.join(ids())}, or --qrels"
        raise ToucheError(f"neither a task nor judgments are named; {named}")
    if qrels is not None and not is_file(qrels):
        raise InputError(qrels, "no such file of judgments", "check the path")
    name = qrels.name if qrels else ""  # of a task of which nothing else is known
    unknown = Task(name, name, "", topics="", qrels={}, corpora={}, rules=Rules("document"))
    chosen = unknown if task_id is None else task(task_id)
    own = chosen.measure if measure is None else measure_of(measure)
    of_stances = own is MACRO_F1
    if qrels is not None:
        of_stances |= measure is None and Judgments(qrels.name) == chosen.qrels.get(STANCE)
        dimension = qrels.stem if qrels.stem != STANCE else qrels.name  # grades of whatever it is
        judged = {STANCE if of_stances else dimension: Judgments(str(qrels.absolute()))}
        chosen = replace(chosen, qrels=judged, published=())
    elif measure is not None:
        judged = {name: file for name, file in chosen.qrels.items() if (name == STANCE) == of_stances}
        chosen = replace(chosen, qrels=judged)
    if of_stances and not (chosen.stances and chosen.qrels):
        raise ToucheError(f"{MACRO_F1} is of judged stances; name a --task that has some")
    return chosen if of_stances else replace(chosen, measure=own)


def datasets() -> list[str]:
    """The ids of all datasets: ``TASK`` for its whole corpus, ``TASK/NAME`` for another one.

    Of a card that is no TOML, the first alone; what else a card gets wrong is told by ``dataset``.
    """
    return [
        each if name == "full" else f"{each}/{name}"
        for each, card in _cards().items()
        for name in dict.fromkeys(["full", *_corpora(card)])
    ]


def dataset(dataset_id: str) -> tuple[Task, Corpus]:
    """Task and corpus of a dataset.

    Raises:
        ToucheError: if there is none, or the card of its task cannot be read.
    """
    task_id, _, name = (dataset_id, "", "full") if dataset_id in _cards() else dataset_id.rpartition("/")
    if task_id in _cards() and name in task(task_id).corpora:
        return task(task_id), task(task_id).corpora[name]
    raise ToucheError(f"there is no dataset {dataset_id!r}; {choice(dataset_id, datasets())}")


def check_name(card: Path) -> None:
    """Checks that a card in ``TOUCHE_DATA`` has not the name of one that ships: no id means two tasks.

    Raises:
        InputError: if it has.
    """
    if realpath(card) in map(realpath, _of_user(id_of(card))) and id_of(card) in _shipped():
        problem = f"a task {id_of(card)!r} ships with the project"
        raise InputError(card, problem, "give the file and its id another name")


def _cards() -> dict[str, Path]:
    """The cards by the ids of their tasks; of two with one id that which ships."""
    folders = reversed(data_folders())  # so that the first one wins
    found = {id_of(card): card for folder in folders for card in (folder / "tasks").glob("[!.]*.toml")}
    return dict(sorted((found | _shipped()).items()))


def _shipped() -> dict[str, Path]:
    return {id_of(card): card for card in _FOLDER.rglob("[!.]*.toml")}


def _of_user(task_id: str) -> list[Path]:
    """The cards of a task in ``TOUCHE_DATA``."""
    cards = (folder / "tasks" / f"{task_id}.toml" for folder in data_folders())
    return [card for card in cards if os.path.exists(card)]  # noqa: PTH110 (that of Path raises)


@cache
def _corpora(card: Path) -> Iterable[str]:
    """The names of a card's corpora, whatever else is wrong with it."""
    with suppress(ToucheError):
        corpora = read_toml(card).get("corpora")
        return corpora if isinstance(corpora, dict) else ()
    return ()
