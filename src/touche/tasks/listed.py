"""The list of all tasks."""

from dataclasses import dataclass

from touche.tasks import all_tasks, datasets
from touche.trec.framed import Table


@dataclass(frozen=True)
class ListedTask:
    """A task in the list.

    Attributes:
        id: the task's id, such as ``touche-2021-task-1``.
        title: the title.
        unit: the ranked unit, such as ``argument``.
        measure: the task's measure, such as ``nDCG@5``.
        dimensions: the judged dimensions, such as ``relevance``.
        datasets: the ids of the task's datasets. The dataset with the whole collection comes first.
        published: the number of published results.
        url: the task's web page.
    """

    id: str
    title: str
    unit: str
    measure: str
    dimensions: tuple[str, ...]
    datasets: tuple[str, ...]
    published: int
    url: str


def list_tasks() -> Table[ListedTask]:
    """Returns all tasks: those that ship with touche and those in ``TOUCHE_DATA``.

    Returns:
        A ``ListedTask`` per task, sorted by id; ``frame()`` returns a DataFrame. A broken card causes a
        ``ToucheWarning`` and isn't listed.

    Examples:
        >>> import touche
        >>> [task.id for task in touche.list_tasks() if task.unit == "sentence pair"]
        ['spot-check/pairs', 'touche-2022-task-1']
    """
    all_datasets = datasets()
    listed = [
        ListedTask(
            id=task.id,
            title=task.title,
            unit=task.rules.unit,
            measure=task.measure.name,
            dimensions=tuple(task.qrels),
            # a dataset's id is the task's id plus a name, e.g. /sample
            datasets=tuple(name for name in all_datasets if task.id in (name, name.rpartition("/")[0])),
            published=len(task.published),
            url=task.url,
        )
        for task in all_tasks().values()
    ]
    return Table(ListedTask, tuple(listed))
