"""A baseline run in this process: run.txt, and beside it where it comes from."""

import shlex
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from touche.baselines.declaration import imports_of
from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.collection.discovery import Input
from touche.errors import ParameterError, ToucheError
from touche.formats.runs import MAX_DEPTH
from touche.formats.statistics import StatisticsFiles
from touche.formats.topics import Topic
from touche.io.writing import write_whole
from touche.origin import origin
from touche.progress import watched
from touche.tira.outputs import METADATA_FILE, replacing_run, write_run
from touche.tira.provenance import Software, data_of_files, metadata

_T = TypeVar("_T")


def run(
    ranker: Baseline, given: Input, output: Path, options: dict[str, Any], tag: str = "", team: str = ""
) -> list[Topic]:
    """Runs a baseline and writes run.txt, and beside it ir-metadata.yml.

    Args:
        ranker: the baseline.
        given: its input.
        output: the folder for both files.
        options: values for all of the baseline's options.
        tag: the last column of run.txt, one word; empty for the name of the baseline and its options.
        team: the team that submits the run; empty for the one in TOUCHE_TEAM, or none.

    Returns:
        The topics for which nothing was found.

    Raises:
        ToucheError: if the input is unusable, an option has no meaning, statistics are not used by the
            baseline, or the output cannot be written.
    """
    return Runs(ranker, given, team).write(output, options, tag)


class Runs:
    """Runs of one baseline on one input, which is described once.

    Attributes:
        ranker: the baseline.
        given: its input.
    """

    def __init__(self, ranker: Baseline, given: Input, team: str = "") -> None:
        """No run yet.

        Args:
            ranker: the baseline.
            given: its input.
            team: the team that submits the runs; empty for the one in TOUCHE_TEAM, or none.
        """
        self.ranker, self.given, self._team = ranker, given, team

    @cached_property
    def data(self) -> Callable[[], dict[str, Any]]:
        """Waits for the description of the input, which a thread makes: md5 reads the files once more."""
        known = self.given.documents.statistics.known if self.given.documents.statistics else None
        return _beside(lambda: data_of_files(self.given.files, known))

    @cached_property
    def _software(self) -> Software:
        software = Software(self.ranker.name, self._team, "", self.ranker.description)
        if self.ranker.folder:
            # Not in a thread: a child that the baseline forks meanwhile would hold what git is waited for by.
            modules = imports_of(self.ranker.folder)
            software = replace(software, **origin(self.ranker.folder), modules=modules)
        return software

    def write(self, output: Path, options: dict[str, Any], tag: str = "") -> list[Topic]:
        """Writes one run; arguments, result and errors as of ``run``."""
        depth = options.get("depth", MAX_DEPTH)
        if not 1 <= depth <= MAX_DEPTH:
            raise ParameterError(f"depth = {depth}: a run holds 1 to {MAX_DEPTH} documents per topic")
        started, tag, given = datetime.now(UTC), tag or self.ranker.tag(options), self.given
        statistics, uses = given.documents.statistics or StatisticsFiles(), list[bool]()
        documents = given.documents.with_statistics(replace(statistics, report=partial(uses.append, True)))
        data, software = self.data, replace(self._software, command=_command(self.ranker, options))
        with replacing_run(output):  # or an earlier run would outlive this one if it is interrupted
            rankings = watched(
                self.ranker(given.topics, documents, **options), "searching", "topics", len(given.topics)
            )
            first = [*islice(rankings, 1)]
            if statistics and not uses:
                problem = "the baseline ranks without touche.scan, which alone uses and keeps statistics"
                raise ToucheError(f"{problem}; leave --statistics and --keep-statistics out")
        without_hits = write_run(output, given.topics, chain(first, rankings), tag)
        about = (software, tag, options, data())
        write_whole(output / METADATA_FILE, metadata(*about, started, datetime.now(UTC)))
        return without_hits


def _beside(work: Callable[[], _T]) -> Callable[[], _T]:
    """Begins something in a thread, and returns what waits for its result; an interrupt does not wait."""
    future: Future[_T] = Future()

    def begin() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=begin, daemon=True).start()
    return future.result


def _command(ranker: Baseline, options: dict[str, Any]) -> str:
    """The baseline as it was asked for, with the options that are not at their defaults."""
    return shlex.join(["touche", "run", ranker.typed or ranker.name, *arguments_of(ranker.changed(options))])
