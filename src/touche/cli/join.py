"""touche join statistics | runs"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.baselines import joining
from touche.cli.commands import INPUT, PATH, Group, argument, option
from touche.cli.options import DEPTH, output
from touche.cli.output import command_line, tell


@click.group(cls=Group, example="touche join statistics parts/*.json -o all.json")
def join() -> None:
    """Join statistics or runs of the parts of a collection.

    Without Spark, a collection that is too large for one machine is ranked in two passes over its parts. Each
    part is an input directory. First run --keep-statistics on each part and join the statistics. Then run
    --statistics on each part and join the runs.
    """


_STATISTICS = [argument("files", "FILE...", type=PATH), output("File for the sum.", "FILE")]
_RUNS: list[click.Parameter] = [
    argument("files", "RUN...", type=PATH),
    option("-i --input dataset INPUT", "Input directory or dataset id.", type=INPUT, required=True),
    option("--statistics FILE", "Statistics that the runs used.", required=True),
    output(),
    DEPTH,
]


@join.command(example="touche join statistics parts/*.json -o all.json", params=_STATISTICS)
def statistics(files: Sequence[Path], output: Path) -> None:
    """Add up the statistics of parts that share no document."""
    sums = joining.join_statistics(files, output)
    tell(f"join: {sums.path} of {sums.parts} files, {sums.documents:,} documents with a text")


@join.command(example="touche join runs parts/*/run.txt -i INPUT --statistics all.json -o out", params=_RUNS)
def runs(files: Sequence[Path], dataset: str, statistics: Path, output: Path, depth: int) -> None:
    """Join a baseline's runs on parts, ranked by joined statistics, into a run on the whole collection."""
    path = joining.join_runs(files, dataset, statistics, output, depth=depth, command=command_line())
    tell(f"join: {path} of {len(files)} runs")
