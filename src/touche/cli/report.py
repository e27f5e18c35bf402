"""touche report"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import Command
from touche.cli.output import command_line, counted
from touche.cli.runs import MEASURE, QRELS, RUNS, TASK, scored
from touche.errors import one_line
from touche.evaluation.scores import evaluate


@click.command(
    cls=Command,
    example="touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o out/report",
)
@RUNS
@TASK
@MEASURE
@QRELS
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the page goes.",
)
def report(runs: Sequence[Path], task_id: str, measure: str | None, qrels: Path | None, output: Path) -> None:
    """Write a page on RUNs: their places among the published results, run against run, topic by topic.

    DIR/index.html has everything in it and needs no network; the plots lie beside it as SVG and PNG. The
    first RUN is the one that the plots hold the others against.
    """
    from touche.report import Page, part_of, write  # here, for it takes a second to import

    part = part_of(evaluate(runs, scored(task_id, measure, qrels)), task_id)
    page = Page(f"{counted(len(part.runs), 'run')} of {part.dataset}", command_line(), [part])
    click.echo(one_line(str(write(page, output))))
