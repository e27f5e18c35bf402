"""A task with its topics, qrels, documents and published results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from touche import tasks
from touche.baselines.expected import ExpectedScore
from touche.baselines.reruns import find_rerun, published_scores, rerun_command
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.data.places import locate_topics
from touche.documents.collection import Documents
from touche.errors import ToucheError, choice, counted
from touche.evaluation.leaderboard import Level, levels, rank, shortlist
from touche.io.grouping import group_by
from touche.tasks import STANCE, Published, Task
from touche.trec.framed import Table
from touche.trec.qrels import Qrels
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


@dataclass(frozen=True)
class PublishedResult(Published):
    """A published result, with its rank and the command that reruns it.

    Attributes:
        rank: the rank for its dimension and measure, from 1; equal printed values share a rank.
        is_shortlisted: whether it is its team's best run, or an organizers' run.
        rerun: the command that reruns it; empty if touche can't.
        tolerance: how far a rerun may be off; None if there is no rerun.
        rank_low, rank_high: the rank's 95% interval, by bootstrapping topics, among the runs with per-topic
            values; None if there are no such values.
        group: the run's group, from 1. A group consists of runs that the paired t-test, Holm-corrected for
            all pairs in the table, does not separate from the group's first run. None if there are no
            per-topic values.
        rank_note: why the run has no interval and no group; empty if it has them.
    """

    rank: int = 0
    is_shortlisted: bool = False
    rerun: str = ""
    tolerance: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    group: int | None = None
    rank_note: str = ""


@dataclass(frozen=True, repr=False)
class PublishedResults(Table[PublishedResult]):
    """Published results, task by task. For each task, the best of each dimension come first, stances last."""

    @cached_property
    def by_kind(self) -> "dict[tuple[str, str, int | None], PublishedResults]":
        """Results by dimension, measure and number of topics (None for all topics); stances last.

        A kind can include several tasks; ranks are always within a task.
        """
        stances_last = sorted(self, key=lambda row: row.dimension == STANCE)
        rows_by_kind = group_by(stances_last, lambda row: row.kind)
        return {kind: PublishedResults(PublishedResult, tuple(rows)) for kind, rows in rows_by_kind.items()}

    @cached_property
    def shortlist(self) -> "PublishedResults":
        """Each team's best run, and the organizers' runs."""
        return PublishedResults(PublishedResult, tuple(row for row in self if row.is_shortlisted))


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
    def topics(self) -> Table[Topic]:
        """The topics; ``topics.frame()`` has a row per topic."""
        return Table(Topic, tuple(read_topics(locate_topics(*tasks.dataset(self.id)))))

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


def published(task: str | None = None) -> PublishedResults:
    """Returns the published results of a task, or of all tasks.

    Args:
        task: the task's id; None for all tasks.

    Returns:
        A ``PublishedResult`` for each, the best of each dimension first. Detected stances, which use another
        measure, come last. ``by_kind`` groups the results by dimension and measure, ``shortlist`` keeps each
        team's best, and ``frame()`` returns a DataFrame.

    Raises:
        ToucheError: if there is no such task.

    Examples:
        >>> import touche
        >>> best = touche.published("touche-2021-task-1")[0]
        >>> best.rank, best.measure, best.value
        (1, 'nDCG@5', 0.72)
    """
    chosen = tasks.all_tasks().values() if task is None else [tasks.task(task)]
    has_published = any(card.published for card in chosen)
    scores = published_scores() if has_published else []  # slow: reads every expected.toml
    results = tuple(result for card in chosen for result in _results(card, scores))
    return PublishedResults(PublishedResult, results)


def _results(task: Task, scores: Sequence[ExpectedScore]) -> Iterator[PublishedResult]:
    """Yields a task's published results in its card's order, each ranked among those of its ``kind``."""
    by_kind = group_by(task.published, lambda row: row.kind)
    shortlists = {kind: shortlist(rows) for kind, rows in by_kind.items()}
    level_of_row = dict[Published, Level]()
    for rows in by_kind.values():
        level_of_row.update(zip(rows, levels(rows), strict=True))
    for row in task.published:
        level = level_of_row[row]
        score = find_rerun(row, scores)
        yield PublishedResult(
            **vars(row),
            rank=rank(row, by_kind[row.kind]),
            is_shortlisted=row in shortlists[row.kind],
            rerun=rerun_command(score) if score else "",
            tolerance=score.tolerance if score else None,
            rank_low=level.low,
            rank_high=level.high,
            group=level.group,
            rank_note=level.reason,
        )
