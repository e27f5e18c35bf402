"""Sweeps: a baseline run with every setting of a grid; many settings share a pass over the collection."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from touche.baselines.method import Baseline
from touche.baselines.running import Runs
from touche.collection.discovery import Input
from touche.collection.parts import PostponedError, Readings
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.cross_validation import CrossValidation, Fold, cross_validated
from touche.formats.topics import Topic, in_order
from touche.progress import watched
from touche.tasks import Task
from touche.tira.outputs import RUN_FILE
from touche.tuning.results import Options, Setting, SettingScore, Sweep
from touche.tuning.resuming import Resumption


def sweep(
    ranker: Baseline,
    given: Input,
    output: Path,
    settings: Sequence[Options],
    task: Task,
    evaluator: str,
    cross_validation: str | None = None,
) -> Sweep:
    """Runs a baseline with each of some settings, and scores the runs.

    The runs equal those of ``touche run``, byte by byte. The folder of a setting is named by the run's tag. A
    complete run with the same input, options and code is not repeated.

    Args:
        ranker: baseline.
        given: its input; read once for all settings that start with the same counts.
        output: folder for the folders of the settings.
        settings: values of all options of the baseline, per setting.
        task: task of the runs, with its measure.
        evaluator: ``trec_eval`` or ``touche``.
        cross_validation: a name in ``FOLDS``, or None.

    Raises:
        ToucheError: if two settings have the same tag, a run fails or cannot be scored; runs before it
            remain.
    """
    folders = [output / quote(ranker.tag(dict(setting)), safe="=,") for setting in settings]
    if twins := [folder.name for number, folder in enumerate(folders) if folder in folders[:number]]:
        problem = f"two settings have the tag {twins[0]}"
        raise ToucheError(f"{problem}; rename one of the files in their options")
    names = [name for name in ranker.options if len({setting[name] for setting in settings}) > 1]
    pairs = zip(settings, folders, strict=True)
    runs = [Setting(options, {name: options[name] for name in names}, folder) for options, folder in pairs]
    made, without_hits = _complete(Runs(ranker, _shared(given)), runs)
    doubts = [f"{ranker.name}: nothing found for topic {each.number}: {each.title}" for each in without_hits]
    found = Sweep(ranker.name, _scores(runs, task, evaluator), {}, made, doubts)
    if cross_validation:
        by_dimension = found.by_dimension.items()
        validations = {name: _validated(of_one, cross_validation) for name, of_one in by_dimension}
        found = replace(found, cross_validations=validations)
    return found


def _shared(given: Input) -> Input:
    """Returns the input with documents that several rankings share."""
    return replace(given, documents=replace(given.documents, readings=Readings()))


def _complete(runs: Runs, settings: Sequence[Setting]) -> tuple[int, list[Topic]]:
    """Completes the runs; returns the number of new runs, and topics without hits in one of them."""
    resumption, without_hits = Resumption(runs), dict[str, Topic]()
    waiting = [setting for setting in settings if not resumption.is_complete(setting.folder, setting.options)]
    made = _in_passes(runs, waiting)
    for setting, topics in watched(made, "sweeping", "settings", len(waiting)):
        resumption.complete(setting.folder, setting.options)
        without_hits |= {topic.number: topic for topic in topics}
    return len(waiting), [*without_hits.values()]


def _in_passes(runs: Runs, waiting: Sequence[Setting]) -> Iterator[tuple[Setting, list[Topic]]]:
    """Runs the settings, grouped by shared passes; yields each with its topics without hits."""
    readings = runs.given.documents.readings or Readings()
    while waiting:
        postponed = []
        readings.begin_pass()
        for setting in waiting:
            try:
                yield setting, runs.write(setting.folder, dict(setting.options))
            except PostponedError:
                postponed.append(setting)
            readings.begin_ranking()
        waiting = postponed


def _scores(settings: Sequence[Setting], task: Task, evaluator: str) -> list[SettingScore]:
    """Returns the score of each run in every ranked dimension."""
    rows = []
    for setting in watched(settings, "evaluating", "runs", len(settings)):
        for run in scores.evaluate([setting.folder / RUN_FILE], task, [evaluator]):
            if run.is_ranking:
                score, evaluation = run.scores[evaluator], run.evaluations[evaluator]
                figures = score.mean, score.low, score.high, score.judged, evaluation.per_topic
                rows.append(SettingScore(setting, run.dimension, str(run.measure), evaluator, *figures))
    if not rows:
        raise ToucheError(f"{task.id} has no judgments of rankings; pass some with --qrels")
    return rows


def _validated(rows: Sequence[SettingScore], method: str) -> CrossValidation[Setting]:
    """Cross-validates the choice of the best setting in one dimension."""
    by_folder = {row.setting.folder: row for row in rows}
    topics = sorted({topic for row in rows for topic in row.values}, key=in_order)
    found = cross_validated({folder: row.values for folder, row in by_folder.items()}, topics, method)
    folds = [Fold(by_folder[fold.choice].setting, fold.values) for fold in found.folds]
    return CrossValidation(method, folds)
