"""touche report"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touche.api import reports as library
from touche.cli.commands import command, option
from touche.cli.guessing import task_of
from touche.cli.options import ANY_RUNS, SCORING, output
from touche.cli.output import command_line, quietly
from touche.errors import one_line


@command(
    "touche report out/bm25/run.txt out/dph/run.txt --task spot-check/arguments -o out/report",
    ANY_RUNS,
    *SCORING,
    option("--reference RUN", "Compare the other RUNs with this file or tag."),
    option("--all-published", "Show the published results of all tasks, and the official runs in runs/TASK."),
    output("Folder for the page."),
)
def report(
    runs: Sequence[Path], reference: str | None, all_published: bool, output: Path, **scoring: Any
) -> None:
    """Write a page on RUNs: ranks among published results, run comparisons, and topic scores.

    DIR/index.html is self-contained and needs no network. DIR also contains plots as SVG and PNG, and the
    texts of the first results for TIRA's viewers. With --all-published, DIR/index.html links to a page for
    each task with published results, including the runs in the data's folder runs/TASK. Any web server can
    serve these pages.

    The default reference is the organizers' baseline, as submitted or rerun by touche. Without such a
    baseline among the RUNs, the reference is the RUN with the highest mean.
    """
    if all_published and (runs or reference or any(scoring.values())):
        raise click.UsageError("--all-published takes no RUNs and no scoring options; omit them")
    if runs:
        scoring["task_id"] = task_of(runs, scoring["task_id"], scoring["qrels"])
    scoring |= {"reference": reference, "all_published": all_published, "command": command_line()}
    click.echo(one_line(str(quietly(library.report, runs, output, **scoring))))
