"""Where a score stands among the published ones, comparing only like with like."""

from collections.abc import Sequence

from touche.tasks import Published, Task

DIGITS = 3  # to which the tables are printed


def comparable(task: Task, dimension: str, evaluator: str) -> list[Published]:
    """The published results that a score may be compared with: same judgments and, as known, evaluator.

    Args:
        task: the task of the run.
        dimension: a name in ``task.qrels``; corrected and uncorrected judgments have one each.
        evaluator: the one of the score.

    Returns:
        The rows, the best first.
    """
    return [
        row
        for row in task.published
        if row.dimension == dimension
        and row.evaluator in (None, evaluator)
        and row.qrels in (None, task.qrels[dimension].file)
    ]


def standing(value: float, published: Sequence[Published]) -> str:
    """Says between which published results a score stands, and what the baseline scored.

    Args:
        value: the mean of the measure; compared to the three digits that the tables are printed to.
        published: the results to compare with, at least one.
    """
    rounded = round(value, DIGITS)
    level = [row for row in published if row.value == rounded]
    above = [row for row in published if row.value > rounded][-1:]
    below = [row for row in published if row.value < rounded][:1]
    if level:
        place, named = f"level with {' and '.join(map(_label, level))}", level
    elif above and below:
        place, named = f"between {_label(*above)} and {_label(*below)}", above + below
    elif above:
        place, named = f"below {_label(*above)}{_end('lowest', published)}", above
    else:
        place, named = f"above {_label(*below)}{_end('highest', published)}", below
    rest = [row for row in published if row.baseline and row not in named]
    remarks = [f"the baseline {row.name}: {row.value:.{DIGITS}f}" for row in rest]
    if any(row.evaluator is None for row in published):
        remarks.append("with which evaluator the published ones were computed is not stated")
    return "; ".join([place, *remarks])


def _end(which: str, published: Sequence[Published]) -> str:
    if len(published) == 1:
        return ""
    selection = published[0].selection
    return f", the {which} in a table of {selection}" if selection else f", the {which} published"


def _label(row: Published) -> str:
    return f"{'the baseline ' if row.baseline else ''}{row.name} {row.value:.{DIGITS}f}"
