"""Scores runs. Each file is read once, and each run is evaluated in every dimension."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from touche import tasks
from touche.data.judgments import task_qrels
from touche.data.places import find
from touche.data.remedies import remedy
from touche.errors import InputError, ToucheError, check_choice, one_line, warn
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.image_scores import precision_per_stance
from touche.evaluation.notes import all_notes, all_warnings
from touche.evaluation.scores import Evaluated, Score, Scores
from touche.evaluation.stances import evaluate_stances
from touche.io.progress import watched
from touche.tasks import PAIR, STANCE, Task
from touche.tasks.measures import MEASURE_OF_QUESTION, parse_measures
from touche.trec.by_stance import read_counted, topic_in
from touche.trec.columns import Run
from touche.trec.qrels import Qrels
from touche.trec.run_forms import (
    AnyQrels,
    AnyRun,
    QrelsSource,
    RunSource,
    check_all_are_runs,
    numbered,
    qrels_source,
    run_sources,
)
from touche.trec.runs import LineError, check_unique

if TYPE_CHECKING:
    from ir_measures.measures import Measure

_log = logging.getLogger(__name__)


def evaluate(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
) -> Scores:
    """Scores runs in every dimension of a task.

    Args:
        runs: one run or several, each in any form of ``touche.AnyRun``: a path, a PyTerrier or ir_measures
            frame, scores by topic and document, or records. Use a dictionary such as
            ``{"mine": frame, "theirs": "run.txt"}`` to name them.
        task: the task's id; None if you only pass qrels.
        evaluator: ``trec_eval``, ``touche`` or ``both``.
        pairs: ``any-order`` adds a score that also counts pairs judged in the other order.
        measure: a measure instead of the task's: an ir_measures object or a name such as ``nDCG@10``.
            Several: ``nDCG@5,AP``.
        qrels: qrels instead of the task's, in any form of ``touche.AnyQrels``.

    Returns:
        A ``touche.evaluation.scores.Score`` per run, dimension and evaluator, with values from 0 to 1.
        ``frame()`` returns a DataFrame, ``per_topic`` the topics' scores. Doubtful scores cause Python
        warnings. The notes explain why evaluators differ, and give ranks on the leaderboard.

    Raises:
        ToucheError: if a run is unusable or qrels are missing.

    Examples:
        >>> import touche
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> [score] = touche.evaluate({"mine": ranking}, qrels=qrels, measure="RR")
        >>> score.tag, score.measure, score.mean
        ('mine', 'RR', 0.75)
    """
    evaluated = score(run_sources(runs), task, evaluator, pairs, measure, qrels)
    scores = Scores(
        kind=Score,
        records=tuple(row for run in evaluated for row in run.scores.values()),
        warnings=all_warnings(evaluated),
        notes=all_notes(evaluated),
        topic_scores=tuple(row for run in evaluated for row in run.topic_scores()),
        scored_task=evaluated[0].task,
    )
    for text in scores.warnings:
        warn(text)
    return scores


def score(
    runs: Sequence[RunSource],
    task: str | None,
    evaluator: str | None,
    pairs: str,
    measure: Any,
    qrels: AnyQrels,
) -> list[Evaluated]:
    """Evaluates runs with each measure in every dimension. Arguments as for ``evaluate``, except:

    Args:
        evaluator: None for the one of most published results (``Task.usual_evaluator``), or trec_eval if
            that one doesn't know all measures.
    """
    if evaluator is not None:
        check_choice("evaluator", evaluator, [*EVALUATORS, "both"])
    check_choice("order of pairs", pairs, ["exact", "any-order"])
    source = qrels_source(qrels)
    scored_tasks = tasks.tasks_scored_by(task, parse_measures(measure), source.file if source else None)
    if evaluator is None:
        evaluator = scored_tasks[0].usual_evaluator
        knows_all = all(evaluator in scored.measure.evaluators for scored in scored_tasks)
        evaluator = evaluator if knows_all else "trec_eval"
    evaluators = [] if evaluator == "both" else [evaluator]  # empty stands for all that know the measure
    judged = judgments_of(scored_tasks, source)
    return score_runs(runs, scored_tasks, judged, evaluators, any_order=pairs == "any-order")


def judgments_of(scored_tasks: Sequence[Task], qrels: QrelsSource | None = None) -> dict[str, Qrels]:
    """Reads a task's judgments by dimension. Missing stances are left out with a warning.

    Args:
        scored_tasks: the same task once per measure.
        qrels: judgments to use instead of the task's.

    Raises:
        ToucheError: if judgments are missing or broken.
    """
    judged = dict[str, Qrels]()
    answers = dict[Path, Qrels]()
    for task in scored_tasks:
        for dimension, judgments in task.qrels.items():
            if dimension in judged:
                continue
            path = f"qrels/{judgments.file}"
            if dimension == STANCE and len(task.qrels) > 1 and not find("qrels", judgments.file):
                _log.warning("stances are not scored, because %s is missing; %s", path, remedy(path))
            else:
                judged[dimension] = task_qrels(task, dimension, qrels, answers)
    return judged


def score_runs(
    runs: Sequence[RunSource],
    scored_tasks: Sequence[Task],
    judged: Mapping[str, Qrels],
    evaluators: Sequence[str] = (),
    *,
    any_order: bool = False,
) -> list[Evaluated]:
    """Evaluates runs with several measures in every judged dimension of a task.

    Args:
        runs: the runs.
        scored_tasks: the same task once per measure.
        judged: the judgments by dimension.
        evaluators: names in ``EVALUATORS``; if empty, all that know the measure. If only touche does,
            touche computes it even when only trec_eval is named.
        any_order: evaluate each run once more, counting pairs judged in the other order too.

    Returns:
        The evaluated runs, measure by measure and run by run.

    Raises:
        ToucheError: if a file is unusable, a run is for another task, touche is named but doesn't know the
            measure, or ``any_order`` is set for a task without pairs.
    """
    for task in scored_tasks:
        check_evaluators(task, evaluators)
        if any_order and task.rules.unit != PAIR:
            raise ToucheError(f"{task.id} does not rank pairs; omit any-order")
    if not runs:
        raise ToucheError("no run is passed; pass at least one")
    evaluated_by_task: list[list[Evaluated]] = [[] for _ in scored_tasks]
    for source in watched(runs, "evaluating", "runs", len(runs)):
        try:
            run, skipped = _read(source, scored_tasks[0], judged)
        except InputError:
            check_all_are_runs(runs)
            raise
        for task, evaluated in zip(scored_tasks, evaluated_by_task, strict=True):
            in_task = {dimension: judged[dimension] for dimension in task.qrels if dimension in judged}
            evaluated += _in_every_dimension(run, task, in_task, evaluators, any_order, skipped)
    return with_names([run for evaluated in evaluated_by_task for run in evaluated])


def score_task(
    runs: AnyRun | Sequence[AnyRun],
    task: Task,
    evaluators: Sequence[str] = (),
    *,
    any_order: bool = False,
) -> list[Evaluated]:
    """Evaluates runs with a task's measure and judgments, like ``score_runs``."""
    return score_runs(run_sources(runs), [task], judgments_of([task]), evaluators, any_order=any_order)


def evaluate_dimension(run: Run, task: Task, dimension: str) -> Evaluated:
    """Evaluates a run in one dimension, with all evaluators that know its measure.

    Raises:
        ToucheError: if judgments are missing, unusable or for other topics.
    """
    judgments = task_qrels(task, dimension)
    counted_run, skipped = _read(RunSource(run.path, run, run.path), task, {dimension: judgments})
    return _evaluated(counted_run, task, dimension, judgments, EVALUATORS, False, skipped)


def _read(source: RunSource, task: Task, judged: Mapping[str, Qrels]) -> tuple[Run, Sequence[LineError]]:
    """Returns a run, and an error per line that doesn't count.

    If stances are ranked separately, the run's topics become ranking names such as ``1 PRO``.

    Raises:
        InputError: if the run is unusable or no line counts.
    """
    if not task.rules.by_stance:
        run = source.read()
        if run.ranks_stances:  # until now, a document could be in both stances' rankings
            check_unique(run)
        return run, []
    topics = {topic_in(ranking) for qrels in judged.values() for ranking in qrels}
    rules = task.rules
    run, skipped = read_counted(
        source.path, rules.stances, rules.ids, rules.max_results, topics, source.content
    )
    if not run:
        raise skipped[0] if skipped else InputError(run.path, "the run is empty", "check what wrote it")
    by_stance = source.named(run.by_stance())
    check_unique(by_stance)
    return by_stance, skipped


def _in_every_dimension(
    run: Run,
    task: Task,
    judged: Mapping[str, Qrels],
    evaluators: Sequence[str],
    any_order: bool,
    skipped: Sequence[LineError],
) -> Iterator[Evaluated]:
    """Yields a run evaluated in each judged dimension. A run that only ranks is left out for stances."""
    orders_of_pairs = [False, True] if any_order else [False]  # whether any order counts
    for dimension, qrels in judged.items():
        if dimension != STANCE or len(judged) == 1 or run.has_stances:
            for in_any_order in orders_of_pairs:
                yield _evaluated(run, task, dimension, qrels, evaluators or EVALUATORS, in_any_order, skipped)


def _evaluated(
    run: Run,
    task: Task,
    dimension: str,
    judgments: Qrels,
    evaluators: Collection[str],
    any_order: bool,
    skipped: Sequence[LineError],
) -> Evaluated:
    """Evaluates a run in a dimension, with the evaluators that know the measure.

    If only one evaluator does, that one is used even when it isn't in ``evaluators``.
    """
    lines = in_judged_order(run, judgments) if any_order else run
    measure = task.measure_for(dimension)
    with_measure = measure.evaluators
    chosen = [name for name in with_measure if name in evaluators or len(with_measure) == 1]
    evaluations: dict[str, Evaluation]
    try:
        if dimension == STANCE:
            evaluations = {name: evaluate_stances(lines, judgments, task.stances) for name in chosen}
        elif measure in MEASURE_OF_QUESTION.values():  # of images, which only touche evaluates
            evaluations = {name: precision_per_stance(lines, judgments) for name in chosen}
        else:
            evaluations = {name: EVALUATORS[name](lines, judgments, measure) for name in chosen}
    except ToucheError as error:  # no common topic; the message ends with "check that ..."
        raise ToucheError(f"{run.path}: {error}, and that the run ranks {task.rules.unit}s") from error
    return Evaluated(
        lines=lines,
        task=task,
        dimension=dimension,
        any_order=any_order,
        judgments=judgments,
        evaluations=evaluations,
        skipped=skipped,
        name=run.tag,
    )


def with_names(runs: Sequence[Evaluated]) -> list[Evaluated]:
    """Names the records; a run has a record per measure and dimension."""
    names = unique_names({run.path: run.tag for run in runs})
    return [replace(run, name=names[run.path]) for run in runs]


def unique_names(tags: Mapping[Path, str]) -> dict[Path, str]:
    """Returns a name to show for each run: its tag, or its path if another run shows this tag or path.

    No two runs share a name, even if they look the same after control characters are escaped.

    Args:
        tags: each run's tag by its path.
    """
    shown_tags = {path: one_line(tag) for path, tag in tags.items()}
    shown_paths = {path: one_line(str(path)) for path in tags}
    uses = Counter([*shown_tags.values(), *shown_paths.values()])
    names = dict[Path, str]()
    for path, tag in shown_tags.items():
        is_unique = uses[tag] == (2 if shown_paths[path] == tag else 1)
        name = tag if is_unique else shown_paths[path]
        names[path] = numbered(name, [*names.values()])
    return names


def in_judged_order(run: Run, qrels: Qrels) -> Run:
    """Returns a run of pairs in which pairs are reversed that are only judged in the other order.

    If a run contains a pair in both orders, it stays unchanged, so that no judgment counts twice.
    """
    documents = run.documents.copy()
    for topic, lines in run.by_topic.items():
        judged = qrels.get(topic, {})
        present = set(run.documents[lines])
        for line in lines:
            reversed_pair = ",".join(reversed(documents[line].split(",")))
            if documents[line] not in judged and reversed_pair in judged and reversed_pair not in present:
                documents[line] = reversed_pair
    return replace(run, documents=documents)


def check_evaluators(task: Task, evaluators: Sequence[str]) -> None:
    """Raises a ToucheError if an evaluator doesn't know the task's measure."""
    with_measure = task.measure.evaluators
    has_rankings = bool(task.qrels.keys() - {STANCE})
    # Touche always evaluates stances, so naming it is only an error for rankings. Naming only
    # trec_eval never is: if only touche knows a measure, touche computes it.
    if has_rankings and "touche" in evaluators and with_measure == ["trec_eval"]:
        problem = f"touche, the organizers' script, lacks {task.measure}"
        raise ToucheError(f"{problem}; use only trec_eval")
