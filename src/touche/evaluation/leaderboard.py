"""Rank of a score among published scores; only comparable scores are compared."""

from collections.abc import Sequence

from touche.tasks import Published, Task
from touche.tasks.records import DECIMALS, rounded


def comparable(task: Task, dimension: str, evaluator: str, results: int | None = None) -> list[Published]:
    """Returns published results comparable to a score: same measure, topics, judgments, N and evaluator.

    Args:
        task: task of the run.
        dimension: a name in ``task.qrels``; corrected judgments have a dimension of their own.
        evaluator: evaluator of the score.
        results: N of detected stances; None for rankings.

    Returns:
        The rows, best first.
    """
    return [
        row
        for row in task.published
        if not task.only_topics
        and row.dimension == dimension
        and row.measure == task.measure_for(dimension).name
        and row.results == results
        and row.topics is None
        and row.evaluator in (None, evaluator)
        and row.qrels in (None, task.qrels[dimension].file)
    ]


def shortlist(published: Sequence[Published]) -> list[Published]:
    """Returns the best run of each team, and all runs of the organizers.

    Args:
        published: results of one dimension, best first.
    """
    best: dict[str, Published] = {}
    for row in published:
        best.setdefault(row.team, row)
    return [row for row in published if row.baseline or row is best[row.team]]


def rank(row: Published, published: Sequence[Published]) -> int:
    """Returns the rank of a row from 1; rows with equal printed values share a rank."""
    return 1 + sum(rounded(other.value) > rounded(row.value) for other in published)


def names(published: Sequence[Published]) -> list[str]:
    """Returns the names of rows: team and run; several runs of the organizers also with their tags."""
    several = sum(row.baseline for row in published) > 1
    return [f"{row.name} ({row.tag})" if several and row.baseline else row.name for row in published]


def standing(value: float, published: Sequence[Published], decimals: Sequence[int] = DECIMALS) -> str:
    """Describes a score's rank among the teams' best runs, and names the baseline's score.

    Args:
        value: mean of the measure; rounded as the tables are before it is compared.
        published: results to compare with, at least one, best first.
        decimals: the decimals of the tables, as in ``Task``.
    """
    printed, best = rounded(value, decimals), shortlist(published)
    called = dict(zip(published, names(published), strict=True))

    def label(row: Published, before: str = " ") -> str:
        name = f"the baseline {called[row]}" if row.baseline else called[row]
        return f"{name}{before}{row.value:.{decimals[-1]}f}"

    higher = [row for row in published if rounded(row.value) > printed]
    level = [row for row in published if rounded(row.value) == printed]
    lower = [row for row in published if rounded(row.value) < printed]
    above = [row for row in best if row in higher][-1:]
    below = ([row for row in best if row in lower] or lower)[:1]
    end = ", the {} published" if len(published) > 1 else ""
    if level:
        place, named = f"level with {' and '.join(dict.fromkeys(map(label, level)))}", level
    elif above and below:
        place, named = f"between {label(above[0])} and {label(below[0])}", above + below
    elif higher:
        place, named = f"below {label(higher[-1])}{end.format('lowest')}", higher[-1:]
    else:
        place, named = f"above {label(lower[0])}{end.format('highest')}", lower[:1]
    parts = [place, *(label(row, ": ") for row in best if row.baseline and row not in named)]
    if len(best) < len(published) and 0 < len(higher) < len(published):
        parts.insert(1, f"{len(higher)} of {len(published)} published runs are above it")
    if any(row.evaluator is None and row.results is None for row in published):
        parts.append("the evaluator of the published scores is not stated")
    return "; ".join(parts)
