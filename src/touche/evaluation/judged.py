"""Reads what runs are scored against: for each measure, the task's judgments or the user's own."""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from touche import tasks
from touche.data.judgments import own_qrels, task_qrels
from touche.data.places import find
from touche.data.remedies import remedy
from touche.errors import ToucheError
from touche.evaluation.scoring import Judged
from touche.tasks import MACRO_F1, MEASURE_OF_QUESTION, PAIR, STANCE, Measure, Task, measure_of
from touche.tasks.task_records import MEASURE
from touche.trec.by_stance import CountedLines, topic_in
from touche.trec.qrels import Qrels
from touche.trec.run_forms import QrelsSource

_log = logging.getLogger(__name__)


def judged(
    task: Task | None,
    measures: Iterable[str | None] = (None,),
    qrels: QrelsSource | None = None,
    *,
    any_order: bool = False,
    dimensions: Collection[str] | None = None,
) -> list[Judged]:
    """Returns what to score runs against: each measure in each judged dimension.

    Args:
        task: the task; None if there are only qrels.
        measures: measures in ir_measures' notation; None means the task's own measure.
        qrels: judgments to use instead of the task's. Their dimension is the file's name without its suffix.
        any_order: add a score that also counts pairs judged in the other order.
        dimensions: the task's dimensions to score; None for all.

    Returns:
        The judgments with their measures, measure by measure. A measure that is named twice counts once.
        Missing judgments of stances are left out with a warning, unless only stances are scored.

    Raises:
        ToucheError: if neither a task nor qrels were passed, if judgments are missing or broken, or if there
            are no judgments that fit a measure.
    """
    if task is None and qrels is None:
        raise ToucheError(
            f"neither task nor qrels are known; pass qrels, or a task: {', '.join(tasks.ids())}"
        )
    if any_order and task is None:
        raise ToucheError("any-order is for tasks that rank pairs; pass one of them, or omit any-order")
    if any_order and task is not None and task.rules.unit != PAIR:
        raise ToucheError(f"{task.id} does not rank pairs; omit any-order")
    judged_by_key = dict[tuple[str, Measure], Judged]()
    read = dict[str, Qrels]()  # by dimension
    # By file; for image retrieval, one file contains the judgments for all dimensions.
    answers = dict[Path, Qrels]()
    for name in measures:
        chosen = None if name is None else measure_of(name)
        files = _files(task, chosen, qrels)
        if dimensions is not None:
            files = {dimension: file for dimension, file in files.items() if dimension in dimensions}
        for dimension, file in files.items():
            is_optional = dimension == STANCE and len(files) > 1
            if is_optional and not find("qrels", file):
                path = f"qrels/{file}"
                _log.warning("stances are not scored, because %s is missing; %s", path, remedy(path))
                continue
            if dimension not in read:
                read[dimension] = _read(task, dimension, qrels, answers)
            measure = _measure(task, dimension, chosen)
            judged_dimension = Judged(
                dimension=dimension,
                measure=measure,
                qrels=read[dimension],
                file=file,
                is_official=qrels is None,
                is_chosen=chosen is not None,
                is_optional=is_optional,
            )
            judged_by_key.setdefault((dimension, measure), judged_dimension)
    with_task = [
        judged_dimension if task is None else _with_facts(judged_dimension, task, read)
        for judged_dimension in judged_by_key.values()
    ]
    orders = [False, True] if any_order else [False]
    return [replace(judged_dimension, any_order=order) for judged_dimension in with_task for order in orders]


def _files(task: Task | None, chosen: Measure | None, qrels: QrelsSource | None) -> dict[str, str]:
    """Returns the names of the files of judgments to use, by dimension.

    Args:
        task: the task, if there is one.
        chosen: the measure; None for the task's own.
        qrels: the user's judgments, if there are some.

    Raises:
        ToucheError: if there are no judgments for the measure.
    """
    files = {} if task is None else {name: judgments.file for name, judgments in task.qrels.items()}
    measure = chosen or (task.measure if task else MEASURE)
    ranks_stances = task is not None and task.rules.by_stance  # as for images
    is_of_question = measure in MEASURE_OF_QUESTION.values()
    if is_of_question and not ranks_stances:
        problem = f"{measure} is a measure of rankings for each stance"
        raise ToucheError(f"{problem}; pass a task of image retrieval")
    # If the user's file has the same name as the task's file with judged stances, it contains stances and no
    # grades.
    has_file_of_stances = qrels is not None and not ranks_stances and qrels.file.name == files.get(STANCE)
    scores_stances = measure is MACRO_F1 or (chosen is None and has_file_of_stances)
    if scores_stances and not (task and task.stances and (qrels or STANCE in files)):
        raise ToucheError(f"{MACRO_F1} needs judged stances; pass a task that has some")
    if qrels is not None and ranks_stances:  # for image retrieval, one file judges all dimensions
        files = dict.fromkeys(files, str(qrels.file))
    elif qrels is not None:
        files = {STANCE if scores_stances else _dimension_of(qrels.file): str(qrels.file)}
    elif chosen is not None:  # a measure that the user chose scores either stances or rankings
        files = {name: file for name, file in files.items() if (name == STANCE) == scores_stances}
    # The measure belongs to one of the dimensions of image retrieval, so only this one is scored.
    if task is not None and chosen is not None and is_of_question:
        files = {name: file for name, file in files.items() if task.measure_for(name) == chosen}
    if not files:
        raise ToucheError(f"{measure} needs judged rankings; pass a task that has some, or {MACRO_F1}")
    return files


def _dimension_of(file: Path) -> str:
    """Returns the name of the dimension that the user's own file judges."""
    # Keep the suffix, because the dimension "stance" means the task's judged stances.
    return file.name if file.stem == STANCE else file.stem


def _read(task: Task | None, dimension: str, qrels: QrelsSource | None, answers: dict[Path, Qrels]) -> Qrels:
    """Reads a dimension's judgments: the task's, or the user's.

    Raises:
        ToucheError: if they are missing or broken.
    """
    if qrels is not None and (task is None or (dimension != STANCE and not task.rules.by_stance)):
        return own_qrels(qrels, task)
    assert task is not None  # without a task, there are only the user's qrels
    return task_qrels(task, dimension, qrels, answers)


def _measure(task: Task | None, dimension: str, chosen: Measure | None) -> Measure:
    """Returns a dimension's measure: macro F1 for stances, otherwise the chosen one or the task's."""
    if dimension == STANCE:
        return MACRO_F1
    return chosen or (task.measure_for(dimension) if task else MEASURE)


def _with_facts(judged_dimension: Judged, task: Task, read: Mapping[str, Qrels]) -> Judged:
    """Adds what the task's card says: which lines count, grades and stances.

    Args:
        judged_dimension: what runs are scored against.
        task: the task.
        read: the judgments of all dimensions.
    """
    counted_lines = None
    if task.rules.by_stance:
        counted_lines = CountedLines(
            stances=task.rules.stances,
            ids=task.rules.ids,
            depth=task.rules.max_results,
            topics=frozenset(topic_in(ranking) for qrels in read.values() for ranking in qrels),
        )
    return replace(
        judged_dimension,
        unit=task.rules.unit,
        grades=task.qrels[judged_dimension.dimension].labels if judged_dimension.is_official else frozenset(),
        stances=task.stances if judged_dimension.dimension == STANCE else (),
        counted_lines=counted_lines,
    )
