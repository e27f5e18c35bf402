"""The commands as Python functions: each returns what its command prints."""

import warnings as python_warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from touche import fusion, tasks
from touche.collection.documents import Documents
from touche.data.places import is_available, locate, open_dataset, qrels_of
from touche.errors import ToucheError, check_range, choice
from touche.evaluation import agreement
from touche.evaluation.agreement import Overlap, ScoredOverlap
from touche.evaluation.frames import published
from touche.evaluation.notes import warnings_of
from touche.evaluation.scores import evaluate
from touche.formats.columns import Run, RunLine
from touche.formats.forms import AnyRun, run_of, runs_of
from touche.formats.framed import Table
from touche.formats.qrels import Qrels
from touche.formats.runs import MAX_DEPTH
from touche.formats.topics import Topic, read_topics
from touche.io.opening import check_distinct
from touche.lint import Finding
from touche.lint import lint as linted
from touche.tasks import Published, Task
from touche.tasks.records import UNKNOWN

if TYPE_CHECKING:
    from ir_measures.measures import Measure

    from touche.identify.answer import Answer
    from touche.regression.running import Outcome


class _QrelsByDimension(Mapping[str, Qrels]):
    """The qrels of a task, read when they are used."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getitem__(self, dimension: str) -> Qrels:
        if dimension not in self._task.qrels:
            known = choice(dimension, self._task.qrels)
            raise ToucheError(f"{self._task.id} has no dimension {dimension!r}; {known}")
        return qrels_of(self._task, dimension)

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
        is_file = is_available("topics", self.card.topics)  # BEIR has topics in the folder of the corpus
        topics = read_topics(locate("topics", self.card.topics)) if is_file else open_dataset(self.id).topics
        return Table(Topic, tuple(topics))

    @property
    def qrels(self) -> Mapping[str, Qrels]:
        """The relevance judgments by dimension, such as ``qrels["relevance"]``; each has a ``frame()``."""
        return _QrelsByDimension(self.card)

    @property
    def documents(self) -> Documents:
        """The collection, over which you can iterate repeatedly; ``documents.frame()`` loads all of it."""
        return open_dataset(self.id).documents

    @property
    def published(self) -> Table[Published]:
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


def overlap(
    runs: Sequence[AnyRun], task: str | None = None, *, baseline: tuple[AnyRun, AnyRun] | None = None
) -> Table[Overlap]:
    """Compares each pair of runs by their documents and, with a task, by their scores.

    Args:
        runs: at least two runs, an original before its rerun.
        task: the id of the task whose qrels score the runs; None compares only the documents.
        baseline: the run that the first run improves on, and the rerun of that run. It needs a task.

    Raises:
        ToucheError: if a run is unusable, two runs share no topic, or qrels are missing.
    """
    both = [*baseline] if baseline else []
    named = runs_of([*runs, *both])
    if both and (task is None or len(runs) != 2):
        raise ToucheError("a baseline needs two runs and a task; pass both")
    if task is None:
        return Table(Overlap, tuple(agreement.overlaps(named)))
    card = tasks.task(task)
    evaluated = evaluate(named, tasks.task_scored_by(task, card.measure.name), [agreement.EVALUATOR])
    paths = [*dict.fromkeys(run.path for run in evaluated)]
    records = agreement.scored_overlaps(paths[: len(runs)], evaluated, paths[len(runs) :])
    return Table(ScoredOverlap, tuple(records), tuple(warnings_of(evaluated)))


def fuse(
    runs: Sequence[AnyRun],
    method: str = "rrf",
    *,
    weights: Sequence[float] | None = None,
    tune: Literal["two-fold", "leave-one-topic-out"] | None = None,
    task: str | None = None,
    depth: int = MAX_DEPTH,
    tag: str = "",
) -> Run:
    """Fuses runs into one; documents that several runs rank high come first.

    Args:
        runs: at least two runs.
        method: ``rrf``, ``combsum``, ``combmnz``, ``z-score`` or ``rbc``.
        weights: factors of the runs' scores, one per run; None for equal weights.
        tune: cross-validation, which chooses the weights of each topic by other topics. So the score of the
            fused run is cross-validated.
        task: the id of the task to tune for.
        depth: maximum number of documents per topic.
        tag: the name of the fused run; by default ``touche-`` and the method.

    Raises:
        ToucheError: if a run is unusable or passed twice, there are fewer than two, or there is no such
            method. Also if the weights cannot be tuned.
    """
    if method not in fusion.METHODS:
        raise ToucheError(f"there is no method {method!r}; {choice(method, fusion.METHODS)}")
    check_range("depth", depth, 1, MAX_DEPTH)
    read = [run_of(run) for run in runs_of(runs)]
    check_distinct([run.path for run in read])
    if len(read) < 2:
        raise ToucheError("fusion needs at least two runs; pass more")
    if (tune is None) != (task is None) or (tune and weights is not None):
        raise ToucheError("tuning needs tune and task, and excludes weights; pass both, or only weights")
    for text in fusion.doubts_of(read):
        python_warnings.warn(text, stacklevel=2)
    tag, lines = tag or f"touche-{method}", list[RunLine]()
    for topic, hits in _fused(read, fusion.METHODS[method], depth, weights, tune, task):
        for rank, hit in enumerate(hits, 1):
            stance = hit[2] if len(hit) == 3 else UNKNOWN
            lines.append(RunLine(topic.number, stance, hit[0], rank, hit[1], tag))
    return Run.of(lines, tag)


def _fused(
    runs: Sequence[Run],
    method: fusion.Method,
    depth: int,
    weights: Sequence[float] | None,
    tune: str | None,
    task: str | None,
) -> Iterable[fusion.Ranking]:
    if tune is None:
        return fusion.fused_rankings(runs, method, depth, weights)
    from touche.tuning.weights import tuned  # here, because it takes long to import

    return tuned(runs, method, depth, tasks.task_scored_by(task), tune).rankings


def lint(runs: AnyRun | Sequence[AnyRun], task: str, *, teams: Sequence[str] | None = None) -> Table[Finding]:
    """Checks the runs of a submission against the rules of a task.

    Args:
        runs: one run or several, as files or in any other form.
        task: the id of the task, or of a dataset with another corpus.
        teams: the team of each run; None if all are of one team.

    Returns:
        The findings, with the severity ``error`` or ``warning``. The notes name impossible checks.

    Raises:
        ToucheError: if a run cannot be read as text, or there is no such task.
    """
    named = runs_of(runs)
    if teams is not None and len(teams) != len(named):
        raise ToucheError(f"{len(named)} runs have {len(teams)} teams; name the team of each run")
    paths = [run if isinstance(run, Path) else run.path for run in named]
    by_run = dict(zip(paths, teams, strict=True)) if teams else None
    findings, notes = linted(named, *tasks.dataset(task), by_run)
    return Table(Finding, tuple(findings), notes=tuple(notes))


def identify(run: AnyRun, task: str, *, mean_lengths: Mapping[str, float] = MappingProxyType({})) -> "Answer":
    """Infers the retrieval model, the analysis and the parameters of a run from its scores.

    Worker processes fit the hypotheses. In a script, call the function below ``if __name__ == "__main__":``.

    Args:
        run: a run, or the path of a file ``*.tsv`` with topic, document and score on each line.
        task: the id of a dataset, such as ``touche-2021-task-1/sample``; a part of the documents is enough.
        mean_lengths: known mean lengths of fields in the whole collection, in tokens. Arguments need
            both premises and conclusion, in BEIR's format text and title.

    Returns:
        The answer; its ``frame()`` has the best hypotheses.

    Raises:
        ToucheError: if the run or the dataset is unusable, or both have no common document.
    """
    from touche.identify import identify as identified  # here, because it imports scipy

    is_file = isinstance(run, str | PathLike)
    return identified(Path(run) if is_file else run_of(run), task, mean_lengths)


def report(
    runs: AnyRun | Sequence[AnyRun],
    output: str | PathLike[str],
    task: str | None = None,
    *,
    measure: "str | Measure | None" = None,
    qrels: str | PathLike[str] | None = None,
    reference: str | None = None,
) -> Path:
    """Writes a page on runs: ranks among published results, run comparisons, and topic scores.

    Args:
        runs: one run or several.
        output: the folder for the page.
        task: the id of the task; None if there are only qrels.
        measure, qrels: another measure, or the path of other qrels, as for ``evaluate``.
        reference: the run with which the others are compared, a tag or path; by default the organizers'
            baseline.

    Returns:
        The path of the page.

    Raises:
        ToucheError: if a run is unusable, qrels are missing, or the folder cannot be written.
    """
    from touche.report import Report, part_of, write  # here, because it takes a second to import

    name = None if measure is None else str(measure)
    scored = tasks.task_scored_by(task, name, Path(qrels) if qrels else None)
    part = part_of(evaluate(runs_of(runs), scored), task or scored.id, reference)
    title = f"{len(part.runs)} run{'s' if len(part.runs) > 1 else ''} of {part.dataset}"
    return write(Report(title, "touche.report", [part]), Path(output))


def regress(
    baselines: str | Sequence[str] = (),
    datasets: str | Sequence[str] = (),
    *,
    runner: Literal["local", "docker", "podman", "tira"] = "local",
    twice: bool = False,
) -> "Table[Outcome]":
    """Reruns baselines on every available dataset and compares their scores with the expected ones.

    Args:
        baselines: names or paths of baselines; none for all that ship.
        datasets: ids of datasets; none for all.
        runner: where the baselines run.
        twice: whether each baseline runs twice, to compare run.txt byte by byte.

    Returns:
        The outcomes, each with its verdict.

    Raises:
        ToucheError: if there is no such baseline or dataset.
    """
    from touche.regression import running  # here, because few callers need it
    from touche.sandbox.limits import Limits
    from touche.sandbox.runs import RUNNERS

    if runner not in RUNNERS:
        raise ToucheError(f"there is no runner {runner!r}; {choice(runner, RUNNERS)}")
    names, ids = ([each] if isinstance(each, str) else [*each] for each in (baselines, datasets))
    expected, outcomes = running.expected_of([fspath(name) for name in names], ids)
    outcomes += running.regress(expected, RUNNERS[runner], Limits(), lambda line: None, twice=twice)
    return Table(running.Outcome, tuple(outcomes))
