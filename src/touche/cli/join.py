"""touche join statistics | runs"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from touche.cli.commands import Group
from touche.cli.options import DEPTH, PATH, each_once, output
from touche.cli.output import tell
from touche.collection.discovery import find
from touche.errors import InputError, ToucheError
from touche.formats.runs import RunLine, in_order_of_score, read_run
from touche.formats.statistics import joined, parts_of, read_statistics, write_statistics
from touche.io.opening import md5
from touche.tira.outputs import METADATA_FILE, RUN_FILE, Hit, write_run
from touche.tira.provenance import statistics_of


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
    _check_ranked_by(statistics, each_once(files))
    best: dict[str, list[RunLine]] = {topic.number: [] for topic in topics}
    tags: dict[str, Path] = {}
    for path in files:
        for line in _lines_of(path):
            if line.topic not in best:
                problem = f"topic {line.topic} is none of {given}"
                raise InputError(path, problem, "give the topics of the runs")
            best[line.topic].append(line)
            tags.setdefault(line.tag, path)
        best = {number: in_order_of_score(lines)[:depth] for number, lines in best.items()}
    hits = [(topic, [_hit(line) for line in best[topic.number]]) for topic in topics]
    write_run(output, topics, hits, _one_of(tags))
    tell(f"join: {output / RUN_FILE} of {len(files)} runs")


def _check_ranked_by(statistics: Path, files: Sequence[Path]) -> None:
    """Raises InputError for a run whose scores do not compare with those of the others."""
    if (parts := parts_of(statistics)) > len(files):
        problem = f"the sum of {parts} parts, and {len(files)} of their runs are given"
        raise InputError(statistics, problem, "give those of all parts")
    given = md5(statistics)
    for path in files:
        if not path.is_file():
            raise InputError(path, "no such file", "give the run.txt of each part")
        if statistics_of(path.with_name(METADATA_FILE)) != given:
            remedy = "run the baseline with --statistics, and leave ir-metadata.yml beside run.txt"
            raise InputError(path, f"not ranked by {statistics}", remedy)


def _lines_of(path: Path) -> list[RunLine]:
    """The lines of a run; on a part whose documents have none of the terms it is empty."""
    empty = path.is_file() and not path.stat().st_size
    return [] if empty else read_run(path)


def _hit(line: RunLine) -> Hit:
    return line.document, line.score, line.stance


def _one_of(tags: Mapping[str, Path]) -> str:
    """The tag that all runs have, each noted with the first that has it.

    Raises:
        ToucheError: if all are empty.
        InputError: naming one that has another tag.
    """
    if not tags:
        raise ToucheError("all runs are empty; check what wrote them")
    (tag, _), *others = tags.items()
    for other, path in others:
        raise InputError(path, f"a run of {other}, not of {tag}", "join runs of one baseline and its options")
    return tag
