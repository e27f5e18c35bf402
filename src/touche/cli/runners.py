"""Runners of ``touche run``: this process, the workers of a Spark cluster, or a sandbox."""

import errno
import logging
import re
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from touche import baselines
from touche.baselines.loader import frames_of
from touche.baselines.method import Baseline
from touche.baselines.neighbours import without_packages
from touche.baselines.options import arguments_of
from touche.baselines.running import Runs, statistics_named
from touche.cli.output import BROKEN, tell, warn
from touche.cli.runner_options import check_runner
from touche.containers.limits import Limits
from touche.data import datasets, places
from touche.documents.collection import Documents
from touche.documents.discovery import Input
from touche.documents.parquet import check_no_fields
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError, NotInstalledError, ToucheError
from touche.io.progress import say
from touche.scan.statistics_files import read_known
from touche.trec.runs import RUN_FILE

HERE, SPARK = "local", "spark"

_Documents = TypeVar("_Documents", bound=Documents)

_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST = 200  # characters of an error message
_NOBODYS_FAULT = (errno.EPIPE, errno.ENOSPC)  # standard output is closed, or the disk is full

_log = logging.getLogger("touche")


def run_baseline(name: str, baseline: Baseline, options: dict[str, Any], shared: Namespace) -> None:
    """Runs a baseline; only the runners local and spark import its code here.

    Args:
        name: name of the baseline, or path of its folder.
        baseline: its declaration.
        options: values of all its own options.
        shared: values of the options that all baselines share.

    Raises:
        ToucheError: if options exclude each other, or the run fails.
    """
    check_runner(shared.runner)
    if not shared.given or not shared.output:
        raise ToucheError("-i or -o is empty; pass the input and the output directory")
    if shared.runner not in (HERE, SPARK):
        return _run_sandboxed(name, baseline.changed(options), shared)
    try:
        _run(baselines.load(name), options, shared)
    except NotInstalledError as error:
        from touche.containers.images import instead  # here, because only errors need its 5 ms

        raise NotInstalledError(f"{error}{instead(name)}") from error


def _run_sandboxed(name: str, changed: dict[str, Any], shared: Namespace) -> None:
    from touche.containers.runs import RUNNERS, Job  # here, because it takes 18 ms

    places.check_exists(shared.given)
    names = {each: value for each in ("tag", "team") if (value := getattr(shared, each))}
    job = Job(name, arguments_of(changed | names), shared.given, Path(shared.output))
    usage = RUNNERS[shared.runner](job, Limits(shared.cpus, shared.memory, shared.seconds), tell)
    tell(f"{job.name}: {job.output / RUN_FILE} by {shared.runner}: {usage}")


def _run(baseline: Baseline, options: dict[str, Any], shared: Namespace) -> None:
    started, output = time.monotonic(), Path(shared.output)
    if shared.statistics:  # before an earlier run is overwritten
        shared.statistics = _statistics_file(baseline, shared.statistics)
    with (_on_spark if shared.runner == SPARK else _here)(baseline, shared) as collection:
        runs = Runs(baseline, collection, shared.team or "")
        tell(f"{baseline.name}: {collection.took}")
        if line := _about_statistics(runs.given):
            tell(f"{baseline.name}: {line}")
        if baseline.name in baselines.names() and not baseline.is_shipped and not shared.tag:
            problem = f"{baseline.typed} is not the shipped baseline, but its runs get the same tag"
            warn(f"{problem}; rename the folder", of=baseline.name)
        with own_frames(baseline):
            without_hits = runs.write(output, options, shared.tag or "")
    for topic in without_hits:
        warn(f"nothing found for topic {topic.number}: {topic.title}", of=baseline.name)
    tell(f"{baseline.name}: wrote {output / RUN_FILE} in {time.monotonic() - started:.1f} s")


def _statistics_file(baseline: Baseline, given: Path) -> Path:
    """Returns the file that --statistics names: a file, or statistics in the folder of the baseline."""
    own = statistics_named(baseline.folder or Path(), str(given))
    path = own if own.is_file() else given  # a known name is no path, unless it begins with ./
    if not path.exists():
        names = ", ".join(sorted(file.stem for file in own.parent.glob("*.json")))
        remedy = "pass a file written by --keep-statistics" + (f", or one of: {names}" if names else "")
        raise InputError(path, "no such file", remedy)
    read_known(path)
    return path


def _about_statistics(source: Input) -> str:
    """Describes the statistics by which a part of a collection is ranked; empty if none are published."""
    files = source.documents.statistics
    if files and files.is_whole:
        return ""
    if files and files.known:
        return f"ranks by the statistics in {files.known.name}, not by the documents' own"
    if source.statistics and not (files or source.is_whole):
        return f"has no statistics named {source.statistics}, and ranks by the documents' own"
    return ""


@contextmanager
def _here(baseline: Baseline, shared: Namespace) -> Iterator[Input]:
    for address in filter(_URI.match, (shared.given, shared.keep_fields or "")):
        raise ToucheError(f"{address}: only Spark opens addresses; add --runner spark, or pass a folder")
    if shared.keep_fields:
        check_no_fields(shared.keep_fields, (path.name for path in Path(shared.keep_fields).glob("*")))
    yield _opened(baseline, shared)


@contextmanager
def _on_spark(baseline: Baseline, shared: Namespace) -> Iterator[Input]:
    """Opens the input by Spark, with --resume from the folder of parts."""
    from touche import cluster  # here, because it takes 13 ms

    if shared.resume and shared.keep_fields:
        problem = "--resume does not read parts again, so it cannot save their fields"
        raise ToucheError(f"{problem}; omit --resume or --keep-fields")
    is_uri = _URI.match(shared.given)
    if is_uri and shared.corpus is not None:
        raise ToucheError(f"{shared.given}: an address has its own documents; omit --corpus")
    local = None if is_uri else _opened(baseline, shared)
    with (
        cluster.started(shared.master, baseline.name) as context,
        cluster.folder_sent(context, baseline.folder) as ship,
    ):
        if local:
            collection = cluster.find(context, ship, local)
        else:
            prepared = partial(_prepared, shared=shared)
            collection = cluster.find_remote(context, ship, shared.given, shared.topics, prepared)
        parts = Path(shared.output) / "parts" if shared.resume else None
        saved = cluster.saved(collection, parts, baseline.folder) if parts else nullcontext(collection)
        with saved as resumed:
            yield resumed


def _opened(baseline: Baseline, shared: Namespace) -> Input:
    opened = datasets.opened(shared.given, shared.corpus, needs_documents=baseline.needs_documents)
    return replace(opened, documents=_prepared(opened.documents, shared))


def _prepared(documents: _Documents, shared: Namespace) -> _Documents:
    """Adds the statistics, and the folder for fields, to the documents."""
    statistics = StatisticsFiles(known=shared.statistics, output=shared.keep_statistics)
    documents = documents.with_statistics(statistics) if statistics else documents
    return documents.keeping_fields(shared.keep_fields) if shared.keep_fields else documents


@contextmanager
def own_frames(baseline: Baseline) -> Iterator[None]:
    """Shows an error of a baseline's code with frames of its folder; --verbose shows all frames."""
    try:
        yield
    except ToucheError:
        raise
    except SystemExit as error:
        if type(error) is not SystemExit:  # a signal
            raise
        problem = f"the baseline {baseline.name} ended the program with exit code {error.code or 0}"
        raise ToucheError(f"{problem} before it wrote run.txt; let it raise an error instead") from error
    except Exception as error:
        frames = frames_of(baseline.folder, error) if baseline.folder else []
        if not frames or getattr(error, "errno", None) in _NOBODYS_FAULT:
            raise
        is_verbose = _log.isEnabledFor(logging.DEBUG)
        trace = traceback.TracebackException.from_exception(error)
        if not is_verbose:
            trace.stack = traceback.StackSummary.from_list(frames)
        for line in without_packages("".join(trace.format())).splitlines():
            say(line)
        file = Path(frames[-1].filename).relative_to(baseline.folder or "")
        path = baselines.folder_of(baseline.typed) / file
        what = shorten(f"{type(error).__name__}: {error}", _LONGEST)
        more = "" if is_verbose else ", or see all frames with --verbose"
        say(f"touche: {path}:{frames[-1].lineno}: {what}; repair it{more}")
        sys.exit(BROKEN)
