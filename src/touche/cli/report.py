"""touche report"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from touche.cli.commands import PATH, command, command_line, option
from touche.cli.guessing import task_of
from touche.cli.options import ANY_RUNS, SCORING, output
from touche.cli.output import echo
from touche.cli.teams import TEAMS, teams_passed
from touche.reports import page as library


@command(
    "touche report out/bm25/run.txt out/dph/run.txt --task spot-check/arguments -o out/report",
    ANY_RUNS,
    *SCORING,
    option("--reference RUN", "Compare the other runs with RUN, a file or tag."),
    option("--all-published", "Write a page for each task with published results; omit RUNs."),
    *TEAMS,
    option(
        "--baselines DIR",
        "Mark the RUNs below this folder as baselines, e.g. a folder of touche run all.",
        type=PATH,
        default=None,
    ),
    option("--title TEXT", "Heading of the page.", default="", show_default=False),
    output("Folder for the page."),
)
def report(
    runs: Sequence[Path],
    reference: str | None,
    all_published: bool,
    team_per_folder: bool,
    teams: Mapping[str, Sequence[str]],
    baselines: Path | None,
    title: str,
    output: Path,
    **scoring: Any,
) -> None:
    """Write a page about RUNs: ranks among published results, comparisons and topic scores.

    DIR/index.html is self-contained and needs no network. Plots for papers are next to it, as SVG and PNG.
    With --all-published, DIR/index.html links to a page for each task with published results, which also
    shows the official runs in your data's folder runs/TASK.

    By default, runs are compared with the organizers' published baseline, or its rerun, if it's among the
    RUNs, or else with the best RUN in --baselines. Otherwise they're compared with the RUN that has the
    highest comparable mean.

    The team of a RUN comes from ir-metadata.yml next to it, unless you pass --team-per-folder or --team.
    """
    teams_of_runs = teams_passed(team_per_folder, teams)
    for_runs = (runs, reference, teams_of_runs, baselines, title, *scoring.values())
    if all_published and any(for_runs):
        raise click.UsageError("--all-published takes no RUNs and no options for RUNs; omit them")
    if runs:
        scoring["task"] = task_of(runs, scoring["task"], scoring["qrels"])
    path = library.report(
        runs,
        output=output,
        reference=reference,
        all_published=all_published,
        teams=teams_of_runs,
        baselines=baselines,
        title=title,
        command=command_line(),
        **scoring,
    )
    echo(str(path))
