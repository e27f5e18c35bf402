"""The commands as Python functions: each returns what its command prints."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from math import comb
from os import PathLike
from pathlib import Path
from platform import machine
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from touche import tasks
from touche.baselines.loader import folder_of, is_shipped, names
from touche.containers.limits import PROGRAMS, Limits
from touche.data.datasets import open_dataset
from touche.data.places import qrels_of as qrels_of_task
from touche.data.places import topics_of
from touche.documents.collection import Documents
from touche.errors import ToucheError, check_choice, check_whole, choice, warn
from touche.evaluation import agreement, fusion, scores
from touche.evaluation.agreement import Overlap, ScoredOverlap
from touche.evaluation.comparison import (
    Comparison,
    TopicDifference,
    comparisons,
    run_named,
    topic_differences,
)
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, Score, TopicScore
from touche.evaluation.wide import WideTable, wide_table
from touche.io.identifiers import check_tag, expanded, name_of
from touche.io.inputs import command_line
from touche.io.opening import Held
from touche.io.optional import imported
from touche.io.progress import processors, watched
from touche.io.writing import make_folder, write_whole
from touche.linting import Finding, Findings, teams_of_runs
from touche.linting import lint as linted
from touche.listing import PublishedResult, published
from touche.tasks import Task
from touche.tira.outputs import write_ranked
from touche.tira.provenance import Software, data_of_runs, metadata
from touche.trec.columns import Run
from touche.trec.forms import IN_MEMORY, AnyQrels, AnyRun, file_of_qrels, list_of_runs, run_of, runs_of
from touche.trec.framed import Table
from touche.trec.qrels import Qrels
from touche.trec.runs import MAX_DEPTH
from touche.trec.topics import Topic, read_topics
from touche.tuning.weights import TunedFusion, tuned

if TYPE_CHECKING:
    from ir_measures.measures import Measure
    from numpy.typing import NDArray

    from touche.identification.answer import Answer
    from touche.regression.outcomes import Outcome
    from touche.regression.results import Regression

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_PAIRS = ("exact", "any-order")


class DimensionError(ToucheError, KeyError):
    """A dimension that a task does not have."""

    __str__ = Exception.__str__  # KeyError quotes its message


class _QrelsByDimension(Mapping[str, Qrels]):
    """The qrels of a task, read when they are used."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getitem__(self, dimension: str) -> Qrels:
        if dimension not in self._task.qrels:
            known = choice(dimension, self._task.qrels)
            raise DimensionError(f"{self._task.id} has no dimension {dimension!r}; {known}")
        return qrels_of_task(self._task, dimension)

    def __iter__(self) -> Iterator[str]:
        return iter(self._task.qrels)

    def __len__(self) -> int:
        return len(self._task.qrels)

    def __contains__(self, dimension: object) -> bool:
        return dimension in self._task.qrels


@dataclass(frozen=True)
class TaskData:
    """A task and its data, which is read when it is used.

    Attributes:
        id: the id of the task or dataset, such as ``touche-2021-task-1/sample``.
        card: the facts of the task: title, measure, rules, names of files.
    """

    id: str
    card: Task

    @cached_property
    def topics(self) -> Table[Topic]:
        """The topics; ``topics.frame()`` has a row for each."""
        return Table(Topic, tuple(read_topics(topics_of(*tasks.dataset(self.id)))))

    @property
    def qrels(self) -> Mapping[str, Qrels]:
        """The relevance judgments by dimension, such as ``qrels["relevance"]``; each has a ``frame()``."""
        return _QrelsByDimension(self.card)

    @property
    def documents(self) -> Documents:
        """The collection, over which you can iterate repeatedly; ``documents.frame()`` loads all of it."""
        return open_dataset(self.id).documents

    @property
    def published(self) -> Table[PublishedResult]:
        """The published results, the best of each dimension first."""
        return published(self.card.id)


def task(id: str) -> TaskData:
    """Returns a task with its topics, qrels, documents and published results.

    Args:
        id: the id of a task or of a dataset, such as ``touche-2021-task-1`` or ``spot-check/arguments``.

    Raises:
        ToucheError: if there is no such task. Data that is missing is an error when you use it.
    """
    return TaskData(id, tasks.task(id))


@overload
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: Literal[False] = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[Score]: ...
@overload
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: Literal[True],
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[TopicScore]: ...
def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    per_topic: bool = False,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Table[Any]:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run or several, each in one of the forms of ``touche.AnyRun``: a path, a frame of PyTerrier
            or ir_measures, scores by topic and document, or records. A dictionary such as
            ``{"mine": frame, "theirs": "run.txt"}`` names them.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        per_topic: whether to return topic scores instead of means.
        pairs: ``any-order`` adds a score that also counts pairs judged in the other order.
        measure: a measure instead of the task's, an object of ir_measures or its name, such as ``nDCG@10``.
            ``nDCG@5,AP`` names several.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.

    Returns:
        A record for each run, dimension, evaluator (and topic): a ``touche.evaluation.scores.Score`` or
        ``TopicScore``, with values from 0 to 1; ``frame()`` returns them as a DataFrame. Doubtful scores
        cause Python warnings. The notes explain differences between the evaluators, and give ranks on the
        leaderboard.

    Raises:
        ToucheError: if a run is unusable, or qrels are missing. Also if detected stances, which have no topic
            scores, are the only dimension with ``per_topic``.

    Examples:
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> [score] = evaluate({"mine": ranking}, qrels=qrels, measure="RR")
        >>> score.tag, score.measure, score.mean
        ('mine', 'RR', 0.75)
    """
    check_choice("order of pairs", pairs, _PAIRS)
    by_measure = _score(runs_of(runs), (task, measure, qrels), evaluator, any_order=pairs == "any-order")
    evaluated = [run for group in by_measure for run in group]
    if per_topic and not any(run.is_ranking for run in evaluated):
        raise ToucheError("stances have no topic scores; omit per-topic scores")
    kind: type[Any] = TopicScore if per_topic else Score
    scores_of_runs = (run.all_topic_scores if per_topic else run.scores.values() for run in evaluated)
    records = tuple(chain.from_iterable(scores_of_runs))
    return _warned(Table(kind, records, _warnings(by_measure), _notes(by_measure)))


@overload
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: Literal[False] = False,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    reference: AnyRun | None = None,
) -> Table[Comparison]: ...
@overload
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: Literal[True],
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    reference: AnyRun | None = None,
) -> Table[TopicDifference]: ...
def compare(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    per_topic: bool = False,
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    randomisation: bool = False,
    reference: AnyRun | None = None,
) -> Table[Any]:
    """Compares each pair of runs in every dimension of a task.

    Args:
        runs: at least two runs, as for ``evaluate``.
        task: the id of the task; None if there are only qrels.
        evaluator: ``trec_eval`` or ``touche``.
        per_topic: whether to return the differences of topics, a pair's largest differences first.
        measure: a measure instead of the task's, as for ``evaluate``.
        qrels: qrels instead of the task's, in one of the forms of ``touche.AnyQrels``.
        randomisation: whether to add the randomisation test.
        reference: one of the runs, its tag or its path, to compare each other run with; None compares all
            pairs.

    Returns:
        A record for each pair of runs, dimension and measure (and topic): a
        ``touche.evaluation.comparison.Comparison`` or ``TopicDifference``, with differences in the unit of
        the measure; ``frame()`` returns them as a DataFrame. ``table[table.significant]`` has the significant
        differences. A pair without enough common topics is missing, and causes a Python warning.

    Raises:
        ToucheError: if a run is unusable, the reference is not one of the runs, or qrels are missing.

    Examples:
        >>> qrels = {topic: {"a": 1, "b": 0} for topic in "1234"}
        >>> good = {topic: {"a": 2.0, "b": 1.0} for topic in "1234"}
        >>> bad = good | {topic: {"a": 1.0, "b": 2.0} for topic in "34"}
        >>> [comparison] = compare({"good": good, "bad": bad}, qrels=qrels, measure="RR")
        >>> comparison.run_a, comparison.difference, comparison.significant
        ('good', 0.25, False)
    """
    check_choice("evaluator", evaluator, EVALUATORS)
    named, second = _with_reference(runs, reference)
    by_measure = _score(named, (task, measure, qrels), evaluator)
    compared = list[Any]()
    faults = list[str]()
    for evaluated in by_measure:
        second_run = None if second is None else run_named(second, evaluated)
        records, untested = comparisons(evaluated, evaluator, second_run, randomisation=randomisation)
        compared += topic_differences(evaluated, evaluator, second_run) if per_topic else records
        faults += untested
    kind: type[Any] = TopicDifference if per_topic else Comparison
    return _warned(Table(kind, tuple(compared), (*faults, *_warnings(by_measure))))


def wide(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    reference: AnyRun | None = None,
    every_two: bool = False,
) -> WideTable:
    """Scores runs in a table with a row for each run, for papers: ``wide(...).latex()``.

    Args:
        runs, task, evaluator, pairs, measure, qrels: as for ``evaluate``.
        reference: one of the runs, its tag or its path, from which significant differences are marked.
        every_two: whether letters mark the runs with significantly lower scores; not together with a
            reference.

    Returns:
        A table with a row for each run and a column for each measure, dimension and evaluator; values are
        from 0 to 1. It has ``frame()``, ``latex()``, ``markdown()`` and ``html()``. The notes are those of
        ``evaluate``.

    Raises:
        ToucheError: as ``evaluate`` and ``compare``; also if there is a reference and ``every_two``.

    Examples:
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> print(wide({"mine": ranking}, qrels=qrels, measure=["RR", "P@1"]).markdown())
        | run | RR | P@1 |
        | --- | ---: | ---: |
        | mine | **0.750** | **0.500** |
    """
    check_choice("order of pairs", pairs, _PAIRS)
    named, second = _with_reference(runs, reference)
    by_measure = _score(named, (task, measure, qrels), evaluator, any_order=pairs == "any-order")
    table = wide_table(by_measure, second, every_two)
    texts = (*table.warnings, *_warnings(by_measure))
    return _warned(replace(table, warnings=texts, notes=_notes(by_measure)))


def _score(
    runs: Sequence[Path | Run], scored_by: tuple[Any, Any, Any], evaluator: str, any_order: bool = False
) -> list[list[Evaluated]]:
    """Evaluates runs of any form by each measure; qrels without a file are written to a temporary file."""
    check_choice("evaluator", evaluator, [*EVALUATORS, "both"])
    evaluators = [] if evaluator == "both" else [evaluator]
    task, measure, qrels = scored_by
    passed = measure if isinstance(measure, list | tuple) else [measure]  # texts, or objects of ir_measures
    measures = list[str | None]()
    for name in passed:
        measures += [None] if name is None else tasks.measures_in(str(name))
    with file_of_qrels(qrels) as path:
        scored = tasks.tasks_scored_by(task, measures or [None], path)
        by_measure = scores.evaluate_by(runs, scored, evaluators, any_order=any_order)
    return [_naming_qrels(qrels, group) for group in by_measure]


def _naming_qrels(qrels: AnyQrels, runs: Sequence[Evaluated]) -> list[Evaluated]:
    """Returns evaluated runs; qrels in memory have a name instead of the path of their temporary file."""
    if qrels is None or isinstance(qrels, str | PathLike):
        return [*runs]
    return [replace(run, qrels=IN_MEMORY) for run in runs]


def _with_reference(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun], reference: AnyRun | None
) -> tuple[list[Path | Run], str | Path | None]:
    """Returns runs with different names, and the name or path of the reference among them."""
    sources = list_of_runs(runs)
    named = runs_of(runs if isinstance(runs, Mapping) else sources)
    return named, _name(reference, sources, named)


def _name(
    reference: AnyRun | None, sources: Sequence[AnyRun], runs: Sequence[Path | Run]
) -> str | Path | None:
    """Returns the path of a run, which is renamed if another one has its name, and any other text unchanged.

    Args:
        reference: the reference; None if there is none.
        sources: the runs as they were passed.
        runs: the same runs with different names.

    Raises:
        ToucheError: if a reference that is not a text is not one of the runs.
    """
    if reference is None:
        return None
    paths = [run.path if isinstance(run, Run) else run for run in runs]
    if isinstance(reference, str | PathLike):
        text = str(expanded(reference))
        files = [str(expanded(source)) if isinstance(source, str | PathLike) else None for source in sources]
        return paths[files.index(text)] if text in files else text
    for source, path in zip(sources, paths, strict=True):
        if source is reference:
            return path
    copy = run_of(reference)
    equal = [path for run, path in zip(runs, paths, strict=True) if run_of(run) == copy]
    if len(equal) != 1:
        problem = f"{len(equal)} of the runs have" if equal else "none of the runs has"
        raise ToucheError(f"{problem} the lines of the reference; pass one of the runs itself, or its tag")
    return equal[0]


def _warnings(by_measure: Sequence[Sequence[Evaluated]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for group in by_measure for text in warnings_of(group)))


def _notes(by_measure: Sequence[Sequence[Evaluated]]) -> tuple[str, ...]:
    notes = dict.fromkeys(text for group in by_measure for text in notes_of(group))
    task = by_measure[0][0].task
    return (*notes, *([f"{task.id}: {task.results_note}"] if task.results_note else []))


def _warned(result: _T) -> _T:
    """Returns a result whose warnings are also Python warnings, in the line that called the library."""
    for text in result.warnings:  # type: ignore[attr-defined]
        warn(text)
    return result


@overload
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun], task: None = None, *, baseline: None = None
) -> Table[Overlap]: ...
@overload
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[ScoredOverlap]: ...
def overlap(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    *,
    baseline: tuple[AnyRun, AnyRun] | None = None,
) -> Table[Any]:
    """Compares each pair of runs by their documents and, with a task, by their scores.

    Args:
        runs: at least two runs, as for ``evaluate``, an original before its rerun.
        task: the id of the task whose qrels score the runs; None compares only the documents.
        baseline: the run that the first run improves on, and the rerun of that run. It needs a task.

    Returns:
        A ``touche.evaluation.agreement.Overlap`` for each pair of runs; with a task, a ``ScoredOverlap`` for
        each pair and dimension. Shares are from 0 to 1, correlations from -1 to 1, and errors in the unit of
        the measure. ``frame()`` returns the records as a DataFrame.

    Raises:
        ToucheError: if a run is unusable, two runs share no topic, or qrels are missing. Also if there are
            baselines without exactly two runs and a task.

    Examples:
        >>> [agreement] = overlap({"mine": {"1": {"a": 2.0, "b": 1.0}}, "theirs": {"1": {"a": 9.0}}})
        >>> agreement.run_a, agreement.run_b, agreement.topics, agreement.overlap_5
        ('mine', 'theirs', 1, 0.5)
    """
    originals = runs_of(runs, distinct=False) if isinstance(runs, Mapping) else list_of_runs(runs)
    baselines = list_of_runs(baseline or [])
    if baselines and (task is None or len(originals) != 2 or len(baselines) != 2):
        raise ToucheError("a baseline compares the scores of two runs; pass two of each, and a task")
    read = [run_of(run) for run in runs_of([*originals, *baselines], distinct=False)]
    if task is None:
        pairs = agreement.overlaps(read)
        return Table(Overlap, tuple(watched(pairs, "comparing", "pairs of runs", comb(len(read), 2))))
    scored = tasks.task_scored_by(task, tasks.task(task).measure.name)
    evaluated = scores.evaluate([*{run.path: run for run in read}.values()], scored, [agreement.EVALUATOR])
    paths = [run.path for run in read]
    records = agreement.scored_overlaps(paths[: len(originals)], evaluated, paths[len(originals) :])
    return _warned(Table(ScoredOverlap, tuple(records), tuple(warnings_of(evaluated))))


@dataclass(frozen=True, eq=False, repr=False)
class FusedRun(Run):
    """A run that was fused from others.

    Attributes:
        tuning: weights of each topic, and their cross-validation; None without tuning.
        warnings: sentences on runs that may be of different tasks.
    """

    tuning: "TunedFusion | None" = None
    warnings: tuple[str, ...] = ()


def fuse(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    method: str = "rrf",
    *,
    weights: "Sequence[float] | NDArray[Any] | None" = None,
    tune: Literal["two-fold", "leave-one-topic-out"] | None = None,
    task: str | None = None,
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
    dimension: str | None = None,
    depth: int = MAX_DEPTH,
    tag: str = "",
    team: str = "",
    output: str | PathLike[str] | None = None,
) -> FusedRun:
    """Fuses runs into one; documents that several runs rank high come first.

    Args:
        runs: at least two runs, as for ``evaluate``.
        method: ``rrf``, ``combsum``, ``combmnz``, ``z-score`` or ``rbc``.
        weights: factors of the runs' scores, one per run, also as an array; None for equal weights.
        tune: cross-validation, which chooses the weights of each topic by other topics. So the score of the
            fused run is cross-validated.
        task, measure, qrels: what weights are tuned for, as for ``evaluate``.
        dimension: dimension to tune for; by default the task's first.
        depth: maximum number of documents per topic.
        tag: the name of the fused run; by default ``touche-`` and the method.
        team: your team, for ``ir-metadata.yml``.
        output: the folder for ``run.txt`` and ``ir-metadata.yml``; None writes no files.

    Returns:
        The fused run. The unit of its scores depends on the method. Runs that may be of different tasks cause
        Python warnings.

    Raises:
        ToucheError: if a run is unusable or passed twice, there are fewer than two, or there is no such
            method. Also if the weights cannot be tuned, or the folder cannot be written.

    Examples:
        >>> fused = fuse([{"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 9.0}}], "combsum", weights=[0.7, 0.3])
        >>> fused.as_dict()
        {'1': {'a': 0.7, 'b': 0.3}}
    """
    check_choice("method", method, fusion.METHODS)
    check_whole("depth", depth, 1, MAX_DEPTH)
    tag = tag or f"touche-{method}"
    check_tag(tag)
    weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
    folder = None if output is None else Path(name_of("output", output))
    started = datetime.now(UTC)
    sources = runs_of(runs)
    if len(sources) < 2:
        raise ToucheError("fusion needs at least two runs; pass more")
    if tune and weights is not None:
        raise ToucheError("tune and weights exclude each other; pass only one")
    if tune is None and (task, measure, qrels, dimension) != (None, None, None, None):
        raise ToucheError("task, measure, qrels and dimension are for tuning; also pass tune")
    read = [run_of(source) for source in sources]
    doubts = tuple(fusion.doubts_of(read))
    for text in doubts:
        warn(text)
    tuning = None
    options: dict[str, Any] = {"method": method, "depth": depth, "tag": tag}
    if tune is None:
        weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
        fused = fusion.fused_run(read, fusion.METHODS[method], depth, weights, tag)
        options |= {"weights": [*weights]} if weights is not None else {}
    else:
        with file_of_qrels(qrels) as path:
            scored = tasks.task_scored_by(task, None if measure is None else str(measure), path)
            tuning = tuned(read, fusion.METHODS[method], depth, scored, tune, dimension, tag)
        fused = tuning.run
        options |= {"tune": tune, "dimension": tuning.dimension, "measure": tuning.measure}
        options["weights"] = {topic: ",".join(map(str, of)) for topic, of in tuning.weights.items()}
    if folder is not None:
        _write_fused(folder, sources, fused, options, team, started)
    columns = {field.name: getattr(fused, field.name) for field in fields(fused)}
    return FusedRun(**columns, tuning=tuning, warnings=doubts)


def _write_fused(
    folder: Path,
    sources: Sequence[Path | Run],
    fused: Run,
    options: Mapping[str, Any],
    team: str,
    started: datetime,
) -> None:
    """Writes a fused run with its metadata."""
    files = [
        Held.of(str(source.path), source.text().encode()) if isinstance(source, Run) else source
        for source in sources
    ]
    software = Software(
        name=f"touche fuse --method {options['method']}",
        team=team,
        command=command_line("touche.fuse"),
        description="Fuse two or more RUNs into one; documents that several RUNs rank high come first.",
    )
    text = metadata(software, options["tag"], options, data_of_runs(files), started, datetime.now(UTC))
    inputs = [source for source in sources if isinstance(source, Path) and not isinstance(source, Held)]
    write_ranked(folder, fused, lambda: text, inputs)


def lint(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str,
    *,
    teams: 'Sequence[str] | Mapping[str, str | Sequence[str]] | Literal["per-folder"] | None' = None,
) -> Findings:
    """Checks the runs of a submission against the rules of a task.

    Args:
        runs: one run or several, as files or in any other form, as for ``evaluate``.
        task: the id of the task, or of a dataset with another corpus.
        teams: the team of each run; or ``per-folder``, if each folder has the runs of a team; or patterns of
            file names by team, such as ``{"Katana": "katana-*"}``. None if all are of one team.

    Returns:
        The findings as ``touche.linting.Finding``, with the severity ``error`` or ``warning``, run by run in
        the order of the lines, which count from 1. ``is_broken`` is whether there is an error. The notes name
        impossible checks.

    Raises:
        ToucheError: if a run cannot be read as text, there is no such task, or a team is not clear.

    Examples:
        >>> findings = lint({"mine": {"1": {"no-such-document": 1.0}}}, "spot-check/arguments")
        >>> findings[0].run, findings[0].line, findings[0].code
        ('mine', 1, 'unknown-document')
        >>> findings.is_broken
        True
    """
    paths = [
        Held.of(str(run.path), run.text().encode()) if isinstance(run, Run) else run
        for run in runs_of(runs, checks=False)
    ]
    by_run = teams_of_runs(paths, teams)
    findings, notes = linted(paths, *tasks.dataset(task), by_run)
    return Findings(
        kind=Finding,
        records=tuple(findings),
        notes=tuple(notes),
        runs=len(paths),
        teams=tuple(by_run[path] for path in paths) if by_run else (),
    )


def identify(run: AnyRun, task: str, *, mean_lengths: Mapping[str, float] = MappingProxyType({})) -> "Answer":
    """Infers the retrieval model, the analysis and the parameters of a run from its scores.

    Args:
        run: a run, or the path of a file ``*.tsv`` with topic, document and score on each line.
        task: the id of a dataset, such as ``touche-2021-task-1/sample``; a part of the documents is enough.
        mean_lengths: known mean lengths of fields in the whole collection, in tokens. Arguments need
            both premises and conclusion, in BEIR's format text and title.

    Returns:
        The answer; its ``frame()`` has the best hypotheses.

    Raises:
        ToucheError: if the run or the dataset is unusable, or both have no common document.

    Example:
        >>> import touche
        >>> touche.identify({"1": {"no-such-document": 1.5}}, "spot-check/arguments")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: ...
    """
    from touche.identification import identify as identified  # here, because it takes 53 ms

    if isinstance(run, Path):  # also standard input, which has more than its path
        return identified(run, task, mean_lengths)
    is_file = isinstance(run, str | PathLike)
    return identified(Path(expanded(run)) if is_file else run_of(run), task, mean_lengths)


def report(
    runs: AnyRun | Sequence[AnyRun],
    output: str | PathLike[str],
    task: str | None = None,
    *,
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
    reference: AnyRun | None = None,
    all_published: bool = False,
    command: str = "touche.report",
) -> Path:
    """Writes a page on runs: ranks among published results, run comparisons, and topic scores.

    Args:
        runs: one run or several; empty with ``all_published``.
        output: the folder for the page.
        task: the id of the task; None if there are only qrels.
        measure, qrels: another measure, or other qrels, as for ``evaluate``.
        reference: one of the runs, its tag or its path, to compare the others with; by default the
            organizers' baseline, or else the run with the highest mean.
        all_published: whether to show the published results of all tasks instead.
        command: the command that the page names.

    Returns:
        The path of the page.

    Raises:
        ToucheError: if a run is unusable, qrels are missing, or the folder cannot be written.

    Example:
        >>> import tempfile, touche
        >>> run = touche.run("bm25", "spot-check/arguments")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.report(run, folder, "spot-check/arguments").name
        'index.html'
    """
    folder = Path(name_of("output", output))
    # Here, because it takes 66 ms.
    from touche.reports import Report, part_of, published_parts, write

    if all_published:
        if list_of_runs(runs) or any(each is not None for each in (task, measure, qrels, reference)):
            raise ToucheError("all_published takes no runs and no scoring; omit them")
        parts = list(published_parts())
        return write(Report("Published results of Touché", command, parts, gallery=True), folder)
    with file_of_qrels(qrels) as path:
        scored = tasks.task_scored_by(task, None if measure is None else str(measure), path)
        sources = list_of_runs(runs)
        named = runs_of(sources)
        evaluated = _naming_qrels(qrels, scores.evaluate(named, scored))
        part = part_of(evaluated, task or scored.id, _name(reference, sources, named))
    title = f"{len(part.runs)} run{'s' if len(part.runs) > 1 else ''} of {part.dataset}"
    return write(Report(title, command, [part]), folder)


def regress(
    baselines: str | Sequence[str] = (),
    datasets: str | Sequence[str] = (),
    *,
    runner: Literal["local", "docker", "podman", "tira"] = "local",
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    twice: bool = False,
    update: bool = False,
    output: str | PathLike[str] | None = None,
    junit: str | PathLike[str] | None = None,
    report: str | PathLike[str] | None = None,
    command: str = "touche.regress",
    log: Callable[[str], None] = _log.info,
) -> "Regression":
    """Reruns baselines on every available dataset and compares their scores with the expected ones.

    Args:
        baselines: names or paths of baselines; none for all that ship.
        datasets: ids of datasets; none for all.
        runner: where the baselines run.
        limits: the limits of a run in a sandbox.
        twice: whether each baseline runs twice, to compare run.txt byte by byte.
        update: whether to rewrite pinned values that changed; published values stay.
        output: a file for the records as JSON, updated after each result; None writes none.
        junit: a file for JUnit XML; None writes none.
        report: a folder for a page with the table, the times, and a report per dataset; None writes none.
        command: the command that the page names.
        log: receives the name and the log of each run, and the values that moved.

    Returns:
        The outcomes, each with its verdict. ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such baseline or dataset, or a file cannot be written.

    Example:
        >>> import touche
        >>> [outcome.verdict for outcome in touche.regress("bm25", "spot-check/arguments")]
        ['passed', 'passed']
    """
    from touche.containers.runs import RUNNERS
    from touche.regression import running  # here, because few callers need it
    from touche.regression.outcomes import Outcome
    from touche.regression.results import Regression, to_json
    from touche.regression.results import junit as to_junit

    check_choice("runner", runner, RUNNERS)
    ids = [datasets] if isinstance(datasets, str) else [*datasets]
    records, results, folder = (
        None if path is None else Path(name_of("output", path)) for path in (output, junit, report)
    )
    for file in (records, results):
        if file and not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is not a directory; create it, or choose another place")
    if folder:
        imported("jinja2", "analysis")  # before the runs, because the page is written after them
        imported("matplotlib", "analysis")
    passed = [baselines] if isinstance(baselines, str | PathLike) else [*baselines]
    expected, outcomes = running.expected_of([name_of("baseline", name) for name in passed], ids)
    if folder:
        make_folder(folder)
    keep = folder / "runs" if folder else None
    for outcome in running.regress(expected, RUNNERS[runner], limits, log, twice=twice, keep=keep):
        outcomes.append(outcome)
        if records:
            write_whole(records, to_json(outcomes))  # so that an interrupted job leaves its results
    if update:
        outcomes = running.update(outcomes, log)
    if records:
        write_whole(records, to_json(outcomes))
    if results:
        write_whole(results, to_junit(outcomes))
    page = _regression_page(outcomes, folder, runner, command) if folder else None
    return Regression(Outcome, tuple(outcomes), page=page)


def _regression_page(outcomes: "Sequence[Outcome]", folder: Path, runner: str, command: str) -> Path:
    from touche.reports import Report, part_of, write  # here, because the import takes a second

    parts, remarks = [], [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset in dict.fromkeys(outcome.expected.dataset for outcome in outcomes):
        runs = {
            (run.path, run.dimension): run
            for outcome in outcomes
            if outcome.expected.dataset == dataset
            for run in outcome.evaluated
        }
        try:
            parts += [part_of(scores.with_names([*runs.values()]), dataset)] if runs else []
        except Exception as error:  # one faulty run must not prevent the report
            remarks.append(f"There is no report on {dataset}: {error}.")
    title = "Regression of the baselines of Touché"
    return write(Report(title, command, parts, outcomes, remarks=remarks), folder)


@dataclass(frozen=True)
class ListedImage:
    """The image of a baseline.

    Attributes:
        baseline: the name of the baseline.
        image: the name of the image, such as ``touche/bm25``.
        size: its unpacked size, such as ``504 MB``; empty if it is not built.
        published: the address of the published image; empty if there is none.
    """

    baseline: str
    image: str
    size: str
    published: str


def list_images(
    baselines: str | Sequence[str] = (), *, runner: Literal["docker", "podman"] = "docker"
) -> Table[ListedImage]:
    """Returns the container image of each baseline, whether it is built, and where it is published.

    Args:
        baselines: names or paths of baselines; none for all that ship.
        runner: the program that has the images.

    Raises:
        ToucheError: if there is no such baseline, or the program is not installed.

    Example:
        >>> import touche
        >>> touche.list_images("bm25", runner="buildah")
        Traceback (most recent call last):
        touche.errors.ParameterError: there is no runner 'buildah'; choose among docker, podman.
    """
    from touche.containers import images  # here, because few callers need it

    check_choice("runner", runner, PROGRAMS)
    folders = [folder_of(name).resolve() for name in _names(baselines)]
    listed = [
        ListedImage(
            baseline=folder.name,
            image=images.image_of(folder.name),
            size=images.size(runner, folder.name),
            published=images.published(folder.name) if is_shipped(folder) else "",
        )
        for folder in folders
    ]
    return Table(ListedImage, tuple(listed))


def build_images(
    baselines: str | Sequence[str] = (),
    *,
    runner: Literal["docker", "podman"] = "docker",
    log: Callable[[str], None] = _log.info,
) -> list[str]:
    """Builds the base image and the images of baselines.

    Args:
        baselines: names or paths of baselines; none for all that ship.
        runner: the program that builds them.
        log: receives a line for each image, and the output of a failed build.

    Returns:
        The names of the images of the baselines, such as ``touche/bm25``.

    Raises:
        ToucheError: if there is no such baseline, the program is not installed, or a build fails.

    Example:
        >>> import touche
        >>> touche.build_images("bm26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: there is no baseline 'bm26'; did you mean bm25? ...
    """
    from touche.containers import images  # here, because few callers need it

    check_choice("runner", runner, PROGRAMS)
    chosen = _names(baselines)
    built = [images.image_of(folder_of(name).resolve().name) for name in chosen]
    images.build(runner, chosen, log)
    return built


def _names(baselines: str | Sequence[str]) -> list[str]:
    """Returns the names or paths of baselines; none means all that ship."""
    passed = [baselines] if isinstance(baselines, str | PathLike) else [*baselines]
    return [name_of("baseline", name) for name in passed] or names()
