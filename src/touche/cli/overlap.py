"""touche overlap"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from touche.cli.commands import PATH, command, option
from touche.cli.options import FORMAT, RUNS, task
from touche.cli.output import Column, Sheet, quietly, render, three_decimals, warn
from touche.evaluation import agreement as library
from touche.evaluation.agreement import FAR, NEAR, Overlap, ScoredOverlap
from touche.evaluation.comparison import UNDEFINED
from touche.evaluation.significance import printed_p


@command(
    "touche overlap out/bm25/run.txt out/dph/run.txt",
    RUNS,
    task("Also compare topic scores, in every dimension of this task."),
    option(
        "--baseline ORIGINAL RERUN",
        "Add the columns ER and Delta RI, by two runs of a baseline.",
        type=(PATH, PATH),
    ),
    FORMAT,
)
def overlap(runs: Sequence[Path], task: str | None, baseline: tuple[Path, Path] | None, style: str) -> None:
    """Compare each pair of RUNs; pass an original before its rerun.

    The table has three measures that need no judgments: the share of common results among the first 5 and
    100, Kendall's rank correlation, and rank-biased overlap. Rank-biased overlap weights early ranks most.
    Kendall's correlation is computed twice: over the documents that both runs rank, and over the union of
    both rankings. Each value is a mean over all topics that at least one of the two runs has. --task adds the
    root mean square error of the topic scores, and the p-value of the paired t-test.

    --baseline needs two more runs: the original baseline, which the first RUN improves on, and the rerun of
    this baseline. ER (effect ratio) is the share of the improvement that the second RUN reproduces; 1 means
    all of it. Delta RI is how much of the relative improvement over the baseline is lost; 0 means nothing.
    """
    table = quietly(library.overlap, runs, task, baseline=baseline)
    render(table, style, overlap_sheets(table))
    warn(*table.warnings)


_PAIR = [Column("A", "run_a"), Column("B", "run_b")]
_RANKINGS = [
    *_PAIR,
    Column("topics", "topics"),
    Column(f"overlap@{NEAR}", "overlap_5", three_decimals),
    Column(f"overlap@{FAR}", "overlap_100", three_decimals),
    Column("Kendall's tau", "tau", three_decimals, missing="no topic has two documents in both runs"),
    Column(
        "tau of union",
        "tau_union",
        three_decimals,
        missing="no topic has a common document and two documents per run",
    ),
    Column("RBO", "rbo", three_decimals),
]
_SCORES = [
    *_PAIR,
    Column("dimension", "dimension"),
    Column("mean A", "mean_a", three_decimals),
    Column("mean B", "mean_b", three_decimals),
    Column("RMSE", "rmse", three_decimals),
    Column("p t", "p_t_test", printed_p, missing=UNDEFINED),
]
_EFFECTS = [
    Column("ER", "effect_ratio", three_decimals, missing="the original scores as its baseline"),
    Column("Delta RI", "delta_ri", three_decimals, missing="a baseline scores 0"),
]


def overlap_sheets(overlaps: Sequence[Overlap]) -> Iterator[Sheet]:
    """Yields a table of measures without judgments, and a table of scores if there are any."""
    # One row for each pair; these measures are equal in the rows of all dimensions.
    pairs = {(row.run_a, row.run_b): row for row in overlaps}
    yield Sheet(_RANKINGS, pairs.values())
    scored = [row for row in overlaps if isinstance(row, ScoredOverlap)]
    if scored:
        has_effects = any(row.effect_ratio is not None or row.delta_ri is not None for row in scored)
        columns = [*_SCORES, *_EFFECTS] if has_effects else _SCORES
        measures = dict.fromkeys(row.measure for row in scored)
        yield Sheet(columns, scored, [f"{', '.join(measures)} of {scored[0].evaluator}"])
