"""Where a score stands among the published ones, comparing only like with like."""

from collections.abc import Sequence

from touche.tasks import Published, Task

DIGITS = 3  # to which the tables are printed


def comparable(task: Task, dimension: str, evaluator: str, results: int | None = None) -> list[Published]:
    """The published results for a score: same measure, judgments, N and, as known, evaluator.

    Args:
        task: the task of the run.
        dimension: a name in ``task.qrels``; corrected and uncorrected judgments have one each.
        evaluator: the one of the score.
        results: N of detected stances; None for rankings.

    Returns:
        The rows, the best first.
    """
    return [
        row
        for row in task.published
        if row.dimension == dimension
        and row.measure == task.measure_for(dimension).name
        and row.results == results
        and row.evaluator in (None, evaluator)
        and row.qrels in (None, task.qrels[dimension].file)
    ]


def shortlist(published: Sequence[Published]) -> list[Published]:
    """The best run of each team, and all of the organizers' own: what a table of many runs is told by.

    Args:
        published: the results of one dimension, the best first.
    """
    best: dict[str, Published] = {}
    for row in published:
        best.setdefault(row.team, row)
    return [row for row in published if row.baseline or row is best[row.team]]


def rank(row: Published, published: Sequence[Published]) -> int:
    """Returns the rank of a row from 1; rows that are level to the printed digits share one."""
    return 1 + sum(round(other.value, DIGITS) > round(row.value, DIGITS) for other in published)


def names(published: Sequence[Published]) -> list[str]:
    """What rows are called: team and run; the organizers' own with their tags, if there are several."""
    several = sum(row.baseline for row in published) > 1
    return [f"{row.name} ({row.tag})" if several and row.baseline else row.name for row in published]


def standing(value: float, published: Sequence[Published]) -> str:
    """Says between which teams' best runs a score stands, or level with whose, and what the baseline scored.

    Args:
        value: the mean of the measure; compared to the three digits that the tables are printed to.
        published: the results to compare with, at least one, the best first.
    """
    rounded, best = round(value, DIGITS), shortlist(published)
    called = dict(zip(published, names(published), strict=True))

    def label(row: Published, before: str = " ") -> str:
        name = f"the baseline {called[row]}" if row.baseline else called[row]
        return f"{name}{before}{row.value:.{DIGITS}f}"

    higher = [row for row in published if round(row.value, DIGITS) > rounded]
    level = [row for row in published if round(row.value, DIGITS) == rounded]
    lower = [row for row in published if round(row.value, DIGITS) < rounded]
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
        parts.append("with which evaluator the published ones were computed is not stated")
    return "; ".join(parts)
