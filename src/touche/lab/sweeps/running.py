"""Sweeps: runs a baseline with every setting of a grid. Many settings share one reading of the collection."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from touche import tasks
from touche.baselines.loader import as_baseline
from touche.baselines.local_runs import Runs
from touche.baselines.method import Baseline
from touche.data.datasets import opened
from touche.data.places import is_dataset
from touche.documents.discovery import Input
from touche.errors import InputError, ParameterError, ToucheError, check_choice, warn
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.image_scores import means_of_topics
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import rank_of
from touche.evaluation.notes import doubts
from touche.evaluation.scores import rows
from touche.evaluation.scoring import Judged, Scored, check_evaluators, ranks_stances, score
from touche.io.formats import csv_text
from touche.io.grouping import group_by
from touche.io.identifiers import check_path, check_tag, dataset_name, optional_path
from touche.io.progress import watched
from touche.io.temporary import temporary_folder
from touche.io.writing import check_outputs, write_whole
from touche.lab.sweeps.cross_validation import FOLDS, CrossValidation, cross_validated
from touche.lab.sweeps.grid import grid_settings
from touche.lab.sweeps.results import Options, Setting, SettingScore, Sweep
from touche.lab.sweeps.shared_documents import SharedDocuments
from touche.reports import plots
from touche.tasks import Task
from touche.tasks.measures import parse_measures
from touche.tira.metadata import METADATA_FILE
from touche.trec.framed import Table
from touche.trec.run_forms import AnyQrels, RunSource, qrels_source
from touche.trec.runs import RUN_FILE

if TYPE_CHECKING:
    from ir_measures.measures import Measure

SETTINGS_FILE = "settings.csv"
FOLDS_FILE = "folds.csv"

_log = logging.getLogger(__name__)


def sweep(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str],
    grid: Mapping[str, Iterable[Any]],
    *,
    task: str | None = None,
    output: str | PathLike[str] | None = None,
    overwrite: bool = False,
    evaluator: str = "trec_eval",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels | None = None,
    cross_validation: str | None = None,
    log: Callable[[str], None] = _log.info,
) -> Sweep:
    """Runs a baseline with every setting of a grid and scores the runs, like ``touche sweep``.

    Args:
        baseline: a shipped baseline's name, the path of a folder with a baseline.py, or a function decorated
            with ``baseline``.
        dataset: a dataset's id, such as ``spot-check/arguments``, or an input directory.
        grid: the values of some options by name, such as ``{"k1": [0.6, 1.2], "b": [0.4]}``. The others keep
            their defaults.
        task: the task's id; None for the dataset's task.
        output: a new folder for the runs, settings.csv, folds.csv and heat maps; None discards the runs.
        overwrite: allow an existing folder. Only files that this sweep writes are replaced.
        evaluator: ``trec_eval``, which also scores topics that a setting finds nothing for, or ``touche``.
        measure: a measure instead of the task's: an ir_measures object or a name such as ``nDCG@10``.
            Several: ``nDCG@5,AP`` or a list.
        qrels: qrels instead of the task's, in any form of ``touche.AnyQrels``.
        cross_validation: ``two-fold`` or ``leave-one-topic-out``, or None.
        log: called with a line about the input.

    Returns:
        All settings' scores. ``frame()`` returns a table, and ``heat_map(dimension)`` a figure. Doubtful
        scores cause Python warnings.

    Raises:
        ToucheError: if the baseline, dataset, option or task doesn't exist, the input is unusable, the output
            exists, or judgments are missing.

    Examples:
        >>> import touche
        >>> dataset, grid = "spot-check/arguments", {"k1": [0.6, 1.2]}
        >>> sweep = touche.sweep("bm25", dataset, grid, measure=["nDCG@5", "AP"])
        >>> [(score.setting.swept["k1"], score.measure) for score in sweep.scores]
        [(0.6, 'nDCG@5'), (0.6, 'AP'), (1.2, 'nDCG@5'), (1.2, 'AP')]
    """
    check_choice("evaluator", evaluator, EVALUATORS)
    if cross_validation is not None:
        check_choice("cross-validation", cross_validation, FOLDS)
    ranker = as_baseline(baseline)
    settings = grid_settings(ranker.options, grid)
    folder = optional_path("output", output)
    with _new_folder(folder, overwrite) if folder else temporary_folder("touche-sweep-") as run_folder:
        name = dataset_name(dataset)
        # A dataset's id also names its task. An input directory doesn't.
        if task is None and is_dataset(name):
            task = name
        judgments = qrels_source(qrels)
        card = None if task is None else tasks.task(task)
        to_judge = judged(card, parse_measures(measure), judgments)
        check_evaluators(to_judge, [evaluator])
        source = opened(name, needs_documents=ranker.needs_documents)
        log(f"{ranker.name}: {source.description}")
        if folder and folder.exists():
            tables = [folder / SETTINGS_FILE, folder / FOLDS_FILE]
            check_outputs(tables, [judgments.path] if judgments and judgments.content is None else [])
        result = run_settings(
            ranker, source, run_folder, settings, card, to_judge, evaluator, cross_validation
        )
    if folder:
        result = replace(result, warnings=[*result.warnings, *_write_tables(result, folder)])
    for text in result.warnings:
        warn(text)
    return result


@contextmanager
def _new_folder(folder: Path, overwrite: bool) -> Iterator[Path]:
    """Yields the sweep's output. After an error, removes new folders that are empty, and the runs if an
    option had a wrong value.

    Args:
        folder: the sweep's output.
        overwrite: whether it may exist; then nothing is removed.

    Raises:
        InputError: if it exists and mustn't.
    """
    check_path(folder)
    new_folders = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    if not new_folders and not overwrite:
        raise InputError(folder, "already exists", "choose a new directory, or pass --overwrite")
    try:
        yield folder
    except BaseException as error:
        if new_folders:
            # A baseline checks a value's range when that setting runs, after other settings have run.
            # Files with other names may belong to the user or the baseline.
            written = {RUN_FILE, METADATA_FILE} if isinstance(error, ParameterError) else set()
            for parent, _, files in os.walk(folder, topdown=False):  # nothing if it can't exist
                for name in written.intersection(files):
                    Path(parent, name).unlink()
                with suppress(OSError):  # it is not empty
                    Path(parent).rmdir()
            for path in new_folders[1:]:
                with suppress(OSError):
                    path.rmdir()
        raise


def _write_tables(result: Sweep, folder: Path) -> list[str]:
    """Writes tables, and heat maps if options vary. Returns warnings about missing heat maps."""
    problems = []
    write_whole(folder / SETTINGS_FILE, csv_text(result.scores))
    (folder / FOLDS_FILE).unlink(missing_ok=True)  # of an earlier sweep
    if result.cross_validations:
        write_whole(folder / FOLDS_FILE, csv_text(result.folds()))
    if not result.settings[0].swept:  # nothing varies
        return []
    for dimension in result.by_dimension:
        try:
            figure = result.heat_map(dimension)
        except ToucheError as error:  # no matplotlib, or no setting has a mean
            problems.append(f"no heat map: {error}")
        else:
            plots.save(figure, folder / f"heat-map-{quote(dimension, safe='')}")
    return problems


def run_settings(
    ranker: Baseline,
    source: Input,
    output: Path,
    settings: Sequence[Options],
    task: Task | None,
    to_judge: Sequence[Judged],
    evaluator: str,
    cross_validation: str | None = None,
) -> Sweep:
    """Runs a baseline with several settings and scores the runs.

    Each run is the same, byte by byte, as one from ``touche run``. A setting's folder is named after the
    run's tag.

    Args:
        ranker: the baseline.
        source: its input. Settings whose rankings need the same counts share them.
        output: a folder for the settings' folders.
        settings: the values of all options, per setting.
        task: the runs' task, if there is one.
        to_judge: what to score the runs against.
        evaluator: ``trec_eval`` or ``touche``.
        cross_validation: a name in ``FOLDS``, or None.

    Raises:
        ToucheError: if two settings have the same tag, a run fails (the runs before it remain), or a run
            can't be scored (all runs remain).
    """
    rankings = [judged_dimension for judged_dimension in to_judge if not judged_dimension.stances]
    if not rankings:
        raise ToucheError("there are no judgments of rankings; pass qrels")
    with_folders = _settings_with_folders(ranker, output, settings)
    # All settings share what was read, so that documents aren't read again for each setting.
    runs = Runs(ranker, replace(source, documents=SharedDocuments.sharing(source.documents)))
    by_folder = dict[Path, list[SettingScore]]()
    topic_warnings = dict[str, None]()  # keep one of each: several settings may find nothing for a topic
    unscored = list[ToucheError]()  # errors of runs that can't be scored
    for setting in watched(with_folders, "sweeping", "settings", len(settings)):
        run = runs.run(dict(setting.options), output=setting.folder)
        for topic in runs.without_hits(run):
            topic_warnings[f"{ranker.name}: nothing found for topic {topic.number}: {topic.title}"] = None
        file = setting.folder / RUN_FILE
        try:
            read = RunSource(file, run, file).read(by_stance=ranks_stances(rankings))
            scored = score([read], rankings, [evaluator])
        except ToucheError as error:
            unscored.append(error)
            continue
        by_folder[setting.folder] = _scores(setting, scored, task)
    if unscored:
        raise unscored[0]
    scores = tuple(score for setting in with_folders for score in by_folder[setting.folder])
    result = Sweep(
        baseline=ranker.name,
        scores=Table(SettingScore, scores),
        cross_validations={},
        warnings=[*topic_warnings, *_doubts(scores)],
    )
    return result if cross_validation is None else _with_cross_validations(result, cross_validation)


def _settings_with_folders(ranker: Baseline, output: Path, settings: Sequence[Options]) -> list[Setting]:
    """Returns the settings with their folders, which are named after the runs' tags."""
    tags = Counter(ranker.tag(dict(setting)) for setting in settings)
    for tag in tags:
        check_tag(tag)
    repeated, number = tags.most_common(1)[0]
    if number > 1:  # a tag only contains a path's last part, so paths in different folders can clash
        raise ToucheError(f"two settings have the tag {repeated}; rename one of the files in their options")
    swept = [name for name in ranker.options if len({setting[name] for setting in settings}) > 1]
    return [
        Setting(
            options=options,
            swept={name: options[name] for name in swept},
            folder=output / quote(tag, safe="=,"),
        )
        for options, tag in zip(settings, tags, strict=True)  # tags are unique and in the same order
    ]


def _scores(setting: Setting, scored: Sequence[Scored], task: Task | None) -> list[SettingScore]:
    """Returns a setting's scores without its run, because a sweep may have thousands."""
    ranks = {scored_run: rank_of(scored_run, task) for scored_run in scored}
    return [
        SettingScore(
            **vars(row),
            setting=setting,
            values=means_of_topics(scored_run.evaluation.per_topic),
            doubts=tuple(doubts({scored_run.evaluator: scored_run}, task)),
        )
        for scored_run, row in zip(scored, rows(scored, task, ranks), strict=True)
    ]


def _doubts(scores: Iterable[SettingScore]) -> Iterator[str]:
    """Yields each doubt about the scores once, with the first setting it applies to."""
    pairs = [(f"{score.dimension}: {doubt}", score.setting) for score in scores for doubt in score.doubts]
    for text, group in group_by(pairs, lambda pair: pair[0]).items():
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        yield f"{group[0][1]}{more}, {text}"


def _with_cross_validations(sweep: Sweep, method: str) -> Sweep:
    """Cross-validates the choice of the best setting in each dimension. If that fails, it's a warning."""
    validations = dict[str, CrossValidation[Setting]]()
    problems = list[str]()
    for dimension, scores in sweep.by_dimension.items():
        candidates = [(score.setting, score.values) for score in scores]
        try:
            validations[dimension] = cross_validated(candidates, method)
        except ToucheError as error:  # the scores are valid anyway
            problems.append(f"{dimension}: {error}")
    return replace(sweep, cross_validations=validations, warnings=[*sweep.warnings, *problems])
