"""touche overlap"""

from collections.abc import Sequence
from pathlib import Path

from touche.cli.commands import PATH, command, option
from touche.cli.options import FORMAT, RUNS, task
from touche.cli.output import explain, render
from touche.cli.sheets import overlap_sheets
from touche.evaluation import agreement as library


@command(
    "touche overlap out/bm25/run.txt out/dph/run.txt",
    RUNS,
    task("Also compare topic scores, in every dimension of this task."),
    option(
        "--baseline ORIGINAL RERUN",
        "Add the columns ER and Delta RI, using two runs of a baseline.",
        type=(PATH, PATH),
    ),
    FORMAT,
)
def overlap(runs: Sequence[Path], task: str | None, baseline: tuple[Path, Path] | None, format: str) -> None:
    """Compare the rankings of each pair of RUNs. Pass the original before its rerun.

    Three measures need no judgments: the share of common results among the first 5 and 100, Kendall's rank
    correlation, and rank-biased overlap, which weights early ranks most. Kendall's correlation is computed
    twice: over the documents that both runs rank, and over the union of both rankings. Each value is the
    mean over the topics in at least one of the two runs. With --task, the table adds the root mean square
    error of the topic scores, and a sentence says whether the two runs are the same system. The scores are
    trec_eval's, which also scores the topics that a run lacks.

    --baseline takes two more runs: the baseline that the first RUN improves on, and a rerun of this baseline.
    ER (effect ratio) is the share of the improvement that the second RUN reproduces; 1 means all of it.
    Delta RI is how much of the relative improvement is lost; 0 means that nothing is lost.
    """
    table = library.overlap(runs, task, baseline=baseline)  # type: ignore[arg-type]  # it fits one overload
    render(table, format, overlap_sheets(table))
    explain(table, format)
