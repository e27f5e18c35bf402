"""touche overlap"""

from collections.abc import Sequence
from math import comb
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import TASK_ID, Command
from touche.cli.output import print_records, show, style
from touche.cli.runs import RUNS, p_value, print_warnings
from touche.evaluation.agreement import (
    EVALUATOR,
    FAR,
    NEAR,
    Overlap,
    ScoredOverlap,
    overlaps,
    scored_overlaps,
)
from touche.evaluation.scores import evaluate
from touche.progress import watched


@click.command(cls=Command, example="touche overlap out/bm25/run.txt out/dph/run.txt")
@RUNS
@click.option(
    "--task",
    "task_id",
    type=TASK_ID,
    metavar="TASK",
    help="Compare the scores of the topics, too, in every dimension of this task.",
)
@click.option(
    "--baseline",
    type=(click.Path(path_type=Path), click.Path(path_type=Path)),
    metavar="ORIGINAL RERUN",
    help="Two more runs: what the first RUN improves on, and the rerun of that. ER is how much of the "
    "improvement shows again in the second RUN (1: all of it), Delta RI how much less it is in relation to "
    "the baseline's score (0: no less).",
)
@style("table", "json", "csv")
def overlap(
    runs: Sequence[Path], task_id: str | None, baseline: tuple[Path, Path] | None, style: str
) -> None:
    """Compare every two of the RUNs, such as an original and its rerun, the original first.

    Without judgments: the share of results that both have among the first 5 and the first 100, Kendall's rank
    correlation of only the documents that both rank and over the union of both rankings, and rank-biased
    overlap, which counts early ranks most; each as a mean over the topics that one of them has. With --task
    also the root mean square error of the topics' scores, and p of the paired t-test.
    """
    if baseline and (task_id is None or len(runs) != 2):
        raise click.UsageError("--baseline is about the scores of two runs; give two RUNs and --task")
    if task_id is None:
        found = list(watched(overlaps(runs), "comparing", "pairs of runs", comb(len(runs), 2)))
        _print(Overlap, found, style)
        return
    evaluated = evaluate(list(dict.fromkeys([*runs, *(baseline or ())])), tasks.task(task_id), [EVALUATOR])
    scored = list(scored_overlaps(runs, evaluated, baseline or ()))
    _print(ScoredOverlap, scored, style)
    print_warnings(evaluated)


def _print(kind: type[Overlap], found: Sequence[Overlap], style: str) -> None:
    if style == "table":
        show_overlaps(found)
    else:
        print_records(kind, found, style)


def show_overlaps(found: Sequence[Overlap]) -> None:
    """Prints a table of what is compared without judgments, and one of scores where there are any."""
    header = f"A|B|topics|overlap@{NEAR}|overlap@{FAR}|Kendall's tau|tau of union|RBO"
    rows = [
        (
            each.run_a,
            each.run_b,
            str(each.topics),
            *map(_number, (each.overlap_5, each.overlap_100, each.tau, each.tau_union, each.rbo)),
        )
        for each in found
    ]
    show(header.split("|"), dict.fromkeys(rows))  # one for all dimensions
    if scored := [each for each in found if isinstance(each, ScoredOverlap)]:
        _show_scores(scored)


def _show_scores(scored: Sequence[ScoredOverlap]) -> None:
    effect = any(each.effect_ratio is not None or each.delta_ri is not None for each in scored)
    header = f"A|B|dimension|mean A|mean B|RMSE|p t{'|ER|Delta RI' if effect else ''}"
    rows = [
        (
            each.run_a,
            each.run_b,
            each.dimension,
            *map(_number, (each.mean_a, each.mean_b, each.rmse)),
            p_value(each.p_t_test),
            *(map(_number, (each.effect_ratio, each.delta_ri)) if effect else ()),
        )
        for each in scored
    ]
    click.echo()
    show(header.split("|"), rows)
    click.echo(f"\n{scored[0].measure} of {EVALUATOR}")


def _number(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.3f}"
