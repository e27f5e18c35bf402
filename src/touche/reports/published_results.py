"""Published results with their ranks, groups and reruns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from touche import tasks
from touche.baselines.reruns import find_rerun, published_scores, rerun_command
from touche.evaluation.leaderboard import levels, rank, shortlist
from touche.io.grouping import group_by
from touche.tasks import STANCE, Published
from touche.trec.framed import Table


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
    results = []
    for row, level in zip(rows, levels(rows), strict=True):
        score = find_rerun(row, scores)
        result = PublishedResult(
            **vars(row),
            rank=rank(row, rows),
            is_shortlisted=row in best,
            rerun=rerun_command(score) if score else "",
            tolerance=score.tolerance if score else None,
            rank_low=level.low,
            rank_high=level.high,
            group=level.group,
            rank_note=level.reason,
        )
        results.append(result)
    return results
