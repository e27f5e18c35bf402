"""touche overlap"""

from collections.abc import Sequence
from math import comb
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import PATH, command, option
from touche.cli.options import RUNS, task
from touche.cli.output import print_records, show_records, warn
from touche.evaluation import agreement
from touche.evaluation.agreement import EVALUATOR, FAR, NEAR, Overlap, ScoredOverlap
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import Evaluated, evaluate
from touche.progress import watched


@command(
    "touche overlap out/bm25/run.txt out/dph/run.txt",
    RUNS,
    task("Compare the scores of the topics, too, in every dimension of this task."),
    option("--baseline ORIGINAL RERUN", "Two more runs, for ER and Delta RI.", type=(PATH, PATH)),
    option("--format style", choices=("table", "json", "csv")),
)
def overlap(
    runs: Sequence[Path], task_id: str | None, baseline: tuple[Path, Path] | None, style: str
) -> None:
    """Compare every two of the RUNs, such as an original and its rerun, the original first.

    Without judgments: the share of results that both have among the first 5 and the first 100, Kendall's rank
    correlation of only the documents that both rank and over the union of both rankings, and rank-biased
    overlap, which counts early ranks most; each as a mean over the topics that one of them has. With --task
    also the root mean square error of the topics' scores, and p of the paired t-test.

    --baseline names what the first RUN improves on, and the rerun of that. ER is how much of the improvement
    shows again in the second RUN (1: all of it). Delta RI is how much less it is in relation to the
    baseline's score (0: no less).
    """
    if baseline and (task_id is None or len(runs) != 2):
        raise click.UsageError("--baseline is about the scores of two runs; give two RUNs and --task")
    evaluated: list[Evaluated] = []
    pairs = watched(agreement.overlaps(runs), "comparing", "pairs of runs", comb(len(runs), 2))
    if task_id is not None:
        paths = [*dict.fromkeys([*runs, *(baseline or ())])]
        task = tasks.task(task_id)
        evaluated = evaluate(paths, tasks.task_scored_by(task_id, task.measure.name), [EVALUATOR])
        pairs = agreement.scored_overlaps(runs, evaluated, baseline or ())
    agreements = list(pairs)
    if style == "table":
        show_overlaps(agreements)
    else:
        print_records(Overlap if task_id is None else ScoredOverlap, agreements, style)
    warn(*warnings_of(evaluated))


def show_overlaps(agreements: Sequence[Overlap]) -> None:
    """Prints a table of what is compared without judgments, and one of scores where there are any."""
    pairs = {(each.run_a, each.run_b): vars(each) for each in agreements}  # the same in all dimensions
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
