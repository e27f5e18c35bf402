"""Fuses several runs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from math import fsum, sqrt
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from touche.errors import ParameterError, ToucheError, check_choice, check_whole, counted, warn
from touche.io.identifiers import check_tag, optional_path
from touche.tira.metadata import METADATA_FILE, task_of_run
from touche.tira.outputs import remove_earlier_run, write_run
from touche.tira.provenance import Software, data_of_runs, metadata
from touche.trec.by_stance import in_rankings
from touche.trec.columns import Columns, Run
from touche.trec.run_forms import RunSource, SeveralRuns, read_sources, run_sources
from touche.trec.runs import MAX_DEPTH, RUN_FILE

K = 60  # reciprocal rank fusion's constant, as in the paper by Cormack et al.
LARGEST_K = 1_000_000  # with this k, scores of neighbouring ranks still differ as float32
# Rank-biased centroids: the probability that a user reads on. With 0.8, scores would be 0 as float32 from
# rank 460 on.
PHI = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Method:
    """A fusion method.

    Attributes:
        shares: a function that computes how much one run adds to each document's fused score. Its argument is
            the run's scores for one topic, in trec_eval's order. The fused score is the sum over all runs
            (CombSUM, Fox and Shaw 1994).
        times_runs: whether the sum is then multiplied by the number of runs that contain the document
            (CombMNZ).
    """

    shares: Callable[[Floats], Floats]
    times_runs: bool = False


class FusedTopic(NamedTuple):
    """A topic's documents in descending order of their ids, with fused scores and stances."""

    documents: NDArray[np.object_]
    scores: Floats
    stances: NDArray[np.object_]


@dataclass(frozen=True, eq=False, repr=False)
class FusedRun(Run):
    """A run fused from others.

    Attributes:
        warnings: sentences about runs that may be for different tasks.
        task: the task that ir-metadata.yml next to the runs names; empty if it names no task, or several.
    """

    warnings: tuple[str, ...] = ()
    task: str = ""


def fused_topic(topic: str, runs: Sequence[Run], method: Method, weights: Sequence[float]) -> FusedTopic:
    """Fuses one topic. A document's stance comes from the first run that contains it.

    Args:
        topic: a topic in at least one run.
        runs: the runs.
        method: one of ``METHODS``.
        weights: one per run, none of them 0.
    """
    # The lines of each run that has results for the topic, best first. The key is the run's index, which is
    # also its row in ``shares``.
    ranked = {row: run.take(run.by_score[topic]) for row, run in enumerate(runs) if topic in run.by_score}
    documents = sorted(set[str]().union(*(lines.documents for lines in ranked.values())), reverse=True)
    column_of = {document: column for column, document in enumerate(documents)}
    shares = np.zeros((len(runs), len(documents)))
    run_counts = np.zeros(len(documents), np.intp)
    stances = np.empty(len(documents), np.object_)
    # The first run comes last, so that its stances overwrite those from other runs.
    for row, lines in reversed(ranked.items()):
        columns = [column_of[document] for document in lines.documents]
        shares[row, columns] = weights[row] * method.shares(lines.scores)
        run_counts[columns] += 1
        stances[columns] = [*lines.stances]
    # fsum rounds correctly, so the sums don't depend on the order of the runs.
    scores = np.array([fsum(column) for column in shares.T.tolist()])
    if method.times_runs:
        scores *= run_counts
    return FusedTopic(np.array(documents, np.object_), scores, stances)


def check_weights(weights: Sequence[float], runs: int) -> None:
    """Checks a fusion's weights.

    Args:
        weights: the weights.
        runs: the number of runs.

    Raises:
        ParameterError: if the number of weights is wrong, a weight is neither 0 nor between 1e-6 and 1e6, or
            all are 0.
    """
    if isinstance(weights, str) or not isinstance(weights, Sequence | np.ndarray):
        raise ParameterError(f"weights = {weights!r}; pass a list of numbers, one per run")
    if len(weights) != runs:
        problem = f"{counted(len(weights), 'weight')} for {counted(runs, 'run')}"
        raise ParameterError(f"{problem}; pass one per run, such as 0.7,0.3")
    # Smaller or larger weights times a share might not fit into float32.
    wrong = [
        weight
        for weight in weights
        if not (isinstance(weight, Real) and (weight == 0 or 1e-6 <= float(weight) <= 1e6))
    ]
    if wrong:
        raise ParameterError(
            f"the weight {wrong[0]!r} is neither 0 nor a number from 1e-6 to 1e6; correct it"
        )
    if not any(weights):
        raise ParameterError("all weights are 0; use at least one weight above 0")


def reciprocal_ranks(scores: Floats, k: int = K) -> Floats:
    """Returns 1 / (k + rank), with trec_eval's ranks by score (Cormack et al. 2009).

    Args:
        scores: a topic's document scores, best first.
        k: a number of at least 0. The larger it is, the less the scores of different ranks differ.
    """
    return 1 / (k + np.arange(1, len(scores) + 1))


def rank_biased(scores: Floats) -> Floats:
    """Returns 0.05 * 0.95^(rank - 1) with trec_eval's ranks, as in rank-biased centroids (Bailey et al.
    2017).

    Args:
        scores: a topic's document scores, best first.
    """
    # Use Python to compute the powers, because the last digit of NumPy's result depends on the processor.
    return np.array([(1 - PHI) * PHI ** (rank - 1) for rank in range(1, len(scores) + 1)])


def normalised(scores: Floats) -> Floats:
    """Returns (score - lowest) / (highest - lowest), 0 for the last document and 1 for the first (Lee 1997).

    This way, runs whose scores have different ranges count equally. If all scores are equal, they become 1.

    Args:
        scores: a topic's document scores.
    """
    lowest = scores.min()
    spread = scores.max() - lowest
    return (scores - lowest) / spread if spread > 0 else np.ones_like(scores)


def standardised(scores: Floats) -> Floats:
    """Returns (score - mean) / population standard deviation: z-scores (Montague and Aslam 2001).

    Documents with the mean score get 0, like documents that aren't in the run. If all scores are equal, all
    become 0.

    Args:
        scores: a topic's document scores.
    """
    differences = scores - fsum(scores) / len(scores)
    deviation = sqrt(fsum(difference**2 for difference in differences.tolist()) / len(scores))
    # Check both: because of rounding, equal scores can have a positive standard deviation, and scores that
    # differ only slightly can have a standard deviation of 0.
    is_varied = scores.min() < scores.max() and deviation > 0
    return differences / deviation if is_varied else np.zeros_like(scores)


RRF = "rrf"
METHODS = {
    RRF: Method(reciprocal_ranks),
    "combsum": Method(normalised),
    "combmnz": Method(normalised, times_runs=True),
    "z-score": Method(standardised),
    "rbc": Method(rank_biased),
}


def fuse(
    runs: SeveralRuns,
    method: str = "rrf",
    *,
    k: int | None = None,
    weights: Sequence[float] | NDArray[Any] | None = None,
    depth: int = MAX_DEPTH,
    tag: str = "",
    team: str = "",
    output: str | PathLike[str] | None = None,
    command: str = "touche.fuse",
) -> FusedRun:
    """Fuses runs into one; documents that several runs rank high come first.

    Runs with rankings for both stances of a topic are fused ranking by ranking.

    Args:
        runs: at least two runs, as for ``evaluate``.
        method: ``rrf``, ``combsum``, ``combmnz``, ``z-score`` or ``rbc``.
        k: the constant in the formula of ``rrf``, which no other method has; None means 60. A larger one
            levels the ranks.
        weights: factors of the runs' scores, one per run, also as an array; None for equal weights.
        depth: maximum number of documents per topic.
        tag: the name of the fused run; by default ``touche-`` and the method.
        team: your team, for ``ir-metadata.yml``.
        output: the folder for ``run.txt`` and ``ir-metadata.yml``; None writes no files.
        command: the command line to write into ``ir-metadata.yml``.

    Returns:
        The fused run. The unit of its scores depends on the method. Runs that may be of different tasks cause
        Python warnings.

    Raises:
        ToucheError: if a run is unusable or passed twice, there are fewer than two runs, or there is no such
            method. Also if k or the weights are unusable, or the folder cannot be written.

    Examples:
        >>> import touche
        >>> runs = [{"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 9.0}}]
        >>> fused = touche.fuse(runs, "combsum", weights=[0.7, 0.3])
        >>> fused.as_dict()
        {'1': {'a': 0.7, 'b': 0.3}}
    """
    check_choice("method", method, METHODS)
    chosen = METHODS[method]
    if k is not None:
        if method != RRF:
            raise ParameterError(f"k is a constant of {RRF}, and {method} has none; omit k")
        check_whole("k", k, 0, LARGEST_K)
        chosen = Method(partial(reciprocal_ranks, k=int(k)))
    check_whole("depth", depth, 1, MAX_DEPTH)
    tag = tag or f"touche-{method}"
    check_tag(tag)
    weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
    folder = optional_path("output", output)
    started = datetime.now(UTC)
    sources = run_sources(runs)
    by_ranking = in_rankings(read_sources(sources))
    if len(sources) < 2:
        raise ToucheError("fusion needs at least two runs; pass more")
    files = [source.path for source in sources if source.content is None]
    named_tasks = dict.fromkeys(filter(None, map(task_of_run, files)))
    warnings = tuple(task_warnings(by_ranking, named_tasks))
    for warning in warnings:
        warn(warning)
    options: dict[str, Any] = {"method": method, "depth": depth, "tag": tag}
    fused = fused_run(by_ranking, chosen, depth, weights, tag).by_topic_number()
    if k is not None:
        options["k"] = int(k)
    if weights is not None:
        options["weights"] = [*weights]
    task = next(iter(named_tasks)) if len(named_tasks) == 1 else ""
    if folder is not None:
        _write_fused(folder, sources, task, fused, options, team, command, started)
    fields_of_run = {field.name: getattr(fused, field.name) for field in fields(fused)}
    return FusedRun(**fields_of_run, warnings=warnings, task=task)


def _write_fused(
    folder: Path,
    sources: Sequence[RunSource],
    task: str,
    fused: Run,
    options: Mapping[str, Any],
    team: str,
    command: str,
    started: datetime,
) -> None:
    """Writes a fused run with its metadata."""
    software = Software(
        name=f"touche fuse --method {options['method']}",
        team=team,
        command=command,
        # The same sentence as the first line of ``touche fuse --help``.
        description="Fuse two or more RUNs into one; documents that several RUNs rank high come first.",
    )
    data = data_of_runs(sources, task)
    text = metadata(software, options["tag"], options, data, started, datetime.now(UTC))
    # The output must overwrite neither the runs nor their metadata.
    inputs = [source.path for source in sources if source.content is None]
    inputs += [file.with_name(METADATA_FILE) for file in inputs if file.name == RUN_FILE]
    remove_earlier_run(folder, inputs)
    write_run(folder, fused, text)


def fused_run(
    runs: Sequence[Run],
    method: Method,
    depth: int,
    weights: Sequence[float] | None = None,
    tag: str = "fused",
) -> Run:
    """Fuses runs into one. Its documents are in trec_eval's order: by float32 score, ties by descending id.

    Args:
        runs: the runs.
        method: one of ``METHODS``.
        depth: maximum number of documents per topic.
        weights: one per run, or None for equal weights.
        tag: the tag of the fused run.

    Raises:
        ParameterError: if the weights are unusable.
    """
    if weights is None:
        weights = [1.0] * len(runs)
    check_weights(weights, len(runs))
    # A run with weight 0 is ignored completely: it provides no stances, and CombMNZ doesn't count it.
    runs = [run for run, weight in zip(runs, weights, strict=True) if weight]
    weights = [weight for weight in weights if weight]
    columns = Columns()
    size = 0  # how many lines the fused run has so far
    for topic in dict.fromkeys(topic for run in runs for topic in run.by_score):
        fused = fused_topic(topic, runs, method, weights)
        # Adding 0 turns -0 into 0, as when run files are read.
        scores = fused.scores.astype(np.float32) + np.float32(0)
        # Stable, and documents are in descending order of ids, so ties are too.
        best = np.argsort(-scores, kind="stable")[:depth]
        columns.add(
            topics=[topic] * len(best),
            stances=fused.stances[best].tolist(),
            documents=fused.documents[best].tolist(),
            ranks=range(1, len(best) + 1),
            # Round the scores as if they were written to a run file and read again, so that the fused run in
            # memory is the same as the one in the file.
            scores=orjson.loads(orjson.dumps(scores[best], option=orjson.OPT_SERIALIZE_NUMPY)),
            tags=[tag] * len(best),
            line_numbers=range(size + 1, size + len(best) + 1),
        )
        size += len(best)
    return columns.run(tag)


def task_warnings(runs: Sequence[Run], named_tasks: Collection[str]) -> Iterator[str]:
    """Yields warnings if the runs seem to be of different tasks.

    Args:
        runs: the runs.
        named_tasks: the tasks' ids in ``ir-metadata.yml`` next to the runs.
    """
    topics = [set(run.by_topic) for run in runs]
    not_in_all = set[str]().union(*topics) - topics[0].intersection(*topics)
    if not_in_all:
        topics_of_some = counted(len(not_in_all), "topic")
        yield f"{topics_of_some} in only some of the runs; check that all runs are of one task"
    if not any(_share_a_document(topic, runs) for topic in set[str]().union(*topics)):
        yield "no two runs share a document of a topic; check that all runs are of one task"
    if len(named_tasks) > 1:
        yield f"the runs are of {' and '.join(named_tasks)}; check that all runs are of one task"


def _share_a_document(topic: str, runs: Sequence[Run]) -> bool:
    """Returns whether at least two runs share a document of a topic."""
    documents = [run.documents[run.by_topic[topic]].tolist() for run in runs if topic in run.by_topic]
    # So a document that is counted twice is in two runs.
    return sum(map(len, documents)) > len(set[str]().union(*documents))
