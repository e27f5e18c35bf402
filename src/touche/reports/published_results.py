"""Published results with their ranks, groups and reruns."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import ClassVar

from touche import tasks
from touche.baselines.expected import ExpectedScore
from touche.baselines.reruns import find_rerun, published_scores, rerun_command
from touche.evaluation.leaderboard import Level, levels, rank, shortlist
from touche.io.grouping import group_by
from touche.tasks import STANCE, Published
from touche.trec.framed import Columns, Table


@dataclass(frozen=True)
class PublishedResult:
    """A published result, with its rank and the command that reruns it.

    Its columns are the fields of ``row``, then ``rank``, ``is_shortlisted``, ``rerun`` and ``tolerance``, and
    then those of ``level`` as ``rank_low``, ``rank_high``, ``group`` and ``rank_note``.

    Attributes:
        row: the row in the published table.
        rank: the rank for its dimension and measure, from 1; equal printed values share a rank.
        level: the rank's 95% interval, among the runs with per-topic values, and the run's group.
        is_shortlisted: whether it is its team's best run, or an organizers' run.
        expected: the score that a rerun must reach; None if touche can't rerun it.
    """

    COLUMNS: ClassVar[Columns] = {
        **{field.name: attrgetter(f"row.{field.name}") for field in fields(Published)},
        "rank": attrgetter("rank"),
        "is_shortlisted": attrgetter("is_shortlisted"),
        "rerun": attrgetter("rerun"),
        "tolerance": attrgetter("tolerance"),
        "rank_low": attrgetter("level.low"),
        "rank_high": attrgetter("level.high"),
        "group": attrgetter("level.group"),
        "rank_note": attrgetter("level.reason"),
    }

    row: Published
    rank: int
    level: Level
    is_shortlisted: bool
    expected: ExpectedScore | None

    @property
    def rerun(self) -> str:
        """The command that reruns it; empty if touche can't."""
        return rerun_command(self.expected) if self.expected else ""

    @property
    def tolerance(self) -> float | None:
        """How far a rerun may be off; None if there is no rerun."""
        return self.expected.tolerance if self.expected else None


@dataclass(frozen=True, repr=False)
class PublishedResults(Table[PublishedResult]):
    """Published results, task by task: in each task, the best of each dimension first, and stances last."""

    @cached_property
    def by_kind(self) -> "dict[tuple[str, str, int | None], PublishedResults]":
        """Results by dimension, measure and number of topics (None for all topics); stances last.

        A kind can include several tasks; ranks are always within a task.
        """
        stances_last = sorted(self, key=lambda result: result.row.dimension == STANCE)
        results_by_kind = group_by(stances_last, lambda result: result.row.kind)
        return {
            kind: PublishedResults(PublishedResult, tuple(results))
            for kind, results in results_by_kind.items()
        }

    @cached_property
    def shortlist(self) -> "PublishedResults":
        """Each team's best run, and the organizers' runs."""
        return PublishedResults(PublishedResult, tuple(result for result in self if result.is_shortlisted))


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
        >>> best.rank, best.row.measure, best.row.value
        (1, 'nDCG@5', 0.72)
    """
    chosen = tasks.all_tasks().values() if task is None else [tasks.task(task)]
    results = tuple(
        result
        for card in chosen
        for rows in group_by(card.published, lambda row: row.kind).values()
        for result in ranked(rows)
    )
    return PublishedResults(PublishedResult, results)


def ranked(rows: Sequence[Published]) -> list[PublishedResult]:
    """Returns the rows of a table with their ranks, groups and reruns.

    Args:
        rows: results of one ``kind``, best first.
    """
    scores = published_scores() if rows else ()  # reads every expected.toml
    best = shortlist(rows)
    return [
        PublishedResult(
            row=row,
            rank=rank(row, rows),
            level=level,
            is_shortlisted=row in best,
            expected=find_rerun(row, scores),
        )
        for row, level in zip(rows, levels(rows), strict=True)
    ]
