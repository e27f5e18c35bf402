"""How touche run runs: in this process, by the workers of a Spark cluster, or in a sandbox."""

import errno
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from touche import baselines
from touche.baselines.loader import frames_of
from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.cli.output import BROKEN, tell, warn
from touche.cli.sandbox import describe
from touche.data import places
from touche.errors import NotInstalledError, ToucheError
from touche.formats.documents import AnyDocument
from touche.formats.parquet import check_no_fields
from touche.formats.statistics import StatisticsFiles, read_statistics
from touche.io.identifiers import is_word, quoted
from touche.io.opening import is_file
from touche.progress import say
from touche.sandbox.limits import Limits
from touche.tira import inputs
from touche.tira.outputs import RUN_FILE

HERE, SPARK, MASTER = "local", "spark", "local[*]"

_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST = 200  # characters of an error in a line
_NOBODYS_FAULT = (errno.EPIPE, errno.ENOSPC)  # standard output is closed, or a disk is full

_log = logging.getLogger("touche")


@dataclass(frozen=True)
class Asked:
    """What is asked of a run beside the baseline's own options, as it is typed.

    Attributes:
        given: an input directory, or the id of a dataset.
        output: the folder for run.txt.
        corpus: one of ir_datasets, where the input holds topics only.
        keep_fields: the folder for the fields of web pages, for Spark also an address.
        statistics: the file of statistics to rank by.
        keep_statistics: the file for those of the collection.
        tag: the run's tag, in place of baseline and options.
        team: whose run it is.
        runner: what runs it.
        master: where Spark runs.
        topics: the file of topics, where the input is an address.
        resume: whether Spark goes on from what it has saved.
        cpus, memory, seconds: the limits of a sandbox.
    """

    given: str
    output: str
    corpus: str | None
    keep_fields: str | None
    statistics: Path | None
    keep_statistics: Path | None
    tag: str | None
    team: str | None
    runner: str
    master: str
    topics: Path | None
    resume: bool
    cpus: float
    memory: str
    seconds: float


def run_as_asked(baseline: Baseline, name: str, asked: Asked, options: dict[str, Any]) -> None:
    """Runs a baseline, with the options that are its own; only this machine and Spark import it.

    Raises:
        ToucheError: if what is asked does not go together, or the run fails.
    """
    if asked.runner != SPARK and (asked.master != MASTER or asked.topics or asked.resume):
        problem = "--master, --topics and --resume are Spark's"
        raise ToucheError(f"{problem}; leave them out, or add --runner spark")
    if not asked.given or not asked.output:
        raise ToucheError("-i or -o is empty; name the input and the output directory")
    if asked.statistics and not is_file(asked.statistics):
        raise ToucheError(f"{asked.statistics}: no such file; give --statistics one of --keep-statistics")
    names = _names(asked.tag, asked.team)
    if asked.runner in (HERE, SPARK):
        try:
            opened = _here if asked.runner == HERE else partial(_on_spark, asked)
            _run(baselines.load(name), asked, options, names, opened)
        except NotInstalledError as error:
            from touche.sandbox.images import instead  # here, because an image has none of it

            raise NotInstalledError(f"{error}{instead(name)}") from error
    else:
        arguments = arguments_of(baseline.changed(options) | names.given)
        _run_sandboxed(name, arguments, asked)


def _names(tag: str | None, team: str | None) -> baselines.Names:
    """What the run is to be called.

    Raises:
        ToucheError: if the tag cannot be a column of run.txt, or the team is empty.
    """
    if tag is not None and not is_word(tag):
        problem = f"--tag {quoted(tag)} is empty, too long, or has white space or control characters"
        raise ToucheError(f"{problem}; give one word, such as my-team-run-1")
    if team is not None and not team.strip():
        raise ToucheError("--team is empty; name the team, or leave it out")
    return baselines.Names(tag or "", team or "")


def _run_sandboxed(name: str, arguments: Sequence[str], asked: Asked) -> None:
    from touche.sandbox.runs import RUNNERS, Job  # here, because it takes as long to import as a small run

    if beside := asked.keep_fields or asked.statistics or asked.keep_statistics:
        problem = f"a sandbox sees its input and writes run.txt only, not {beside}"
        raise ToucheError(f"{problem}; leave --runner out")
    if asked.corpus is not None:
        raise ToucheError("a sandbox has no network to get a corpus; leave --corpus out, or --runner")
    places.check_there(asked.given)
    job = Job(name, arguments, asked.given, Path(asked.output))
    usage = RUNNERS[asked.runner](job, Limits(asked.cpus, asked.memory, asked.seconds), tell)
    tell(f"{job.name}: {job.output / RUN_FILE} by {asked.runner}: {describe(usage)}")


@dataclass(frozen=True)
class _Source:
    """What a run is given, and what it keeps of it.

    Attributes:
        given: an input directory, or the id of a dataset.
        corpus: one of ir_datasets, or None.
        keep_fields: the folder for the fields of web pages, for Spark also an address, or None.
        statistics: files for the statistics.
    """

    given: str
    corpus: str | None
    keep_fields: str | None
    statistics: StatisticsFiles

    def open(self, *, needs_documents: bool) -> inputs.Input:
        found = places.opened(self.given, self.corpus, needs_documents=needs_documents)
        return replace(found, documents=self.asked(found.documents))

    def asked(self, documents: Iterable[AnyDocument]) -> Any:
        """The same collection, with what is asked of it beside documents."""
        if self.statistics.asked:
            documents = inputs.with_statistics(documents, self.statistics)
        return inputs.keeping_fields(documents, self.keep_fields) if self.keep_fields else documents


def _run(
    baseline: Baseline,
    asked: Asked,
    options: dict[str, Any],
    names: baselines.Names,
    opened: Callable[[Baseline, _Source], AbstractContextManager[inputs.Input]],
) -> None:
    started, output = time.monotonic(), Path(asked.output)
    if asked.statistics:
        read_statistics(asked.statistics)  # before an earlier run is touched
    files = StatisticsFiles(asked.statistics, asked.keep_statistics)
    given = _Source(asked.given, asked.corpus, asked.keep_fields, files)
    with opened(baseline, given) as source:
        tell(f"{baseline.name}: {source.took}")
        if baseline.name in baselines.names() and not baseline.is_shipped and not names.tag:
            problem = f"{baseline.typed} is not that of touche-baselines, but its runs are tagged so"
            warn(f"{problem}; rename the folder", baseline.name)
        with _own_frames(baseline):
            about = replace(source, statistics=files)
            without_hits = baselines.run(baseline, about, output, options, names)
        for topic in without_hits:
            warn(f"nothing found for topic {topic.number}: {topic.title}", baseline.name)
        seconds = time.monotonic() - started
        tell(f"{baseline.name}: wrote {output / RUN_FILE} in {seconds:.1f} s")


def _here(baseline: Baseline, given: _Source) -> AbstractContextManager[inputs.Input]:
    for each in filter(_URI.match, (given.given, given.keep_fields or "")):
        raise ToucheError(f"{each}: only Spark opens addresses; add --runner spark, or give a folder")
    if given.keep_fields:
        check_no_fields(given.keep_fields, (path.name for path in Path(given.keep_fields).glob("*")))
    return nullcontext(given.open(needs_documents=baseline.needs_documents))


@contextmanager
def _on_spark(asked: Asked, baseline: Baseline, given: _Source) -> Iterator[inputs.Input]:
    from touche import cluster  # here, because it takes as long to import as a small run

    if asked.resume and given.keep_fields:
        problem = "--resume goes on from what was read, of which fields were kept then"
        raise ToucheError(f"{problem}; leave it or --keep-fields out")
    is_uri = _URI.match(given.given)
    if is_uri and given.corpus is not None:
        raise ToucheError(f"{given.given}: an address has its own documents; leave --corpus out")
    found = None if is_uri else given.open(needs_documents=baseline.needs_documents)
    with (
        cluster.started(asked.master, baseline.name) as context,
        cluster.folder_sent(context, baseline.folder) as ship,
    ):
        far = (given.given, asked.topics, given.asked)
        source = cluster.find(context, ship, found) if found else cluster.find_remote(context, ship, *far)
        parts = Path(asked.output) / "parts"
        with cluster.saved(source, parts, baseline.folder) if asked.resume else nullcontext(source) as shown:
            yield shown


@contextmanager
def _own_frames(baseline: Baseline) -> Iterator[None]:
    """Shows an error of a baseline's code with its own frames; --verbose shows all."""
    try:
        yield
    except ToucheError:
        raise
    except Exception as error:
        frames = list(frames_of(baseline.folder, error)) if baseline.folder else []
        if not frames or getattr(error, "errno", None) in _NOBODYS_FAULT:
            raise
        told = traceback.TracebackException.from_exception(error)
        if not _log.isEnabledFor(logging.DEBUG):
            told.stack = traceback.StackSummary.from_list([told.stack[each.number] for each in frames])
        for line in "".join(told.format()).splitlines():
            say(line)
        where = f"{baselines.folder_of(baseline.typed) / frames[-1].path}:{frames[-1].line}"
        what = shorten(f"{type(error).__name__}: {error}", _LONGEST)
        more = "" if _log.isEnabledFor(logging.DEBUG) else ", or see all frames with --verbose"
        say(f"touche: {where}: {what}; repair it{more}")
        sys.exit(BROKEN)
