"""touche overlap"""

from collections.abc import Sequence
from math import comb
from pathlib import Path

import click

from touche.cli.commands import Command
from touche.cli.output import RUNS, print_records, show, style
from touche.evaluation.agreement import FAR, NEAR, Overlap, overlaps
from touche.progress import watched


@click.command(cls=Command, example="touche overlap build/demo/arguments/*/run.txt")
@RUNS
@style("table", "json", "csv")
def overlap(runs: Sequence[Path], style: str) -> None:
    """Compare every two of the RUNs without judgments, such as a replica with its original.

    Shown are the share of results that both have among the first 5 and the first 100, and Kendall's rank
    correlation of only the documents that both rank, each as a mean over the topics that one of them has.
    """
    found = list(watched(overlaps(runs), "comparing", "pairs of runs", comb(len(runs), 2)))
    if style != "table":
        print_records(Overlap, found, style)
        return
    header = ("A", "B", "topics", f"overlap@{NEAR}", f"overlap@{FAR}", "Kendall's tau")
    show(header, [_row(each) for each in found])


def _row(each: Overlap) -> tuple[str, ...]:
    figures = (each.overlap_5, each.overlap_100, each.tau)
    shown = ("–" if figure is None else f"{figure:.3f}" for figure in figures)
    return (each.run_a, each.run_b, str(each.topics), *shown)
