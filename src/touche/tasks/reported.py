"""Values that TIREx reports for systems that nobody submitted to Touché. They were run on the tasks' whole
corpora.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from touche.tasks import task as task_with_id
from touche.tasks.per_topic import read_table
from touche.trec.framed import Table

_FOLDER = Path(__file__).parent / "reported"


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A system's values for a task's relevance judgments, computed with trec_eval.

    Attributes:
        task: the task's id.
        dimension: the judged dimension.
        system: the system's name.
        ndcg_10, precision_10: nDCG@10 and P@10. Unjudged documents count as not relevant.
        unjudged_10: the unjudged share of the first ten documents.
        source: where the values come from.
    """

    task: str
    dimension: str
    system: str
    ndcg_10: float
    precision_10: float
    unjudged_10: float
    source: str


def reported(task: str) -> Table[Reported]:
    """Returns the values that TIREx reports for a task's whole corpus, best nDCG@10 first.

    They aren't published Touché results: nobody submitted these runs. Most of them have many unjudged
    documents in their top ten.

    Args:
        task: the task's id.

    Returns:
        ``touche.tasks.reported.Reported`` records; none for tasks other than those of 2020 and 2021.

    Raises:
        ToucheError: if there is no such task.

    Examples:
        >>> import touche
        >>> best = touche.reported("touche-2020-task-2")[0]
        >>> best.system, best.ndcg_10, best.unjudged_10
        ('ChatNoir', 0.5281, 0.214)
    """
    return Table(Reported, reported_results(task_with_id(task).id))


@cache
def reported_results(task_id: str) -> tuple[Reported, ...]:
    """Returns the values that TIREx reports for a task, best nDCG@10 first; empty if it reports none."""
    path = _FOLDER / f"{task_id}.tsv"
    if not path.exists():
        return ()
    origin, table = read_table(path)
    source = origin.rpartition("(")[2].rstrip(")")  # ``origin`` ends with the address, in brackets
    rows = [
        Reported(
            task=task_id,
            dimension="relevance",
            system=row["approach"],
            ndcg_10=float(row["nDCG@10"]),
            precision_10=float(row["P@10"]),
            unjudged_10=float(row["unjudged@10"]),
            source=source,
        )
        for row in table
    ]
    return tuple(sorted(rows, key=lambda row: -row.ndcg_10))
