"""Values of systems over the whole corpora that TIREx reports; nobody submitted these runs to Touché."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from touche.tasks.per_topic import read_table

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
