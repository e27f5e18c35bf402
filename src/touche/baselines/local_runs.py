"""Runs a baseline in this process, and writes run.txt and its metadata."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from touche.baselines.baseline_files import statistics_named
from touche.baselines.baseline_options import as_arguments
from touche.baselines.exits import exits_as_errors
from touche.baselines.method import Baseline
from touche.baselines.rankings import Ranking, run_of_rankings
from touche.documents.discovery import Input
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError, ToucheError, check_range, listed, warn
from touche.io.identifiers import check_tag
from touche.io.opening import is_file, texts_in
from touche.io.origin import origin
from touche.io.packages import libraries
from touche.io.progress import watched
from touche.io.writing import check_outputs
from touche.scan.written_statistics import read_known
from touche.tira.answers import data_of_answers, noting_answers
from touche.tira.metadata import NO_STATISTICS
from touche.tira.outputs import remove_earlier_run, write_run
from touche.tira.provenance import (
    Software,
    data_of_files,
    metadata,
    peak_memory,
    reset_peak_memory,
    state_of,
)
from touche.trec.columns import Run
from touche.trec.runs import MAX_DEPTH, RUN_FILE
from touche.trec.topics import Topic


class Runs:
    """Runs of one baseline on one input. Metadata that they share is collected once."""

    def __init__(
        self, ranker: Baseline, source: Input, team: str = "", statistics: StatisticsFiles | None = None
    ) -> None:
        """Prepares runs.

        Args:
            team: the submitting team; if empty, TOUCHE_TEAM's value, or none.
            statistics: the user's files; None for those in the baseline's folder, if there are any. Without
                any file, the baseline ranks by the documents' own statistics.
        """
        has_own_choice = statistics is not None
        if statistics is None and ranker.folder and source.statistics:
            file = statistics_named(ranker.folder, source.statistics)
            if file.is_file():
                statistics = StatisticsFiles(known=file, is_whole=source.is_whole)
        if statistics and (statistics.known or statistics.output):
            source = replace(source, documents=source.documents.with_statistics(statistics))
        self.ranker = ranker
        self.source = source
        self._team = team
        self._has_own_choice = has_own_choice
        # For a part of a collection, the statistics file is input, too. For a whole collection, it only
        # repeats what the documents say.
        files = source.documents.statistics
        self._statistics_file = files.known if files and not files.is_whole else None

    @property
    def statistics_remark(self) -> str:
        """A remark if a file replaces the documents' statistics, or published ones are missing."""
        files = self.source.documents.statistics
        if files and files.known and not files.is_whole:
            problem = f"ranks by the statistics in {files.known.name}, not by those of the documents"
            return f"{problem}; --statistics {NO_STATISTICS} ranks by the documents' own"
        if self._has_own_choice or self.source.is_whole or not self.source.statistics:
            return ""
        problem = f"has no statistics named {self.source.statistics}, so it ranks by those of the documents"
        return f"{problem}; only compare it with runs by --statistics {NO_STATISTICS}"

    @cached_property
    def _data(self) -> dict[str, Any]:
        """The input's metadata, with the MD5s of its files. Files that changed meanwhile are left out."""
        changed = [path for path, state in self._states.items() if state_of(path) != state]
        if changed:
            warn(
                f"{listed([path.name for path in changed])} changed after {self.ranker.name} had begun to "
                "read the input, so ir-metadata.yml contains no MD5 of it; rank again, or keep a copy"
            )
        return data_of_files(self.source.files, self._statistics_file, self.source.dataset, changed)

    @cached_property
    def _states(self) -> dict[Path, tuple[int, int] | None]:
        """The states of the input files when the first ranking started, to notice changes."""
        file = self._statistics_file
        return {path: state_of(path) for path in (*self.source.files, *([file] if file else []))}

    @cached_property
    def _origin(self) -> dict[str, str]:
        """The commit and the repository of the baseline's folder."""
        return origin(self.ranker.folder, has_run=True) if self.ranker.folder else {}

    def run(self, options: dict[str, Any], tag: str = "", output: Path | None = None) -> Run:
        """Runs the baseline. If ``output`` is passed, writes run.txt and ir-metadata.yml there.

        An earlier run in the folder is removed before ranking starts, so that you never mistake it for this
        one.

        Args:
            options: the values of all options.
            tag: the last column of run.txt, one word; by default the baseline's name and changed options.

        Raises:
            ToucheError: if the input is unusable, an option is out of range, the baseline doesn't use
                statistics, or the output can't be written.
        """
        ranker = self.ranker
        check_range("depth", options.get("depth", MAX_DEPTH), 1, MAX_DEPTH)  # some baselines have no depth
        tag = tag or ranker.tag(options)
        check_tag(tag)
        if output is None:
            with exits_as_errors(ranker.name):
                return run_of_rankings(self.source.topics, self._rankings(options), tag)
        started = datetime.now(UTC)
        self._remove_earlier_run(output, options)
        reset_peak_memory()  # first, because the peak of git's process includes this process's
        # Before the ranking, because the folder and the input may change meanwhile.
        commit_and_repository = self._origin
        _ = self._states
        with noting_answers() as answers, exits_as_errors(ranker.name, (output / RUN_FILE).exists):
            run = run_of_rankings(self.source.topics, self._rankings(options), tag)
        stopped = datetime.now(UTC)  # before the files are hashed, which doesn't belong to the ranking
        changed_options = as_arguments(ranker.changed(options))
        software = Software(
            name=ranker.name,
            team=self._team,
            command=shlex.join(["touche", "run", ranker.name_or_path or ranker.name, *changed_options]),
            description=ranker.description,
            modules=libraries(ranker.package) if ranker.folder else (),
            **commit_and_repository,
        )
        data = self._data | data_of_answers(answers)
        memory = peak_memory()
        write_run(output, run, metadata(software, tag, options, data, started, stopped, memory))
        return run

    def without_hits(self, run: Run) -> list[Topic]:
        """Returns the topics that are missing in a run."""
        answered = {*run.topics.present}
        return [topic for topic in self.source.topics if topic.number not in answered]

    def _rankings(self, options: Mapping[str, Any]) -> Iterator[Ranking]:
        """Yields the baseline's rankings. A baseline that ignores the statistics is an error."""
        topics = self.source.topics
        documents = self.source.documents
        statistics = documents.statistics
        uses: list[bool] = []  # gets an entry whenever the baseline uses the statistics
        if statistics:
            documents = documents.with_statistics(replace(statistics, report=partial(uses.append, True)))
        rankings = watched(self.ranker(topics, documents, **options), "searching", "topics", len(topics))
        first = next(rankings, None)
        if statistics and not uses:  # now, because a long run would be useless
            problem = "only baselines that rank with touche.scan use statistics"
            raise ToucheError(f"{problem}; omit --keep-statistics, and pass --statistics {NO_STATISTICS}")
        if first is not None:
            yield first
            yield from rankings

    def _remove_earlier_run(self, output: Path, options: Mapping[str, Any]) -> None:
        """Checks that the output can be written without overwriting an input, and removes an earlier run."""
        statistics = self.source.documents.statistics
        known = [statistics.known] if statistics and statistics.known else []
        other_outputs = [statistics.output] if statistics and statistics.output else []
        if self.ranker.folder:
            check_outputs(other_outputs, [self.ranker.folder])
        texts = [text for value in options.values() for text in texts_in(value)]
        files_in_options = [Path(text) for text in texts if is_file(text)]
        remove_earlier_run(output, [*self.source.files, *known, *files_in_options], other_outputs)


def statistics_files(
    baseline: Baseline, file_or_name: Path | None, output: Path | None
) -> StatisticsFiles | None:
    """Returns the files for ``--statistics`` and ``--keep-statistics``; None if neither was passed.

    Args:
        file_or_name: a file, the name of statistics in the baseline's folder, or ``none`` for the documents'
            own.
        output: the file to write the statistics to.
    """
    if file_or_name is not None and str(file_or_name) == NO_STATISTICS:
        return StatisticsFiles(output=output)
    if file_or_name is None:
        return StatisticsFiles(output=output) if output else None
    in_folder = statistics_named(baseline.folder or Path(), str(file_or_name))
    path = in_folder if in_folder.is_file() else file_or_name  # the baseline's own take priority
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in in_folder.parent.glob("*.json")))
        alternative = f", or one of: {known}" if known else ""
        own = f"{NO_STATISTICS} for the documents' own"
        remedy = f"pass a file written by --keep-statistics, {own}{alternative}"
        raise InputError(path, "no such file", remedy)
    read_known(path)  # raises if it contains something else
    return StatisticsFiles(known=path, output=output)
