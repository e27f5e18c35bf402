"""touche join statistics | runs"""

from collections.abc import Sequence
from pathlib import Path

import click

from touche.cli.commands import PATH, Group, argument, option
from touche.cli.options import DEPTH, each_once, output
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


_STATISTICS = [argument("files", "FILE...", type=PATH), output("File for their sum.", "FILE")]
_RUNS: list[click.Parameter] = [
    argument("files", "RUN...", type=PATH),
    option("-i --input given INPUT", "Input directory with the topics.", type=PATH, required=True),
    option("--statistics FILE", "Those that the runs were given.", required=True),
    output(),
    DEPTH,
]


@join.command(example="touche join statistics parts/*.json -o all.json", params=_STATISTICS)
def statistics(files: Sequence[Path], output: Path) -> None:
    """Add up the statistics of parts that have no document in common."""
    sums = joined([(path, read_statistics(path)) for path in each_once(files)])
    write_statistics(output, sums, parts=sum(map(parts_of, files)))
    documents = max(each.documents for each in sums.values())
    tell(f"join: {output} of {len(files)} files, {documents:,} documents with a text")


@join.command(example="touche join runs parts/*/run.txt -i INPUT --statistics all.json -o out", params=_RUNS)
def runs(files: Sequence[Path], given: Path, statistics: Path, output: Path, depth: int) -> None:
    """Join runs of one baseline on parts, by the statistics of the whole, to the run on the whole."""
    topics = find(given, needs_documents=False).topics
    check_ranked_by(statistics, each_once(files))
    tag, rankings = joined_runs(files, topics, depth)
    write_run(output, topics, rankings, tag)
    tell(f"join: {output / RUN_FILE} of {len(files)} runs")
