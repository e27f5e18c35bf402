"""touche report"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import Command
from touche.cli.options import PATH, output, scored, scoring
from touche.cli.output import command_line, counted
from touche.errors import one_line
from touche.evaluation.scores import evaluate


@click.command(
    cls=Command,
    example="touche report out/bm25/run.txt out/dph/run.txt --task spot-check/arguments -o out/report",
)
@click.argument("runs", nargs=-1, type=PATH, metavar="[RUN...]")
@scoring
@click.option(
    "--reference",
    metavar="RUN",
    help="The run, by its file or tag, that the others are held against: the organizers' baseline, theirs or "
    "rerun by touche, and where that is not among the RUNs, the one with the highest mean.",
)
@click.option("--all-published", is_flag=True, help="The published results of all tasks, with runs at hand.")
@output("Where the page goes.")
def report(
    runs: Sequence[Path], reference: str | None, all_published: bool, output: Path, **scoring: Any
) -> None:
    """Write a page on RUNs: their places among the published results, run against run, topic by topic.

    DIR/index.html has everything in it and needs no network; beside it lie plots as SVG and PNG, and the
    texts of the first results for TIRA's viewers. With --all-published it leads to a page for each task that
    has published results, with the runs that lie in runs/TASK of the data: a site that any server can offer.
    """
    from touche.report import Report, part_of, published_parts, write  # here, for it takes a second to import

    if all_published:
        if runs or reference or any(scoring.values()):
            raise click.UsageError("--all-published takes no RUNs and none of their options; leave them out")
        page = Report("Published results of Touché", command_line(), list(published_parts()), gallery=True)
    else:
        task = scored(**scoring)
        part = part_of(evaluate(runs, task), scoring["task_id"] or task.id, reference)
        page = Report(f"{counted(len(part.runs), 'run')} of {part.dataset}", command_line(), [part])
    click.echo(one_line(str(write(page, output))))
