"""A task with its topics, qrels, documents and published results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from touche import tasks
from touche.api.listing import PublishedResults, published
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.data.places import locate_topics
from touche.documents.collection import Documents
from touche.errors import ToucheError, choice
from touche.io.opening import FileInMemory
from touche.tasks import Task
from touche.tira.outputs import METADATA_FILE
from touche.tira.provenance import collection_of_run
from touche.trec.framed import Table
from touche.trec.qrels import Qrels
from touche.trec.topics import Topic, read_topics


class DimensionError(ToucheError, KeyError):
    """A dimension that a task does not have."""

    __str__ = Exception.__str__  # KeyError quotes its message


class _QrelsByDimension(Mapping[str, Qrels]):
    """The qrels of a task, read when they are used."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getitem__(self, dimension: str) -> Qrels:
        if dimension not in self._task.qrels:
            remedy = choice(dimension, self._task.qrels)
            raise DimensionError(f"{self._task.id} has no dimension {dimension!r}; {remedy}")
        return task_qrels(self._task, dimension)

    def __iter__(self) -> Iterator[str]:
        return iter(self._task.qrels)

    def __len__(self) -> int:
        return len(self._task.qrels)

    # That of Mapping would read the qrels.
    def __contains__(self, dimension: object) -> bool:
        return dimension in self._task.qrels


@dataclass(frozen=True)
class TaskData:
    """A task and its data, which is read when it is used.

    Attributes:
        id: the id of the task or dataset, such as ``touche-2021-task-1/sample``.
        card: the facts of the task: title, measure, rules, names of files.
    """

    id: str
    card: Task

    @cached_property
    def topics(self) -> Table[Topic]:
        """The topics; ``topics.frame()`` has a row for each."""
        return Table(Topic, tuple(read_topics(locate_topics(*tasks.dataset(self.id)))))

    @property
    def qrels(self) -> Mapping[str, Qrels]:
        """The relevance judgments by dimension, such as ``qrels["relevance"]``; each has a ``frame()``."""
        return _QrelsByDimension(self.card)

    @property
    def documents(self) -> Documents:
        """The collection, over which you can iterate repeatedly; ``documents.frame()`` loads all of it."""
        return open_dataset(self.id).documents

    @property
    def published(self) -> PublishedResults:
        """The published results, the best of each dimension first."""
        return published(self.card.id)


def task_of_run(run: Path) -> str:
    """Returns the dataset or task that ir-metadata.yml next to a run names; empty if it names none.

    The metadata of a run on a folder names only files. Then the result is the task whose card names one of
    these files as its topics, if there is only one such task.

    Args:
        run: the file of the run.
    """
    if isinstance(run, FileInMemory):  # no file is next to it
        return ""
    name, files = collection_of_run(run.parent / METADATA_FILE)
    if tasks.is_dataset(name):
        return name
    candidates = [id for id, card in tasks.all_tasks().items() if card.topics in files]
    return candidates[0] if len(candidates) == 1 else ""


def task(id: str) -> TaskData:
    """Returns a task with its topics, qrels, documents and published results.

    Args:
        id: the id of a task or of a dataset, such as ``touche-2021-task-1`` or ``spot-check/arguments``.

    Returns:
        The task, whose data is read when you use it.

    Raises:
        ToucheError: if there is no such task. Data that is missing is an error when you use it.

    Examples:
        >>> import touche
        >>> task = touche.task("spot-check/arguments")
        >>> len(task.topics), [*task.qrels], max(task.qrels["relevance"]["1"].values())
        (10, ['relevance'], 2)
    """
    return TaskData(id, tasks.task(id))
