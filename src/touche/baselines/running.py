"""Runs a baseline in this process; writes run.txt and its metadata."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from touche.baselines.method import Baseline, Ranking
from touche.baselines.options import as_arguments
from touche.documents.discovery import Input
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import ParameterError, ToucheError
from touche.io.opening import is_file, texts_in
from touche.io.origin import origin
from touche.io.packages import libraries
from touche.io.progress import watched
from touche.io.writing import check_outputs
from touche.tira.answers import data_of_answers, noting_answers
from touche.tira.outputs import write_run
from touche.tira.provenance import Software, data_of_files, metadata
from touche.trec.runs import MAX_DEPTH
from touche.trec.topics import Topic

_T = TypeVar("_T")


class Runs:
    """Runs of one baseline on one input, whose metadata is collected once.

    Attributes:
        ranker: the baseline.
        source: the input, perhaps with statistics from the baseline's folder.
    """

    def __init__(self, ranker: Baseline, source: Input, team: str = "") -> None:
        """Prepares runs.

        Args:
            ranker: the baseline.
            source: the input.
            team: the submitting team; if empty, the value of TOUCHE_TEAM, or no team.
        """
        self.ranker = ranker
        self.source = with_published_statistics(ranker, source)
        self._team = team

    @cached_property
    def data(self) -> Callable[[], dict[str, Any]]:
        """A function that waits for the metadata of the input.

        The first access to this property starts a thread, because the md5 of the files takes long.
        """
        statistics = self.source.documents.statistics
        # A part of a collection is ranked by statistics in a file, so this file is also input. Statistics of
        # a whole collection only repeat what its documents say.
        statistics_file = statistics.known if statistics and not statistics.is_whole else None
        return _in_thread(lambda: data_of_files(self.source.files, statistics_file, self.source.dataset))

    @cached_property
    def _software(self) -> Software:
        """The baseline as the metadata describes it; each run has its own command."""
        software = Software(
            name=self.ranker.name, team=self._team, command="", description=self.ranker.description
        )
        if self.ranker.folder:
            # git runs here and not in the thread of ``data``, because a process that the baseline forks
            # meanwhile would keep git's pipe open.
            software = replace(software, **origin(self.ranker.folder))
        return software

    def write(self, output: Path, options: dict[str, Any], tag: str = "") -> list[Topic]:
        """Runs the baseline, and writes run.txt and ir-metadata.yml.

        Args:
            output: the folder for both files.
            options: the values of all options.
            tag: the last column of run.txt, one word; empty for the baseline's name and changed options.

        Returns:
            The topics without results.

        Raises:
            ToucheError: if the input is unusable, an option is out of range, the baseline does not use
                statistics, or the output cannot be written.
        """
        depth = options.get("depth", MAX_DEPTH)  # some baselines have no such option
        if not 1 <= depth <= MAX_DEPTH:
            raise ParameterError(f"depth = {depth} is out of range; choose a number from 1 to {MAX_DEPTH}")
        started = datetime.now(UTC)
        tag = tag or self.ranker.tag(options)
        topics = self.source.topics
        documents = self.source.documents
        statistics = documents.statistics
        uses: list[bool] = []  # True for each time that the baseline uses the statistics
        if statistics:
            documents = documents.with_statistics(replace(statistics, report=partial(uses.append, True)))
        wait_for_data = self.data  # its thread starts here, so that it works during the ranking
        changed_options = as_arguments(self.ranker.changed(options))
        command = shlex.join(["touche", "run", self.ranker.typed or self.ranker.name, *changed_options])
        software = replace(self._software, command=command)
        rankings = watched(self.ranker(topics, documents, **options), "searching", "topics", len(topics))
        if statistics:  # the baseline has to read or write their file
            rankings = _check_use_of_statistics(rankings, uses)
        inputs = self._inputs(options)
        other_outputs = [statistics.output] if statistics and statistics.output else []
        if self.ranker.folder:
            check_outputs(other_outputs, [self.ranker.folder])
        with noting_answers() as answers:

            def describe() -> str:
                """Returns the metadata, after the last ranking."""
                data = wait_for_data() | data_of_answers(answers)
                stopped = datetime.now(UTC)
                modules = libraries(self.ranker.package) if self.ranker.folder else ()
                known = replace(software, modules=modules)
                return metadata(known, tag, options, data, started, stopped)

            return write_run(
                output, topics, rankings, tag, describe, inputs=inputs, other_outputs=other_outputs
            )

    def _inputs(self, options: Mapping[str, Any]) -> list[Path]:
        """Returns the files of the input, of the statistics and of the options."""
        statistics = self.source.documents.statistics
        known = [statistics.known] if statistics and statistics.known else []
        texts = [text for value in options.values() for text in texts_in(value)]
        files_in_options = [Path(text) for text in texts if is_file(text)]
        return [*self.source.files, *known, *files_in_options]


def _check_use_of_statistics(rankings: Iterator[Ranking], uses: Sequence[bool]) -> Iterator[Ranking]:
    """Yields the same rankings; reports early what would make a long run useless.

    Args:
        rankings: the rankings of the baseline, which begins to work when the first one is requested.
        uses: not empty after the baseline has used the statistics.

    Raises:
        ToucheError: before the first ranking, if the baseline has not used the statistics.
    """
    first_ranking = [*islice(rankings, 1)]  # empty without topics
    if not uses:
        problem = "only baselines that rank with touche.scan use statistics"
        raise ToucheError(f"{problem}; omit --statistics and --keep-statistics")
    yield from chain(first_ranking, rankings)


def statistics_named(folder: Path, name: str) -> Path:
    """Returns the path of statistics in the folder of a baseline; the file may be missing.

    Args:
        folder: the folder of the baseline.
        name: the name of the statistics, such as ``argsme-2020-04-01``.
    """
    return folder / "statistics" / f"{name}.json"


def with_published_statistics(ranker: Baseline, source: Input) -> Input:
    """Returns an input with the statistics of its collection from the baseline's folder, if they are there.

    Statistics that the user has chosen stay.
    """
    name = source.statistics  # empty if none are published
    is_chosen_by_user = bool(source.documents.statistics)
    if is_chosen_by_user or not ranker.folder or not name:
        return source
    file = statistics_named(ranker.folder, name)
    if not file.is_file():
        return source
    files = StatisticsFiles(known=file, is_whole=source.is_whole)
    return replace(source, documents=source.documents.with_statistics(files))


def _in_thread(work: Callable[[], _T]) -> Callable[[], _T]:
    """Starts work in a thread; returns a function that waits for the result. Ctrl-C does not wait for it."""
    future: Future[_T] = Future()

    def begin() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=begin, daemon=True).start()
    return future.result
