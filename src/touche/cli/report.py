"""touche report"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import PATH, argument, command, option
from touche.cli.options import SCORING, output
from touche.cli.output import command_line, counted
from touche.errors import one_line
from touche.evaluation.scores import evaluate
from touche.tasks import task_scored_by


@command(
    "touche report out/bm25/run.txt out/dph/run.txt --task spot-check/arguments -o out/report",
    argument("runs", "[RUN...]", type=PATH),
    *SCORING,
    option("--reference RUN", "Compare the other RUNs with this one, a file or a tag."),
    option("--all-published", "The published results of all tasks, with runs at hand."),
    output("Where the page goes."),
)
def report(
    runs: Sequence[Path], reference: str | None, all_published: bool, output: Path, **scoring: Any
) -> None:
    """Write a page on RUNs: their places among the published results, run against run, topic by topic.

    DIR/index.html has everything in it and needs no network; beside it lie plots as SVG and PNG, and the
    texts of the first results for TIRA's viewers. With --all-published it leads to a page for each task that
    has published results, with the runs that lie in runs/TASK of the data: a site that any server can offer.

    By default the reference is the organizers' baseline, theirs or rerun by touche. If that is not among the
    RUNs, it is the one with the highest mean.
    """
    from touche.report import Report, part_of, published_parts, write  # here, for it takes a second to import

    if all_published:
        if runs or reference or any(scoring.values()):
            raise click.UsageError("--all-published takes no RUNs and none of their options; leave them out")
        page = Report("Published results of Touché", command_line(), list(published_parts()), gallery=True)
    else:
        task = task_scored_by(**scoring)
        part = part_of(evaluate(runs, task), scoring["task_id"] or task.id, reference)
        page = Report(f"{counted(len(part.runs), 'run')} of {part.dataset}", command_line(), [part])
    click.echo(one_line(str(write(page, output))))
