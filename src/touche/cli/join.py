"""touche join statistics | runs"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.baselines import joining
from touche.cli.commands import INPUT, PATH, Group, argument, option
from touche.cli.options import DEPTH, FORMAT, output
from touche.cli.output import Column, Sheet, render, with_commas
from touche.io.inputs import command_line


@click.group(cls=Group, example="touche join statistics parts/*.json -o all.json")
def join() -> None:
    """Join statistics or runs of the parts of a collection.

    Without Spark, a collection that is too large for one machine is ranked in two passes over its parts. Each
    part is an input directory. First use touche run --keep-statistics on each part, and join the statistics.
    Then use touche run --statistics on each part, and join the runs.
    """


@join.command(
    example="touche join statistics parts/*.json -o all.json",
    params=[
        argument("files", "FILE...", type=PATH),
        output("File for the joined statistics.", "FILE"),
        FORMAT,
    ],
)
def statistics(files: Sequence[Path], output: Path, style: str) -> None:
    """Add up the statistics of parts. No document may be in more than one part."""
    sums = joining.join_statistics(files, output)
    render(sums.table, style, [Sheet(_SUMS, [sums])])


@join.command(
    example="touche join runs parts/*/run.txt -i INPUT --statistics all.json -o out",
    params=[
        argument("files", "RUN...", type=PATH),
        option("-i --input dataset INPUT", "Input directory or dataset id.", type=INPUT, required=True),
        option("--statistics FILE", "Joined statistics, with which the runs were ranked.", required=True),
        output(),
        DEPTH,
        FORMAT,
    ],
)
def runs(files: Sequence[Path], dataset: str, statistics: Path, output: Path, depth: int, style: str) -> None:
    """Join a baseline's runs on all parts into one run on the whole collection."""
    run = joining.join_runs(files, dataset, statistics, output, depth=depth, command=command_line("touche"))
    render(run.table, style, [Sheet(_JOINED, [run])])


_SUMS = [
    Column("statistics", "path"),
    Column("parts", "parts"),
    Column("documents with a text", "documents", with_commas),
]
_JOINED = [
    Column("run", "path"),
    Column("tag", "tag"),
    Column("parts", "parts"),
    Column("topics", "topics"),
]
