"""touche join statistics | runs"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from touche.baselines.joining import check_ranked_by
from touche.baselines.joining import joined as joined_runs
from touche.cli.commands import PATH, Group, argument, option
from touche.cli.options import DEPTH, output
from touche.cli.output import command_line, tell
from touche.documents.discovery import find
from touche.io.opening import check_distinct
from touche.scan.statistics_files import joined, parts_of, read_statistics, write_statistics
from touche.tira.outputs import write_run
from touche.tira.provenance import Software, data_of_runs, metadata
from touche.trec.runs import RUN_FILE


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
    option("-i --input given INPUT", "Input directory with the topics.", type=PATH, required=True),
    option("--statistics FILE", "Statistics that the runs used.", required=True),
    output(),
    DEPTH,
]


@join.command(example="touche join statistics parts/*.json -o all.json", params=_STATISTICS)
def statistics(files: Sequence[Path], output: Path) -> None:
    """Add up the statistics of parts that share no document."""
    check_distinct(files)
    sums = joined([(path, read_statistics(path)) for path in files])
    write_statistics(output, sums, parts=sum(map(parts_of, files)))
    documents = max(each.documents for each in sums.values())
    tell(f"join: {output} of {len(files)} files, {documents:,} documents with a text")


@join.command(example="touche join runs parts/*/run.txt -i INPUT --statistics all.json -o out", params=_RUNS)
def runs(files: Sequence[Path], given: Path, statistics: Path, output: Path, depth: int) -> None:
    """Join a baseline's runs on parts, ranked by joined statistics, into a run on the whole collection."""
    started = datetime.now(UTC)
    topics = find(given, needs_documents=False).topics
    check_distinct(files)
    check_ranked_by(statistics, files)
    tag, rankings = joined_runs(files, topics, depth)
    data = data_of_runs(files, statistics)
    software = Software("touche join runs", "", command_line(), runs.help or "")
    text = metadata(software, tag, {"depth": depth}, data, started, datetime.now(UTC))
    write_run(output, topics, rankings, tag, lambda: text)
    tell(f"join: {output / RUN_FILE} of {len(files)} runs")
