"""Values of systems over the whole corpora that TIREx reports; nobody submitted these runs to Touché."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from touche.tasks import task as task_with_id
from touche.tasks.per_topic import read_table
from touche.trec.framed import Table

_FOLDER = Path(__file__).parent / "reported"


@dataclass(frozen=True, kw_only=True)
class Reported:
    """Values of a system by the judgments of a task's relevance, computed by trec_eval.

    Attributes:
        task: id of the task.
        dimension: the judged dimension.
        system: name of the system.
        ndcg_10, precision_10: nDCG@10 and P@10; unjudged documents count as not relevant.
        unjudged_10: share of unjudged documents among the first ten.
        source: address of the values.
    """

    task: str
    dimension: str
    system: str
    ndcg_10: float
    precision_10: float
    unjudged_10: float
    source: str


def reported(task: str) -> Table[Reported]:
    """Returns values of systems over a task's whole corpus that TIREx reports, best nDCG@10 first.

    They are not published results of Touché, because nobody submitted these runs. Most have many unjudged
    documents among their first ten.

    Args:
        task: the id of the task.

    Returns:
        Records of ``touche.tasks.reported.Reported``; none for tasks other than those of 2020 and 2021.

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
    """Returns the reported values of a task, best nDCG@10 first; none if TIREx reports none."""
    path = _FOLDER / f"{task_id}.tsv"
    if not path.exists():
        return ()
    origin, table = read_table(path)
    source = origin.rpartition("(")[2].rstrip(")")  # it ends with the address, in brackets
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
