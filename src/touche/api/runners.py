"""Runs a baseline: in this process, by the workers of a Spark cluster, or in a sandbox."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from touche.baselines.loader import as_baseline, load, names
from touche.baselines.method import Baseline
from touche.baselines.options import as_arguments, checked
from touche.baselines.running import Runs, statistics_named
from touche.containers.limits import RUNNER_NAMES, SPARK, Limits
from touche.data import datasets, places
from touche.documents.collection import Documents
from touche.documents.discovery import Input
from touche.documents.forms import AnyDocuments, documents_in
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError, NotInstalledError, ToucheError, check_choice, counted, warn
from touche.io.identifiers import as_path, dataset_name, name_or_path, optional_path
from touche.io.temporary import temporary_folder
from touche.scan.statistics_files import read_known
from touche.trec.columns import Run
from touche.trec.framed import WrittenFile
from touche.trec.records import AnyTopics, topics_in
from touche.trec.runs import RUN_FILE, read_run
from touche.trec.topics import Topic

HERE = "local"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MASTER = "local[*]"  # Spark's name for all processors of this machine

_Documents = TypeVar("_Documents", bound=Documents)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WrittenRun(WrittenFile):
    """A run in a file, which can be passed as its path.

    Attributes:
        baseline: the name of the baseline.
        path: the path of run.txt; ir-metadata.yml is in the same folder.
        seconds: wall time.
        runner: where the baseline ran.
        without_hits: the topics without results; empty if a sandbox made the run.
        warnings: sentences about the run, without the name of the baseline.
    """

    baseline: str
    path: Path
    seconds: float
    runner: str = HERE
    without_hits: tuple[Topic, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Settings:
    """How a baseline reads its input; the fields are arguments of ``write_run``."""

    dataset: str
    output: Path
    corpus: str | None = None
    statistics: Path | None = None
    keep_statistics: Path | None = None
    runner: str = HERE
    master: str = ""
    topics: Any = None
    documents: Any = field(default=None, repr=False)


def run(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str] | None = None,
    *,
    topics: AnyTopics = None,
    documents: AnyDocuments = None,
    output: str | PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Runs a baseline and returns the run that ``touche run`` would write to run.txt.

    Args:
        baseline: the name of a shipped baseline, the path of a folder with a baseline.py, or a function
            decorated by ``baseline``.
        dataset: the id of a dataset, such as ``spot-check/arguments``, or the path of an input directory.
            A folder with the name of a dataset needs ``./`` before its name. With ``irds:`` before an id of
            ir_datasets, that dataset is downloaded.
        topics: the topics, instead of a dataset, in one of the forms of ``touche.AnyTopics``.
        documents: the documents, instead of a dataset, in one of the forms of ``touche.AnyDocuments``. An
            iterator is read once and stored in memory.
        output: a folder that also gets run.txt and ir-metadata.yml, or None.
        options: options of the baseline by name; other options have their defaults.

    Returns:
        The run. Its ``frame()`` has a row for each hit, with the columns of PyTerrier: qid and docno, texts;
        rank, from 0; score; stance, if the run has stances. A topic without results is a Python warning.

    Raises:
        ToucheError: if there is no such baseline, dataset or option, or the input is unusable. Also if
            neither a dataset nor topics and documents are passed.

    Examples:
        >>> import touche
        >>> texts = {"d1": "Coal is cheap, but dirty.", "d2": "Wind is clean."}
        >>> run = touche.run("bm25", topics={"1": "Is coal cheap?"}, documents=texts)
        >>> [hit.document for hit in run]
        ['d1']
    """
    with temporary_folder("touche-run-") as scratch:
        folder = scratch if output is None else as_path("output", output)
        ranker = as_baseline(baseline)
        values = checked(ranker.options, options)
        written = write_run(ranker, dataset, folder, options=values, topics=topics, documents=documents)
        has_hits = written.path.stat().st_size > 0  # an empty file is no run
        result = read_run(written.path) if has_hits else Run.of([])
        return result.called(ranker.tag(values))  # instead of the path of the file, which may be temporary


def write_run(
    baseline: str | PathLike[str] | Baseline,
    dataset: str | PathLike[str] | None,
    output: str | PathLike[str],
    *,
    options: Mapping[str, Any] = MappingProxyType({}),
    words: Sequence[str] = (),
    topics: AnyTopics = None,
    documents: AnyDocuments = None,
    corpus: str | None = None,
    statistics: str | PathLike[str] | None = None,
    keep_statistics: str | PathLike[str] | None = None,
    tag: str = "",
    team: str = "",
    runner: str = HERE,
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    master: str = _MASTER,
    log: Callable[[str], None] = _log.info,
) -> WrittenRun:
    """Runs a baseline and writes run.txt and ir-metadata.yml, as ``touche run`` does.

    Args:
        baseline, dataset: as for ``run``.
        output: the folder for both files.
        options: options of the baseline by name; other options have their defaults. In a container, the
            image checks them.
        words: options as words of the command line, such as ``--k1 1.2``; only for a container.
        topics: topics instead of a dataset, as for ``run``; a file of topics if the dataset is an address,
            such as ``s3a://bucket/corpus``.
        documents: documents instead of a dataset, as for ``run``.
        corpus: the id of a corpus of ir_datasets, for a folder that has only topics.
        statistics: a file with the statistics of the whole collection, which contains the dataset; or the
            name of statistics in the baseline's folder.
        keep_statistics: a file that gets the statistics.
        tag: the last column of run.txt; empty for the baseline's name and changed options.
        team: the submitting team; empty for the one in ``TOUCHE_TEAM``, or none.
        runner: ``local`` (this process), ``docker``, ``podman``, ``tira`` or ``spark``.
        limits: the limits of a sandbox.
        master: Spark's address.
        log: receives lines about the input and the runner.

    Returns:
        The path of the run, its time in seconds, and its warnings, which are also Python warnings.

    Raises:
        ToucheError: if there is no such baseline, dataset, option or runner, arguments exclude each other,
            the input is unusable, or the output cannot be written.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.write_run("bm25", "spot-check/arguments", folder, options={"k1": 1.2}).path.name
        'run.txt'
    """
    check_choice("runner", runner, [*RUNNER_NAMES, SPARK])
    # Topics with a dataset are for an address, whose folder may lack topics.
    in_memory = documents is not None or (topics is not None and dataset is None)
    is_unusable = topics is None or documents is None or dataset is not None or runner != HERE
    if in_memory and is_unusable:
        problem = "topics and documents replace the dataset, and only of a local run"
        raise ToucheError(f"{problem}; pass a dataset, or both topics and documents")
    source = "" if in_memory else dataset_name(dataset)
    is_input_empty = not in_memory and source == ""
    is_output_empty = name_or_path("output", output) == ""
    if is_input_empty or is_output_empty:
        raise ToucheError("-i or -o is empty; pass the input and the output directory")
    is_address = _ADDRESS.match(source)
    if topics is not None and not in_memory and not is_address:
        raise ToucheError(
            f"the dataset {source} has its own topics; pass topics and documents, or omit topics"
        )
    sandboxes = [name for name in RUNNER_NAMES if name != HERE]
    for argument, is_passed, runners in (
        ("master", master != _MASTER, [SPARK]),
        ("limits", limits != Limits(), sandboxes),
        ("words", bool(words), sandboxes),
    ):
        if is_passed and runner not in runners:
            raise ToucheError(f"{argument} has no effect on the runner {runner}; omit it")
    settings = _Settings(
        dataset=source,
        output=as_path("output", output),
        corpus=corpus,
        statistics=optional_path("statistics", statistics),
        keep_statistics=optional_path("keep_statistics", keep_statistics),
        runner=runner,
        master=master,
        topics=topics,
        documents=documents,
    )
    if runner in sandboxes:
        texts = {"tag": tag, "team": team}
        return _write_in_sandbox(baseline, [*as_arguments(options), *words], settings, texts, limits, log)
    name = "" if isinstance(baseline, Baseline) else name_or_path("baseline", baseline)
    try:
        ranker = baseline if isinstance(baseline, Baseline) else load(name)
        return _write(ranker, checked(ranker.options, options), settings, tag, team, log)
    except NotInstalledError as error:
        if not name:  # ``run``, which passes a baseline and no name, has no images
            raise
        from touche.containers.images import image_advice  # here, because only errors need its 5 ms

        raise NotInstalledError(f"{error}{image_advice(name)}") from error


def _write_in_sandbox(
    baseline: str | PathLike[str] | Baseline,
    words: Sequence[str],
    settings: _Settings,
    texts: Mapping[str, str],
    limits: Limits,
    log: Callable[[str], None],
) -> WrittenRun:
    """Runs the image of a baseline, whose own parser checks the options, so that no code of it runs here.

    Args:
        baseline: the baseline.
        words: its options as words of the command line.
        settings: the input and the output.
        texts: tag and team, each empty if it was not passed.
        limits: the limits of the sandbox.
        log: receives lines about the runner.
    """
    from touche.containers.runs import RUNNERS, Job  # here, because it takes 18 ms

    without_effect = [
        settings.corpus,
        settings.statistics,
        settings.keep_statistics,
    ]
    if any(value is not None for value in without_effect):
        problem = "corpus, statistics and keep_statistics have no effect on the runner"
        raise ToucheError(f"{problem} {settings.runner}; omit them")
    name = baseline.typed if isinstance(baseline, Baseline) else name_or_path("baseline", baseline)
    if isinstance(baseline, Baseline) and not name:
        raise ToucheError(f"{baseline.name} is a function without an image; pass the name of a baseline")
    if settings.dataset.startswith(places.IR_DATASETS):
        raise ToucheError(f"{settings.dataset}: container images do not contain ir_datasets; omit --runner")
    places.check_exists(settings.dataset)
    passed_texts = {option: text for option, text in texts.items() if text}
    arguments = [*words, *as_arguments(passed_texts)]
    job = Job(baseline=name, arguments=arguments, input=settings.dataset, output=settings.output)
    seconds = RUNNERS[settings.runner](job, limits, log).wall
    return WrittenRun(
        baseline=job.name,
        path=job.output / RUN_FILE,
        seconds=seconds,
        runner=settings.runner,
    )


def _write(
    ranker: Baseline,
    options: dict[str, Any],
    settings: _Settings,
    tag: str,
    team: str,
    log: Callable[[str], None],
) -> WrittenRun:
    """Runs a baseline in this process or on Spark."""
    started = time.monotonic()
    if settings.statistics:  # checked here, so that an unusable file leaves an earlier run as it is
        settings = replace(settings, statistics=_statistics_file(ranker, settings.statistics))
    open_input = _on_spark if settings.runner == SPARK else _here
    with open_input(ranker, settings) as source:
        runs = Runs(ranker, source, team)
        log(f"{ranker.name}: {source.description}")
        about_statistics = _about_statistics(runs.source)  # unlike ``source``, with published statistics
        if about_statistics:
            log(f"{ranker.name}: {about_statistics}")
        without_hits = runs.write(settings.output, options, tag)
    warnings = [f"nothing found for topic {topic.number}: {topic.title}" for topic in without_hits]
    has_name_of_shipped = ranker.folder is not None and ranker.name in names() and not ranker.is_shipped
    if has_name_of_shipped and not tag:
        problem = f"{ranker.typed} has the name of a shipped baseline, so its runs get the same tag"
        warnings.insert(0, f"{problem}; rename the folder")
    for warning in warnings:
        warn(f"{ranker.name}: {warning}")
    return WrittenRun(
        baseline=ranker.name,
        path=settings.output / RUN_FILE,
        seconds=time.monotonic() - started,
        runner=settings.runner,
        without_hits=tuple(without_hits),
        warnings=tuple(warnings),
    )


def _statistics_file(baseline: Baseline, named: Path) -> Path:
    """Returns the file that ``statistics`` names: a file, or statistics in the folder of the baseline."""
    in_folder = statistics_named(baseline.folder or Path(), str(named))
    path = in_folder if in_folder.is_file() else named  # statistics of the baseline have priority
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in in_folder.parent.glob("*.json")))
        alternative = f", or one of: {known}" if known else ""
        raise InputError(path, "no such file", f"pass a file written by --keep-statistics{alternative}")
    read_known(path)  # raises if the file has other content
    return path


def _about_statistics(source: Input) -> str:
    """Returns a remark on the statistics by which documents are ranked; empty if no remark is needed.

    A remark is needed if a file replaces the documents' own statistics, or if the baseline lacks the
    published statistics of the whole collection.
    """
    files = source.documents.statistics
    if files and files.known and not files.is_whole:
        return f"ranks by the statistics in {files.known.name}, not by those of the documents"
    # Such files are only written, or the documents are the whole collection.
    if files or source.is_whole or not source.statistics:
        return ""
    return f"has no statistics named {source.statistics}, so it ranks by those of the documents"


@contextmanager
def _here(baseline: Baseline, settings: _Settings) -> Iterator[Input]:
    """Opens the input in this process, which reads no addresses; a context manager, as ``_on_spark``."""
    if _ADDRESS.match(settings.dataset):
        raise ToucheError(
            f"{settings.dataset}: only Spark opens addresses; add --runner spark, or pass a folder"
        )
    yield _opened(baseline, settings)


@contextmanager
def _on_spark(baseline: Baseline, settings: _Settings) -> Iterator[Input]:
    """Opens the input by Spark."""
    from touche import cluster  # here, because it takes 13 ms

    is_address = _ADDRESS.match(settings.dataset)
    if is_address and settings.corpus is not None:
        raise ToucheError(
            f"{settings.dataset}: the input at an address includes its documents; omit --corpus"
        )
    local = None if is_address else _opened(baseline, settings)
    with (
        cluster.started(settings.master, baseline.name) as context,
        cluster.folder_sent(context, baseline.folder, baseline.package) as ship,
    ):
        if local:
            yield cluster.find(context, ship, local)
        else:
            prepare = partial(_prepared, settings=settings)
            yield cluster.find_remote(context, ship, settings.dataset, settings.topics, prepare)


def _opened(baseline: Baseline, settings: _Settings) -> Input:
    """Opens documents in memory, an input directory or a dataset."""
    if settings.documents is not None:
        topics = topics_in(settings.topics)
        documents = documents_in(settings.documents)
        source = Input(
            topics=topics,
            documents=documents,
            description=f"{counted(len(topics), 'topic')} and documents in memory",
            files=documents.paths,
        )
    else:
        needed = baseline.needs_documents
        source = datasets.opened(settings.dataset, settings.corpus, needs_documents=needed)
    return replace(source, documents=_prepared(source.documents, settings))


def _prepared(documents: _Documents, settings: _Settings) -> _Documents:
    """Returns documents with the files of statistics that were passed."""
    statistics = StatisticsFiles(known=settings.statistics, output=settings.keep_statistics)
    return documents.with_statistics(statistics) if statistics else documents
