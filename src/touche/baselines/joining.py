"""Joining of runs on parts of a collection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from touche.data.datasets import opened
from touche.errors import InputError, ToucheError, check_whole
from touche.io.identifiers import as_path, dataset_name
from touche.io.inputs import keeping_inputs
from touche.io.opening import check_distinct, md5
from touche.scan.statistics_files import add_statistics, count_parts, read_statistics, write_statistics
from touche.tira.outputs import METADATA_FILE, Hit, write_run
from touche.tira.provenance import Software, data_of_runs, metadata, statistics_digest
from touche.trec.framed import Record, WrittenFile
from touche.trec.runs import MAX_DEPTH, RUN_FILE, RunLine, in_order_of_score, read_run
from touche.trec.topics import Topic

_DESCRIPTION = (
    "Join a baseline's runs on parts, ranked by joined statistics, into a run on the whole collection."
)


@dataclass(frozen=True)
class JoinedStatistics(Record):
    """Statistics of a collection, joined from those of its parts.

    Attributes:
        path: the written file.
        parts: the number of joined files.
        documents: the number of documents with a text in the field that is least often empty.
    """

    path: Path
    parts: int
    documents: int


@dataclass(frozen=True)
class JoinedRun(WrittenFile):
    """A run on a collection, joined from runs on its parts; it can be passed as its path.

    Attributes:
        path: the path of run.txt; ir-metadata.yml is in the same folder.
        tag: the tag of the runs.
        parts: the number of joined runs.
        topics: the number of topics with a result.
    """

    path: Path
    tag: str
    parts: int
    topics: int


@keeping_inputs
def join_statistics(files: Sequence[str | PathLike[str]], output: str | PathLike[str]) -> JoinedStatistics:
    """Adds up the statistics of parts of a collection that share no document.

    Args:
        files: files that ``touche run --keep-statistics`` wrote, one of each part.
        output: the file for the sum.

    Returns:
        The path of the file, and the numbers of joined files and documents.

    Raises:
        ToucheError: if a file is unusable or passed twice, the files have different topics or analyses, or
            the output cannot be written.

    Examples:
        >>> import tempfile, touche
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "part.json"
        ...     written = touche.write_run(
        ...         "bm25", "spot-check/arguments", folder, keep_statistics=file
        ...     )
        ...     touche.join_statistics([file], Path(folder) / "all.json").parts
        1
    """
    paths = [as_path("file", file) for file in files]
    path = as_path("output", output)
    if not paths:
        raise ToucheError("no statistics to join; pass a file of each part")
    check_distinct(paths)
    sums = add_statistics([(part, read_statistics(part)) for part in paths])
    # Not the number of files, because a joined file is the sum of several parts.
    write_statistics(path, sums, parts=sum(map(count_parts, paths)))
    # A field counts only documents in which it is not empty, so the largest count is nearest to all.
    documents = max(field.documents for field in sums.values())
    return JoinedStatistics(path=path, parts=len(paths), documents=documents)


@keeping_inputs
def join_runs(
    runs: Sequence[str | PathLike[str]],
    dataset: str | PathLike[str],
    statistics: str | PathLike[str],
    output: str | PathLike[str],
    *,
    depth: int = MAX_DEPTH,
    command: str = "touche.join_runs",
) -> JoinedRun:
    """Joins a baseline's runs on parts, ranked by joined statistics, into a run on the whole collection.

    Args:
        runs: the run.txt of each part, with its ir-metadata.yml in the same folder.
        dataset: the id of a dataset, or the path of an input directory, with the topics.
        statistics: the joined statistics that the runs used.
        output: the folder for run.txt and ir-metadata.yml.
        depth: maximum number of documents per topic.
        command: the command in the metadata.

    Returns:
        The path of run.txt, the tag, and the numbers of runs and topics. ``evaluate`` accepts this record.

    Raises:
        ToucheError: if a run is unusable or passed twice, lacks its metadata, or was ranked by other
            statistics. Also if the runs have different tags or unknown topics.

    Examples:
        >>> import tempfile, touche
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dataset, part, file = "spot-check/arguments", Path(folder, "part"), Path(folder, "all.json")
        ...     _ = touche.write_run("bm25", dataset, part, keep_statistics=file)
        ...     _ = touche.write_run("bm25", dataset, part, statistics=file)
        ...     touche.join_runs([part / "run.txt"], dataset, file, folder).topics
        10
    """
    started = datetime.now(UTC)
    check_whole("depth", depth, 1, MAX_DEPTH)
    paths = [as_path("run", run) for run in runs]
    statistics_path = as_path("statistics", statistics)
    folder = as_path("output", output)
    topics = opened(dataset_name(dataset), needs_documents=False).topics
    check_distinct(paths)
    check_ranked_by(statistics_path, paths)
    tag, rankings = joined(paths, topics, depth)
    data = data_of_runs(paths, statistics_path)
    software = Software(name="touche join runs", team="", command=command, description=_DESCRIPTION)
    write_run(
        folder,
        topics,
        rankings,
        tag,
        lambda: metadata(software, tag, {"depth": depth}, data, started, datetime.now(UTC)),
    )
    return JoinedRun(
        path=folder / RUN_FILE,
        tag=tag,
        parts=len(paths),
        topics=sum(1 for _, hits in rankings if hits),
    )


def joined(
    paths: Sequence[Path], topics: Sequence[Topic], depth: int
) -> tuple[str, list[tuple[Topic, list[Hit]]]]:
    """Joins runs of one baseline on parts of a collection; returns their tag and rankings.

    Args:
        paths: run files; a run is empty if no document of its part has a term of the topics.
        topics: topics of the runs.
        depth: maximum number of documents per topic.

    Raises:
        InputError: if a run has an unknown topic, or another tag than the first run.
        ToucheError: if all runs are empty.
    """
    best: dict[str, list[RunLine]] = {topic.number: [] for topic in topics}  # by topic
    tag = ""
    for path in paths:
        if path.stat().st_size == 0:  # which read_run refuses
            continue
        lines = read_run(path)
        if not tag:  # the first run with lines
            tag = lines[0].tag
        for line in lines:
            if line.topic not in best:
                raise InputError(
                    path, f"topic {line.topic} is not in the input", "pass the topics of the runs"
                )
            if line.tag != tag:
                remedy = "join runs of one baseline with the same options"
                raise InputError(path, f"the tag is {line.tag}, but {tag} in other runs", remedy)
            best[line.topic].append(line)
        # After each run, so that only the best lines of all runs are in memory.
        best = {number: list(in_order_of_score(topic_lines)[:depth]) for number, topic_lines in best.items()}
    if not tag:
        raise ToucheError("all runs are empty; check how they were written")
    hits: list[list[Hit]] = [
        [(line.document, line.score, line.stance) for line in best[topic.number]] for topic in topics
    ]
    return tag, list(zip(topics, hits, strict=True))


def check_ranked_by(statistics: Path, paths: Sequence[Path]) -> None:
    """Checks that all runs are ranked by these statistics, because only then are their scores comparable.

    Raises:
        InputError: if a run is missing, or is ranked by other statistics.
    """
    parts = count_parts(statistics)
    if parts > len(paths):  # several runs may be of one part, but no part may be missing
        problem = f"the sum of {parts} parts, but {len(paths)} runs are passed"
        raise InputError(statistics, problem, "pass the runs of all parts")
    digest = md5(statistics)
    for path in paths:
        if not path.is_file():
            raise InputError(path, "no such file", "pass the run.txt of each part")
        if statistics_digest(path.with_name(METADATA_FILE)) != digest:
            remedy = "run the baseline with --statistics, and keep ir-metadata.yml next to run.txt"
            raise InputError(path, f"its ir-metadata.yml does not name {statistics}", remedy)
