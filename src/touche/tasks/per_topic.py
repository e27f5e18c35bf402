"""Reads published values per topic. They are in tables next to the cards: one table per dimension, with a row
per run.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from typing import ClassVar

from touche.errors import ToucheError, choice
from touche.io.identifiers import check_text
from touche.tasks import task as task_with_id
from touche.tasks.task_records import Published, Task, rounded
from touche.trec.framed import Columns, Table

_FOLDER = Path(__file__).parent / "per-topic"
_LEAST_POSITIVE_VALUES = 10  # with at least so many positive values, equal values identify a run
TopicValues = Mapping[str, Mapping[str, float]]
"""The values of a run for each topic, by dimension and topic."""


@dataclass(frozen=True)
class PublishedTopic:
    """A published value for one topic.

    The columns of tables are ``task``, ``dimension``, ``measure``, ``team`` (with the run), ``tag`` and
    ``baseline``, which are read from ``row``, and then the other attributes.

    Attributes:
        row: the published mean that the value belongs to.
        topic: the topic's number.
        value: the measure's value, with three decimals.
        is_ambiguous: whether several runs have this tag, so that we don't know which of their values belongs
            to which run.
    """

    COLUMNS: ClassVar[Columns] = {
        "task": attrgetter("row.task"),
        "dimension": attrgetter("row.dimension"),
        "measure": attrgetter("row.measure"),
        "team": attrgetter("row.name"),
        "tag": attrgetter("row.tag"),
        "baseline": attrgetter("row.baseline"),
        "topic": attrgetter("topic"),
        "value": attrgetter("value"),
        "is_ambiguous": attrgetter("is_ambiguous"),
    }

    row: Published
    topic: str
    value: float
    is_ambiguous: bool


def published_topics(
    task: str, *, team: str | None = None, only_baselines: bool = False
) -> Table[PublishedTopic]:
    """Returns the published values per topic: nDCG@5 for rankings, macro F1 for detected stances.

    The organizers published them for ``touche-2021-task-1``, ``touche-2021-task-2`` and
    ``touche-2022-task-2``. Some runs lack topics; their published means only cover the topics they have.

    Args:
        task: the task's id, or the id of a dataset with some of its topics.
        team: only this team's values; None for all teams.
        only_baselines: only the organizers' baselines.

    Returns:
        ``touche.tasks.per_topic.PublishedTopic`` records, run by run; none for other tasks. The notes name
        the tasks that have some. ``frame()`` returns a DataFrame.

    Raises:
        ToucheError: if there is no such task, or the task has values but not for this team.

    Examples:
        >>> import touche
        >>> len({value.topic for value in touche.published_topics("touche-2021-task-2")})
        50
    """
    if team is not None:
        check_text("team", team)
    values = values_of_topics(task_with_id(task))
    if not values:
        others = ", ".join(tasks_with_topics())
        note = f"{task} has no published values of topics; these tasks have some: {others}"
        return Table(PublishedTopic, (), notes=(note,))
    teams = dict.fromkeys(value.row.name for value in values)
    if team is not None:
        if team not in teams:
            raise ToucheError(f"{task} has no published values of {team!r}; {choice(team, teams)}")
        values = tuple(value for value in values if value.row.name == team)
    if only_baselines:
        values = tuple(value for value in values if value.row.baseline)
    return Table(PublishedTopic, values)


def values_of_topics(task: Task) -> tuple[PublishedTopic, ...]:
    """Returns a task's published values per topic, run by run. If the task has ``only_topics``, only the
    values for these topics.
    """
    published = []
    for row in task.published:
        runs = _runs_by_tag(task.id, row.dimension, row.measure).get(row.tag, [])
        values = [(topic, value) for run in runs for topic, value in run.items()]
        for topic, value in values:
            if task.only_topics and topic not in task.only_topics:
                continue
            published.append(PublishedTopic(row=row, topic=topic, value=value, is_ambiguous=len(runs) > 1))
    return tuple(published)


def topic_values(row: Published) -> Mapping[str, float] | str:
    """Returns a published run's value for each topic. If there are none, returns a sentence that says why."""
    table = _runs_by_tag(row.task, row.dimension, row.measure)
    runs = table.get(row.tag, [])
    if not runs:
        return "no values of its topics are published"
    if len(runs) > 1:
        return "two values are published for each topic"
    # Sorted, because all runs need the same order of topics when ranks are computed.
    values = dict(sorted(runs[0].items()))
    all_topics = {topic for runs_with_tag in table.values() for run in runs_with_tag for topic in run}
    missing = len(all_topics) - len(values)
    return f"values of {missing} of {len(all_topics)} topics are missing" if missing else values


def tasks_with_topics() -> list[str]:
    """Returns the ids of tasks with published values per topic."""
    return sorted({path.stem.rpartition("-")[0] for path in _FOLDER.glob("*.tsv")})


def equal_runs(task: Task, measure: str, values: TopicValues) -> list[Published]:
    """Returns the published runs with the same value as a run in every topic and dimension.

    Args:
        task: the task; if it has ``only_topics``, only these are compared.
        measure: the measure's name.
        values: the run's values by dimension and topic.

    Returns:
        A row for each published run with equal values. The list is empty if the run has fewer than ten
        positive values in a dimension, because so few could be equal by chance.
    """
    rounded_values = {
        dimension: {topic: rounded(value) for topic, value in topics.items()}
        for dimension, topics in values.items()
    }
    if not all(map(identifies_run, rounded_values.values())):
        return []
    equal = [run.tag for run in runs_with_topics(task, measure) if run.values == rounded_values]
    return [next(row for row in task.published if row.tag == tag) for tag in equal]


@dataclass(frozen=True)
class RunWithTopics:
    """A published run with its values for single topics.

    Attributes:
        team, tag: as in ``Published``.
        values: its values by dimension and topic.
    """

    team: str
    tag: str
    values: TopicValues


def runs_with_topics(task: Task, measure: str) -> list[RunWithTopics]:
    """Returns a task's published runs for which values of topics are published. If two runs have the same
    tag, both are left out.

    Args:
        task: the task.
        measure: the measure's name.
    """
    runs = dict[tuple[str, str], dict[str, dict[str, float]]]()
    for value in values_of_topics(task):
        if value.row.measure == measure and not value.is_ambiguous:
            dimensions = runs.setdefault((value.row.team, value.row.tag), {})
            dimensions.setdefault(value.row.dimension, {})[value.topic] = value.value
    return [RunWithTopics(team, tag, values) for (team, tag), values in runs.items()]


def sentences_on_copies(task: Task) -> list[str]:
    """Returns a sentence for each pair of published runs that are equal in every topic and dimension."""
    sentences = []
    for a, b in combinations(runs_with_topics(task, task.measure.name), 2):
        if a.values == b.values:  # values for rankings only, because stances have another measure
            topics = len(next(iter(a.values.values())))
            names = f"{a.team} ({a.tag}) and {b.team} ({b.tag})"
            sentences.append(f"{names} have equal values in all {topics} topics")
    return sentences


def identifies_run(values: Mapping[str, float]) -> bool:
    """Returns whether so many topics have positive values that another run with the same values can't have
    them by chance.
    """
    return sum(value > 0 for value in values.values()) >= _LEAST_POSITIVE_VALUES


@cache
def _runs_by_tag(task_id: str, dimension: str, measure: str) -> dict[str, list[dict[str, float]]]:
    """Returns, for each tag, a list of its runs, each as values by topic. Empty if there is no table with
    this measure.
    """
    path = _FOLDER / f"{task_id}-{dimension}.tsv"
    runs = dict[str, list[dict[str, float]]]()
    if path.exists():
        origin, rows = read_table(path)
        if not origin.startswith(f"# Published {measure} of "):
            return runs
        for row in rows:
            tag = row.pop("tag")
            runs.setdefault(tag, []).append({topic: float(value) for topic, value in row.items() if value})
    return runs


def read_table(path: Path) -> tuple[str, list[dict[str, str]]]:
    """Reads a table. Returns its first line, which says where the table comes from, and its rows."""
    origin, *lines = path.read_text(encoding="utf-8").splitlines()
    return origin, [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
