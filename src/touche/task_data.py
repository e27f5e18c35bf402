"""A task with its topics, qrels, documents and published results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from touche import tasks
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.data.places import locate_topics
from touche.documents.collection import Documents
from touche.errors import ToucheError, choice, counted
from touche.reports.published_results import PublishedResults, published
from touche.tasks import Task
from touche.trec.qrels import Qrels
from touche.trec.topic_forms import TopicTable
from touche.trec.topics import Topic, read_topics


class DimensionError(ToucheError, KeyError):
    """The task doesn't have this dimension."""

    __str__ = Exception.__str__  # KeyError would quote the message


class _QrelsByDimension(Mapping[str, Qrels]):
    """A task's qrels, read when you use them."""

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

    # Mapping's own method would read the qrels.
    def __contains__(self, dimension: object) -> bool:
        return dimension in self._task.qrels


@dataclass(frozen=True, repr=False)
class TaskData:
    """A task and its data, which is read when you use it.

    Attributes:
        id: the task's or dataset's id, such as ``touche-2021-task-1/sample``.
        card: facts about the task: title, measure, rules, file names.
    """

    id: str
    card: Task

    def __repr__(self) -> str:
        measures = dict.fromkeys(str(self.card.measure_for(dimension)) for dimension in self.card.qrels)
        judged = f"{', '.join(self.card.qrels)}, scored by {', '.join(measures)}"
        published = counted(len(self.card.published), "published value")
        return f"{self.id}: {self.card.title}\nranks {self.card.rules.unit}s; judged: {judged}; {published}"

    @cached_property
    def topics(self) -> TopicTable:
        """The topics; ``topics.frame()`` is a frame with the columns qid and query, as PyTerrier needs it."""
        return TopicTable(Topic, read_topics(locate_topics(*tasks.dataset(self.id))))

    @property
    def qrels(self) -> Mapping[str, Qrels]:
        """The relevance judgments by dimension, such as ``qrels["relevance"]``; each has a ``frame()``."""
        return _QrelsByDimension(self.card)

    @property
    def documents(self) -> Documents:
        """The collection, which you can iterate over repeatedly; ``documents.frame()`` loads all of it."""
        return open_dataset(self.id).documents

    @property
    def published(self) -> PublishedResults:
        """The published results, the best of each dimension first."""
        return published(self.card.id)


def task(id: str) -> TaskData:
    """Returns a task with its topics, qrels, documents and published results.

    Args:
        id: a task's or dataset's id, such as ``touche-2021-task-1`` or ``spot-check/arguments``.

    Raises:
        ToucheError: if there is no such task. If data is missing, you will see the error when you use it.

    Examples:
        >>> import touche
        >>> task = touche.task("spot-check/arguments")
        >>> len(task.topics), [*task.qrels], max(task.qrels["relevance"]["1"].values())
        (10, ['relevance'], 2)
    """
    return TaskData(id, tasks.task(id))
