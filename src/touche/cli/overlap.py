"""touche overlap"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche import api as library
from touche.cli.commands import PATH, command, option
from touche.cli.options import RUNS, task
from touche.cli.output import print_records, quietly, show_records, warn
from touche.evaluation.agreement import EVALUATOR, FAR, NEAR, Overlap, ScoredOverlap


@command(
    "touche overlap out/bm25/run.txt out/dph/run.txt",
    RUNS,
    task("Also compare topic scores, in every dimension of this task."),
    option("--baseline ORIGINAL RERUN", "Two more runs, for the columns ER and Delta RI.", type=(PATH, PATH)),
    option("--format style", choices=("table", "json", "csv")),
)
def overlap(
    runs: Sequence[Path], task_id: str | None, baseline: tuple[Path, Path] | None, style: str
) -> None:
    """Compare each pair of RUNs; pass an original before its rerun.

    The table has three measures without judgments: the share of common results among the first 5 and 100,
    Kendall's rank correlation, and rank-biased overlap. Rank-biased overlap weights early ranks most.
    Kendall's correlation is computed over the documents that both runs rank, and over the union of both
    rankings. Each value is a mean over the topics of either run. --task adds the root mean square error of
    topic scores, and p of the paired t-test.

    --baseline adds two runs: the original baseline, which the first RUN improves on, and its rerun. ER
    (effect ratio) is the share of the improvement that the second RUN reproduces (1: all of it). Delta RI is
    how much of the relative improvement over the baseline is lost (0: nothing).
    """
    if baseline and (task_id is None or len(runs) != 2):
        raise click.UsageError("--baseline compares the scores of two runs; pass two RUNs and --task")
    table = quietly(library.overlap, runs, task_id, baseline=baseline)
    if style == "table":
        show_overlaps(table)
    else:
        print_records(table.kind, table, style)
    warn(*table.warnings)


def show_overlaps(agreements: Sequence[Overlap]) -> None:
    """Prints a table of measures without judgments, and a table of scores if there are any."""
    pairs = {(each.run_a, each.run_b): vars(each) for each in agreements}  # equal in all dimensions
    show_records(
        f"A|B|topics|overlap@{NEAR}|overlap@{FAR}|Kendall's tau|tau of union|RBO",
        "{run_a}|{run_b}|{topics}|{overlap_5:.3f}|{overlap_100:.3f}|{tau:.3f}|{tau_union:.3f}|{rbo:.3f}",
        pairs.values(),
    )
    if scored := [each for each in agreements if isinstance(each, ScoredOverlap)]:
        effect = any(each.effect_ratio is not None or each.delta_ri is not None for each in scored)
        click.echo()
        show_records(
            f"A|B|dimension|mean A|mean B|RMSE|p t{'|ER|Delta RI' if effect else ''}",
            "{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{rmse:.3f}|{p_t_test:p}"
            f"{'|{effect_ratio:.3f}|{delta_ri:.3f}' if effect else ''}",
            map(vars, scored),
        )
        click.echo(f"\n{scored[0].measure} of {EVALUATOR}")
