"""Joining of runs on parts of a collection."""

from collections.abc import Sequence
from pathlib import Path

from touche.errors import InputError, ToucheError
from touche.io.opening import md5
from touche.scan.statistics_files import parts_of
from touche.tira.outputs import METADATA_FILE, Hit
from touche.tira.provenance import statistics_of
from touche.trec.runs import RunLine, in_order_of_score, read_run
from touche.trec.topics import Topic

Ranking = tuple[Topic, list[Hit]]


def joined(paths: Sequence[Path], topics: Sequence[Topic], depth: int) -> tuple[str, list[Ranking]]:
    """Joins runs of one baseline on parts of a collection; returns their tag and rankings.

    Args:
        paths: run files; a run is empty if its part has no term of the topics.
        topics: topics of the runs.
        depth: maximum number of documents per topic.

    Raises:
        InputError: if a run has an unknown topic, or another tag than the first run.
        ToucheError: if all runs are empty.
    """
    best: dict[str, list[RunLine]] = {topic.number: [] for topic in topics}
    tag = ""
    for path in filter(lambda path: path.stat().st_size, paths):
        lines = read_run(path)
        tag = tag or lines[0].tag
        for line in lines:
            if line.topic not in best:
                raise InputError(
                    path, f"topic {line.topic} is not in the input", "pass the topics of the runs"
                )
            if line.tag != tag:
                remedy = "join runs of one baseline with the same options"
                raise InputError(path, f"the tag is {line.tag}, but {tag} in other runs", remedy)
            best[line.topic].append(line)
        best = {number: [*in_order_of_score(lines)[:depth]] for number, lines in best.items()}
    if not tag:
        raise ToucheError("all runs are empty; check how they were written")
    hits: list[list[Hit]] = [
        [(line.document, line.score, line.stance) for line in best[topic.number]] for topic in topics
    ]
    return tag, list(zip(topics, hits, strict=True))


def check_ranked_by(statistics: Path, paths: Sequence[Path]) -> None:
    """Checks that runs are ranked by the same statistics, so that their scores are comparable.

    Raises:
        InputError: if a run is missing, or is ranked by other statistics.
    """
    if (parts := parts_of(statistics)) > len(paths):
        problem = f"the sum of {parts} parts, but {len(paths)} runs are passed"
        raise InputError(statistics, problem, "pass the runs of all parts")
    digest = md5(statistics)
    for path in paths:
        if not path.is_file():
            raise InputError(path, "no such file", "pass the run.txt of each part")
        if statistics_of(path.with_name(METADATA_FILE)) != digest:
            remedy = "run the baseline with --statistics, and keep ir-metadata.yml next to run.txt"
            raise InputError(path, f"its ir-metadata.yml does not name {statistics}", remedy)
