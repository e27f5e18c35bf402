"""How touche run runs: in this process, by the workers of a Spark cluster, or in a sandbox."""

import errno
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from touche import baselines
from touche.baselines.loader import frames_of
from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.cli.options import check_runner
from touche.cli.output import BROKEN, tell, warn
from touche.collection.discovery import Input
from touche.collection.documents import Documents
from touche.data import places
from touche.errors import NotInstalledError, ToucheError
from touche.formats.parquet import check_no_fields
from touche.formats.statistics import StatisticsFiles, read_statistics
from touche.progress import say
from touche.sandbox.limits import Limits
from touche.tira.outputs import RUN_FILE

HERE, SPARK = "local", "spark"

_Documents = TypeVar("_Documents", bound=Documents)

_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST = 200  # characters of an error in a line
_NOBODYS_FAULT = (errno.EPIPE, errno.ENOSPC)  # standard output is closed, or a disk is full

_log = logging.getLogger("touche")


@dataclass(frozen=True)
class _Source:
    """What a run reads, and what it stores of that.

    Attributes:
        given: an input directory, or the id of a dataset.
        corpus: one of ir_datasets, where the input has only topics, or None.
        keep_fields: the folder for the fields of web pages, for Spark also an address, or None.
        statistics: files for the statistics.
    """

    given: str
    corpus: str | None
    keep_fields: str | None
    statistics: StatisticsFiles

    def open(self, *, needs_documents: bool) -> Input:
        source = places.opened(self.given, self.corpus, needs_documents=needs_documents)
        return replace(source, documents=self.prepared(source.documents))

    def prepared(self, documents: _Documents) -> _Documents:
        """The same collection, with its statistics and the place for its fields."""
        documents = documents.with_statistics(self.statistics) if self.statistics else documents
        return documents.keeping_fields(self.keep_fields) if self.keep_fields else documents


def run_baseline(
    name: str,
    baseline: Baseline,
    options: dict[str, Any],
    *,
    given: str,
    output: str,
    corpus: str | None,
    keep_fields: str | None,
    statistics: Path | None,
    keep_statistics: Path | None,
    tag: str | None,
    team: str | None,
    runner: str,
    master: str,
    topics: Path | None,
    resume: bool,
    **limits: Any,
) -> None:
    """Runs a baseline; only this machine and Spark import it.

    Args:
        name: its name, or the path of its folder.
        baseline: what it declares.
        options: values for all of its own options.
        given: an input directory, or the id of a dataset; an address for Spark.
        output: the folder for run.txt.
        corpus, keep_fields, statistics, keep_statistics, tag, team: values of the options of these names.
        runner: one of a sandbox, local or spark.
        master, topics, resume: the options of Spark.
        limits: those of a sandbox.

    Raises:
        ToucheError: if the options exclude each other, or the run fails.
    """
    check_runner(runner)
    if not given or not output:
        raise ToucheError("-i or -o is empty; name the input and the output directory")
    folder, names = Path(output), {"tag": tag or "", "team": team or ""}
    if runner not in (HERE, SPARK):
        typed = {name: value for name, value in names.items() if value}
        arguments = arguments_of(baseline.changed(options) | typed)
        return _run_sandboxed(runner, name, arguments, given, folder, limits)
    source = _Source(given, corpus, keep_fields, StatisticsFiles(statistics, keep_statistics))
    try:
        loaded = baselines.load(name)
        if runner == HERE:
            opened = _here(source, loaded)
        else:
            opened = _on_spark(source, loaded, master, topics, folder / "parts" if resume else None)
        _run(loaded, source, opened, folder, options, names)
    except NotInstalledError as error:
        from touche.sandbox.images import instead  # here, because an image has none of it

        raise NotInstalledError(f"{error}{instead(name)}") from error


def _run_sandboxed(
    runner: str, name: str, arguments: Sequence[str], given: str, output: Path, limits: Mapping[str, Any]
) -> None:
    from touche.sandbox.runs import RUNNERS, Job  # here, because it takes as long to import as a small run

    places.check_exists(given)
    job = Job(name, arguments, given, output)
    usage = RUNNERS[runner](job, Limits(**limits), tell)
    tell(f"{job.name}: {output / RUN_FILE} by {runner}: {usage}")


def _run(
    baseline: Baseline,
    source: _Source,
    opened: AbstractContextManager[Input],
    output: Path,
    options: dict[str, Any],
    names: Mapping[str, str],
) -> None:
    started = time.monotonic()
    if source.statistics.known:
        read_statistics(source.statistics.known)  # before an earlier run is touched
    with opened as collection:
        tell(f"{baseline.name}: {collection.took}")
        if baseline.name in baselines.names() and not baseline.is_shipped and not names["tag"]:
            problem = f"{baseline.typed} is not that of touche-baselines, but its runs are tagged so"
            warn(f"{problem}; rename the folder", of=baseline.name)
        with _own_frames(baseline):
            without_hits = baselines.run(baseline, collection, output, options, **names)
    for topic in without_hits:
        warn(f"nothing found for topic {topic.number}: {topic.title}", of=baseline.name)
    tell(f"{baseline.name}: wrote {output / RUN_FILE} in {time.monotonic() - started:.1f} s")


@contextmanager
def _here(source: _Source, baseline: Baseline) -> Iterator[Input]:
    for address in filter(_URI.match, (source.given, source.keep_fields or "")):
        raise ToucheError(f"{address}: only Spark opens addresses; add --runner spark, or give a folder")
    if source.keep_fields:
        check_no_fields(source.keep_fields, (path.name for path in Path(source.keep_fields).glob("*")))
    yield source.open(needs_documents=baseline.needs_documents)


@contextmanager
def _on_spark(
    source: _Source, baseline: Baseline, master: str, topics: Path | None, parts: Path | None
) -> Iterator[Input]:
    """Opens the input by Spark, which resumes from the folder of parts if there is one."""
    from touche import cluster  # here, because it takes as long to import as a small run

    if parts and source.keep_fields:
        problem = "--resume goes on from what was read, of which fields were kept then"
        raise ToucheError(f"{problem}; leave it or --keep-fields out")
    is_uri = _URI.match(source.given)
    if is_uri and source.corpus is not None:
        raise ToucheError(f"{source.given}: an address has its own documents; leave --corpus out")
    local = None if is_uri else source.open(needs_documents=baseline.needs_documents)
    with (
        cluster.started(master, baseline.name) as context,
        cluster.folder_sent(context, baseline.folder) as ship,
    ):
        if local:
            collection = cluster.find(context, ship, local)
        else:
            collection = cluster.find_remote(context, ship, source.given, topics, source.prepared)
        with cluster.saved(collection, parts, baseline.folder) if parts else nullcontext(collection) as saved:
            yield saved


@contextmanager
def _own_frames(baseline: Baseline) -> Iterator[None]:
    """Shows an error of a baseline's code with its own frames; --verbose shows all."""
    try:
        yield
    except ToucheError:
        raise
    except SystemExit as error:
        if type(error) is not SystemExit:  # a signal
            raise
        problem = f"the baseline {baseline.name} ended the program with exit code {error.code or 0}"
        raise ToucheError(f"{problem}, and no run.txt is written; let it raise an error instead") from error
    except Exception as error:
        folder = baseline.folder or Path()
        frames = frames_of(folder, error) if baseline.folder else []
        if not frames or getattr(error, "errno", None) in _NOBODYS_FAULT:
            raise
        trace = traceback.TracebackException.from_exception(error)
        if not _log.isEnabledFor(logging.DEBUG):
            trace.stack = traceback.StackSummary.from_list(frames)
        for line in "".join(trace.format()).splitlines():
            say(line)
        path = baselines.folder_of(baseline.typed) / Path(frames[-1].filename).relative_to(folder)
        where = f"{path}:{frames[-1].lineno}"
        what = shorten(f"{type(error).__name__}: {error}", _LONGEST)
        more = "" if _log.isEnabledFor(logging.DEBUG) else ", or see all frames with --verbose"
        say(f"touche: {where}: {what}; repair it{more}")
        sys.exit(BROKEN)
