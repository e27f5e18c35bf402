"""touche join statistics | runs"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import Group
from touche.cli.options import DEPTH, PATH, each_once, output
from touche.cli.output import tell
from touche.collection.discovery import find
from touche.formats.statistics import joined, parts_of, read_statistics, write_statistics
from touche.fusion import check_ranked_by
from touche.fusion import joined as joined_runs
from touche.tira.outputs import RUN_FILE, write_run


@click.group(cls=Group, example="touche join statistics parts/*.json -o all.json")
def join() -> None:
    """Join what was found in the parts of a collection.

    A collection that is too large for one machine, and without Spark, is ranked in two passes over its parts,
    each in an input directory of its own: run --keep-statistics on each, and join the statistics; then run
    --statistics on each, and join the runs.
    """


@join.command(example="touche join statistics parts/*.json -o all.json")
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@output("File for their sum.", "FILE")
def statistics(files: Sequence[Path], output: Path) -> None:
    """Add up the statistics of parts that have no document in common."""
    sums = joined([(path, read_statistics(path)) for path in each_once(files)])
    write_statistics(output, sums, parts=sum(map(parts_of, files)))
    documents = max(each.documents for each in sums.values())
    tell(f"join: {output} of {len(files)} files, {documents:,} documents with a text")


@join.command(example="touche join runs parts/*/run.txt -i INPUT --statistics all.json -o out")
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="RUN...")
@click.option(
    "-i",
    "--input",
    "given",
    required=True,
    type=PATH,
    metavar="INPUT",
    help="Input directory with the topics.",
)
@click.option(
    "--statistics", required=True, type=PATH, metavar="FILE", help="Those that the runs were given."
)
@output()
@DEPTH
def runs(files: Sequence[Path], given: Path, statistics: Path, output: Path, depth: int) -> None:
    """Join runs of one baseline on parts, by the statistics of the whole, to the run on the whole."""
    topics = find(given, needs_documents=False).topics
    check_ranked_by(statistics, each_once(files))
    tag, rankings = joined_runs(files, topics, depth)
    write_run(output, topics, rankings, tag)
    tell(f"join: {output / RUN_FILE} of {len(files)} runs")
