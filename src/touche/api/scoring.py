"""Scores runs of any form, and names the reference among them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from touche import tasks
from touche.errors import ToucheError, check_choice, warn
from touche.evaluation import scores
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.notes import score_notes, score_warnings
from touche.evaluation.scores import Evaluated
from touche.io.identifiers import expanded
from touche.io.opening import resolved
from touche.tasks.measures import parse_measures
from touche.trec.columns import Run
from touche.trec.forms import (
    IN_MEMORY,
    AnyQrels,
    AnyRun,
    file_of_qrels,
    is_file_of_qrels,
    list_of_runs,
    read_runs,
    run_of,
)

_T = TypeVar("_T")


def score(
    runs: Sequence[Path | Run],
    task: str | None,
    measure: Any,
    qrels: AnyQrels,
    evaluator: str,
    any_order: bool = False,
) -> list[list[Evaluated]]:
    """Evaluates runs by each measure; qrels without a file are written to a temporary file.

    Args:
        runs: the runs, with different names.
        task, measure, qrels: as for ``touche.evaluate``.
        evaluator: an evaluator, or ``both``.
        any_order: whether to add a score that also counts pairs judged in the other order.

    Returns:
        For each measure, the evaluated runs in every dimension.
    """
    check_choice("evaluator", evaluator, [*EVALUATORS, "both"])
    evaluators = [] if evaluator == "both" else [evaluator]  # if empty, all that have the measure
    with file_of_qrels(qrels) as path:
        scored_tasks = tasks.tasks_scored_by(task, parse_measures(measure), path)
        by_measure = scores.evaluate_by(runs, scored_tasks, evaluators, any_order=any_order)
    return [naming_qrels(qrels, group) for group in by_measure]


def naming_qrels(qrels: AnyQrels, runs: Sequence[Evaluated]) -> list[Evaluated]:
    """Returns evaluated runs; qrels in memory or a pipe have a name instead of a temporary file."""
    if qrels is None or is_file_of_qrels(qrels):
        return [*runs]
    return [replace(run, qrels=IN_MEMORY) for run in runs]


def with_reference(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun], reference: AnyRun | None
) -> tuple[list[Path | Run], str | Path | None]:
    """Returns runs with different names, and the name or path of the reference among them."""
    sources = list_of_runs(runs)
    # Only the dictionary has the names of its runs. In other forms, ``runs`` may be an iterator, now used up.
    named = read_runs(runs if isinstance(runs, Mapping) else sources)
    return named, reference_name(reference, sources, named)


def reference_name(
    reference: AnyRun | None, sources: Sequence[AnyRun], runs: Sequence[Path | Run]
) -> str | Path | None:
    """Returns the path of the run that is the reference; another text is returned as a tag.

    Args:
        reference: the reference; None if there is none.
        sources: the runs as they were passed.
        runs: the same runs with different names.

    Raises:
        ToucheError: if the reference is neither a text nor one of the runs.
    """
    if reference is None:
        return None
    paths = [run.path if isinstance(run, Run) else run for run in runs]
    if isinstance(reference, str | PathLike):
        name = expanded(reference)
        for source, path in zip(sources, paths, strict=True):
            is_file = isinstance(source, str | PathLike)
            if is_file and resolved(expanded(source)) == resolved(name):
                return path
        return name  # a tag; if no run has it, ``run_named`` raises an error
    # A reference in memory is the same object as one of the runs, or has the same lines.
    for source, path in zip(sources, paths, strict=True):
        if source is reference:
            return path
    untagged = run_of(reference).called("")  # the names in a dictionary replace tags
    equal = [path for run, path in zip(runs, paths, strict=True) if run_of(run).called("") == untagged]
    if len(equal) != 1:
        problem = f"{len(equal)} of the runs have" if equal else "none of the runs has"
        raise ToucheError(f"{problem} the same lines as the reference; pass one of the runs, or its tag")
    return equal[0]


def all_warnings(by_measure: Sequence[Sequence[Evaluated]]) -> tuple[str, ...]:
    """Returns the warnings about the scores of all measures, each once."""
    return tuple(dict.fromkeys(text for group in by_measure for text in score_warnings(group)))


def all_notes(by_measure: Sequence[Sequence[Evaluated]]) -> tuple[str, ...]:
    """Returns the notes on the scores of all measures, each once, then the note on the task's results."""
    notes = [text for group in by_measure for text in score_notes(group)]
    task = by_measure[0][0].task  # the same for all measures
    if task.results_note:
        notes.append(f"{task.id}: {task.results_note}")
    return tuple(dict.fromkeys(notes))


def warned(result: _T) -> _T:
    """Returns a result whose warnings are also Python warnings, in the line that called the library."""
    for text in result.warnings:  # type: ignore[attr-defined]
        warn(text)
    return result
