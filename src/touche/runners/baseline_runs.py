"""Runs a baseline: in this process, or in a sandbox."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from touche.baselines.baseline_options import as_arguments, checked
from touche.baselines.loader import as_baseline
from touche.baselines.local_runs import Runs, statistics_files
from touche.baselines.method import Baseline
from touche.data import datasets, places
from touche.data.places import shipped_baselines
from touche.documents.discovery import Input
from touche.documents.document_forms import AnyDocuments, documents_in
from touche.errors import ToucheError, check_choice, counted, warn
from touche.io.identifiers import as_path, check_text, dataset_name, name_or_path, optional_path
from touche.runners.limits import HERE, RUNNER_NAMES, SANDBOXES, Limits, RunnerName
from touche.tira.metadata import NO_STATISTICS
from touche.tira.provenance import TEAM_VARIABLE
from touche.trec.columns import Run
from touche.trec.framed import WrittenFile
from touche.trec.runs import RUN_FILE
from touche.trec.topic_forms import AnyTopics, topics_in
from touche.trec.topics import Topic

EMPTY = "-i or -o is empty; pass the input and the output directory"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WrittenRun(WrittenFile):
    """A run in a file. You can pass it wherever a path is accepted.

    Attributes:
        baseline: the baseline's name.
        path: the path of run.txt; ir-metadata.yml is in the same folder.
        seconds: wall time.
        runner: where the baseline ran.
        without_hits: the topics without results; empty if the baseline ran in a sandbox.
        warnings: sentences about the run, without the baseline's name.
    """

    baseline: str
    path: Path
    seconds: float
    runner: str = HERE
    without_hits: tuple[Topic, ...] = ()
    warnings: tuple[str, ...] = ()


def run(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str] | None = None,
    *,
    topics: AnyTopics | None = None,
    documents: AnyDocuments | None = None,
    output: str | PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Runs a baseline and returns the run that ``touche run`` would write to run.txt.

    Args:
        baseline: the name of a shipped baseline, the path of a folder with a baseline.py, whose code runs in
            this process, or a function decorated with ``baseline``.
        dataset: a dataset's id, such as ``spot-check/arguments``, or the path of an input directory. If a
            folder is named like a dataset, write ``./`` before its name. ``irds:`` before an ir_datasets id
            downloads that dataset.
        topics: topics, instead of a dataset, in one of the forms of ``touche.AnyTopics``.
        documents: documents, instead of a dataset, in one of the forms of ``touche.AnyDocuments``. An
            iterator is read into memory.
        output: a folder for run.txt and ir-metadata.yml, or None.
        options: the baseline's options; those you don't pass keep their defaults.

    Returns:
        The run. Its ``frame()`` has a row per hit with PyTerrier's columns: qid and docno (strings), rank
        (from 0), score, and stance if the run contains stances. A topic without results causes a Python
        warning.

    Raises:
        ToucheError: if there is no such baseline, dataset or option, if the input is unusable, or if you pass
            neither a dataset nor topics and documents.

    Examples:
        >>> import touche
        >>> texts = {"d1": "Coal is cheap, but dirty.", "d2": "Wind is clean."}
        >>> run = touche.run("bm25", topics={"1": "Is coal cheap?"}, documents=texts)
        >>> [hit.document for hit in run]
        ['d1']
    """
    name = _name_of_input(dataset, topics, documents)
    folder = optional_path("output", output)
    ranker = as_baseline(baseline)
    values = checked(ranker.options, options)
    with _opened(ranker, name, topics, documents) as source:
        result, _, _ = _run(Runs(ranker, source), values, "", folder, _log.info)
    return result


def write_run(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str] | None,
    output: str | PathLike[str],
    *,
    options: Mapping[str, Any] = MappingProxyType({}),
    words: Sequence[str] = (),
    topics: AnyTopics | None = None,
    documents: AnyDocuments | None = None,
    corpus: str | None = None,
    statistics: str | PathLike[str] | None = None,
    keep_statistics: str | PathLike[str] | None = None,
    tag: str = "",
    team: str = "",
    runner: RunnerName = HERE,
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    log: Callable[[str], None] = _log.info,
) -> WrittenRun:
    """Runs a baseline and writes run.txt and ir-metadata.yml, like ``touche run``.

    Args:
        baseline, dataset: as for ``run``.
        output: the folder for both files.
        options: the baseline's options; those you don't pass keep their defaults. For a container, the image
            checks them.
        words: options as on the command line, such as ``--k1 1.2``; only for a container.
        topics: topics instead of a dataset, as for ``run``.
        documents: documents instead of a dataset, as for ``run``.
        corpus: an ir_datasets corpus, for a folder that contains only topics.
        statistics: a file with statistics of the whole collection that the dataset comes from, the name of
            statistics in the baseline's folder, or ``none`` for the documents' own. By default those that the
            baseline ships for the dataset, or else the documents' own.
        keep_statistics: a file to write the statistics to.
        tag: the last column of run.txt; by default the baseline's name and changed options.
        team: the submitting team; by default the one in ``TOUCHE_TEAM``, or none.
        runner: ``local`` (this process), or a name for ``--runner``.
        limits: limits for a sandbox.
        log: receives lines about the input and the runner.

    Returns:
        The run's path, its time in seconds, and its warnings, which are Python warnings too.

    Raises:
        ToucheError: if there is no such baseline, dataset, option or runner, arguments exclude each other,
            the input is unusable, or the output can't be written.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.write_run("bm25", "spot-check/arguments", folder, options={"k1": 1.2}).path.name
        'run.txt'
    """
    check_choice("runner", runner, RUNNER_NAMES)
    check_text("tag", tag)
    check_text("team", team)
    name = _name_of_input(dataset, topics, documents, runner)
    if name_or_path("output", output) == "":
        raise ToucheError(EMPTY)
    is_in_sandbox = runner in SANDBOXES
    for argument, is_passed, has_effect in (
        ("limits", limits != Limits(), is_in_sandbox),
        ("words", bool(words), is_in_sandbox),
    ):
        if is_passed and not has_effect:
            raise ToucheError(f"`{argument}` has no effect on the runner {runner}; omit it")
    has_statistics = statistics is not None and str(statistics) != NO_STATISTICS
    if is_in_sandbox and (corpus or has_statistics or keep_statistics is not None):
        problem = "`corpus`, files of `statistics` and `keep_statistics` have no effect on the runner"
        raise ToucheError(f"{problem} {runner}; omit them")
    folder = as_path("output", output)
    if is_in_sandbox:
        texts = {
            "tag": tag,
            "team": team or os.environ.get(TEAM_VARIABLE, ""),
            "statistics": str(statistics or ""),
        }
        passed_texts = {option: text for option, text in texts.items() if text}
        arguments = [*as_arguments(options), *words, *as_arguments(passed_texts)]
        return _write_in_sandbox(runner, baseline, arguments, str(name), folder, limits, log)
    ranker = as_baseline(baseline)
    return write_opened_run(
        ranker,
        _opened(ranker, name, topics, documents, corpus),
        folder,
        options,
        statistics=optional_path("statistics", statistics),
        keep_statistics=optional_path("keep_statistics", keep_statistics),
        tag=tag,
        team=team,
        runner=runner,
        log=log,
    )


def write_opened_run(
    ranker: Baseline,
    opened: AbstractContextManager[Input],
    folder: Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    statistics: Path | None = None,
    keep_statistics: Path | None = None,
    tag: str = "",
    team: str = "",
    runner: str = HERE,
    log: Callable[[str], None] = _log.debug,
) -> WrittenRun:
    """Runs a baseline in this process and writes run.txt and ir-metadata.yml.

    Args:
        ranker: the baseline.
        opened: opens the input.
        folder: the folder for both files.
        options, statistics, keep_statistics, tag, team, log: as for ``write_run``.
        runner: what the result says about where the baseline ran.
    """
    started = time.monotonic()
    values = checked(ranker.options, options)
    files = statistics_files(ranker, statistics, keep_statistics)
    with opened as source:
        _, without_hits, warnings = _run(Runs(ranker, source, team, files), values, tag, folder, log)
    return WrittenRun(
        baseline=ranker.name,
        path=folder / RUN_FILE,
        seconds=time.monotonic() - started,
        runner=runner,
        without_hits=tuple(without_hits),
        warnings=tuple(warnings),
    )


def _name_of_input(
    dataset: str | PathLike[str] | None,
    topics: AnyTopics | None,
    documents: AnyDocuments | None,
    runner: str = HERE,
) -> str | None:
    """Returns the input's path or id; None if topics and documents are passed instead."""
    if documents is not None or (topics is not None and dataset is None):
        if topics is None or documents is None or dataset is not None or runner != HERE:
            problem = "`topics` and `documents` replace `dataset`, and only for a local run"
            raise ToucheError(f"{problem}; pass `dataset`, or both `topics` and `documents`")
        return None
    name = dataset_name(dataset)
    if not name:
        raise ToucheError(EMPTY)
    if topics is not None:
        raise ToucheError(
            f"the dataset {name} has its own topics; pass `topics` and `documents`, or omit `topics`"
        )
    return name


@contextmanager
def _opened(
    baseline: Baseline,
    name: str | None,
    topics: AnyTopics | None,
    documents: AnyDocuments | None,
    corpus: str | None = None,
) -> Iterator[Input]:
    """Opens the input named ``name``, or topics and documents if that is None."""
    if name is None:
        assert topics is not None and documents is not None  # ``_name_of_input`` has checked it
        all_topics = topics_in(topics)
        collection = documents_in(documents)
        description = f"{counted(len(all_topics), 'topic')} and documents in memory"
        yield Input(all_topics, collection, description, files=collection.paths)
    elif places.is_address(name):
        raise ToucheError(f"{name}: only Spark opens addresses; see touche spark --help, or pass a folder")
    else:
        yield datasets.opened(name, corpus, needs_documents=baseline.needs_documents)


def _run(
    runs: Runs, options: dict[str, Any], tag: str, output: Path | None, log: Callable[[str], None]
) -> tuple[Run, list[Topic], list[str]]:
    """Returns a run, the topics without results, and warnings, which it also emits."""
    ranker = runs.ranker
    log(f"{ranker.name}: {runs.source.description}")
    if runs.statistics_remark:
        log(f"{ranker.name}: {runs.statistics_remark}")
    result = runs.run(options, tag, output)
    without_hits = runs.without_hits(result)
    warnings = [f"nothing found for topic {topic.number}: {topic.title}" for topic in without_hits]
    shadows_shipped = (
        ranker.folder is not None and ranker.name in shipped_baselines() and not ranker.is_shipped
    )
    if shadows_shipped and not tag:
        problem = f"{ranker.name_or_path} has the name of a shipped baseline, so its runs get the same tag"
        warnings.insert(0, f"{problem}; rename the folder")
    for warning in warnings:
        warn(f"{ranker.name}: {warning}")
    return result, without_hits, warnings


def _write_in_sandbox(
    runner: str,
    baseline: str | PathLike[str] | Baseline,
    arguments: Sequence[str],
    dataset: str,
    output: Path,
    limits: Limits,
    log: Callable[[str], None],
) -> WrittenRun:
    """Runs a baseline's image, which checks the options, so that none of its code runs here."""
    from touche.runners.container_runs import RUNNERS, Job  # imported late: takes 18 ms

    if isinstance(baseline, Baseline):
        name = baseline.name_or_path
        if not name:
            raise ToucheError(f"{baseline.name} is a function without an image; pass the name of a baseline")
    else:
        name = name_or_path("baseline", baseline)
    if dataset.startswith(places.IR_DATASETS):
        raise ToucheError(f"{dataset}: container images do not contain ir_datasets; omit --runner")
    places.check_exists(dataset)
    job = Job(baseline=name, arguments=arguments, input=dataset, output=output)
    seconds = RUNNERS[runner](job, limits, log).wall
    return WrittenRun(baseline=job.name, path=job.output / RUN_FILE, seconds=seconds, runner=runner)
