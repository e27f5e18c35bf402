"""Lints runs: finds every line that breaks a rule of the task."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, groupby, pairwise
from os.path import realpath  # Path.resolve raises an error for circular links
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from touche import tasks
from touche.data.places import has_corpus, locate_corpus, locate_topics
from touche.errors import MissingDataError, ToucheError, counted
from touche.tasks import CUTOFF, PAIR, Corpus, Rules, Task
from touche.trec.by_stance import ranking_names, read_counted
from touche.trec.columns import Columns, Run, RunLine
from touche.trec.framed import Table
from touche.trec.run_forms import AnyRun, RunSource, run_sources
from touche.trec.runs import MAX_DEPTH, LineError, check_broken, read_columns, split_columns
from touche.trec.topics import in_order, read_topics

if TYPE_CHECKING:
    from touche.documents.document_records import AnyDocument

ERROR = "error"  # breaks a rule
WARNING = "warning"  # breaks no rule, but may mislead

_WARNINGS = "rank-start rank-gap tie-order blank-in-tag several-tags shared-tag".split()
_ERRORS = (
    "columns id rank score empty-run unknown-topic unknown-document duplicate-document "
    "no-pair rank-repeated score-increasing too-many-results too-few-results unknown-stance "
    "byte-order-mark too-many-runs"
).split()
# Finding codes with their severity.
CODES = dict.fromkeys(_ERRORS, ERROR) | dict.fromkeys(_WARNINGS, WARNING)
PER_FOLDER = "per-folder"  # each folder contains one team's runs


class Numbered(NamedTuple):
    """A run's line with its number in the file, from 1."""

    number: int
    line: RunLine


class Breach(NamedTuple):
    """A finding, without its file.

    Attributes:
        code: one of ``CODES``.
        line: the line number, from 1; None for the whole run.
        message: what's wrong.
        remedy: what to do.
    """

    code: str
    line: int | None
    message: str
    remedy: str


@dataclass(frozen=True)
class _Tie:
    """Lines whose float32 scores are equal, and whose ranks differ from trec_eval's order.

    Attributes:
        above: the first line that trec_eval puts below the next one.
        below: that next line.
        number: ``below``'s line number.
        depth: the first position, from 1, where trec_eval's ranking differs.
    """

    above: RunLine
    below: RunLine
    number: int
    depth: int


@dataclass(frozen=True)
class Finding:
    """A problem in a run.

    Attributes:
        code: a key of ``CODES``.
        severity: ``error`` or ``warning``.
        run: the run's path.
        line: the line number; None for the whole run.
        message: the problem.
        remedy: how to solve it.
    """

    code: str
    severity: str
    run: str
    line: int | None
    message: str
    remedy: str


@dataclass(frozen=True, repr=False)
class Findings(Table[Finding]):
    """A submission's findings, as a table. Attributes as in ``Table``, plus:

    Attributes:
        runs: how many runs there are.
        teams: each run's team; empty if all belong to one team.
    """

    runs: int = 0
    teams: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether a rule is broken. Warnings don't count."""
        return any(finding.severity == ERROR for finding in self)


@dataclass(frozen=True)
class _LintedRun:
    """A run's readable lines, and the problems in its other lines.

    Attributes:
        readable: the readable lines. If stances are ranked separately, ranking names such as ``1 PRO``
            replace topics.
        broken: the problems in the other lines and in the file as a whole.
        is_ordered_by_score: whether the task's evaluator sorts lines by score. Otherwise, each stance has its
            own ranking, which the organizers' script sorts by rank.
    """

    readable: Run
    broken: Sequence[Breach]
    is_ordered_by_score: bool = True

    @property
    def path(self) -> Path:
        """The run's file or name."""
        return self.readable.path

    @cached_property
    def lines(self) -> Sequence[Numbered]:
        """The readable lines."""
        numbers = self.readable.numbers.tolist()
        return [Numbered(number, line) for number, line in zip(numbers, self.readable, strict=True)]

    @cached_property
    def rankings(self) -> Mapping[str, Sequence[Numbered]]:
        """Each topic's lines in rank order."""
        return {
            topic: [self.lines[index] for index in indices.tolist()]
            for topic, indices in self.readable.by_rank.items()
        }

    @cached_property
    def ties(self) -> Sequence[_Tie]:
        """Ties that trec_eval orders differently from the ranks, at most one per score and topic."""
        if not self.is_ordered_by_score:
            return []
        return [tie for lines in self.rankings.values() for tie in _ties(lines)]

    def findings(self, breaches: Iterable[Breach]) -> list[Finding]:
        """Returns findings in line order, those for the whole run first."""
        findings = [
            Finding(
                code=breach.code,
                severity=CODES[breach.code],
                run=str(self.path),
                line=breach.line,
                message=breach.message,
                remedy=breach.remedy,
            )
            for breach in breaches
        ]
        return sorted(findings, key=lambda finding: finding.line or 0)


@dataclass(frozen=True)
class _Known:
    """What to check runs against. Anything missing is None.

    Attributes:
        topics: the topics' numbers, or all ranking names if stances are ranked separately.
        documents: which of the runs' ids are in the corpus.
        results: how many results the corpus offers per topic. Counting may stop at the rules' minimum.
    """

    topics: frozenset[str] | None
    documents: frozenset[str] | None = None
    results: int | None = None


def lint(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str,
    *,
    teams: 'Sequence[str] | Mapping[str, str | Sequence[str]] | Literal["per-folder"] | None' = None,
) -> Findings:
    """Checks a submission's runs against a task's rules.

    Args:
        runs: one run or several, as files or in any other form, as for ``evaluate``.
        task: the id of a task, or of a dataset with another corpus.
        teams: each run's team, or ``per-folder`` if each folder contains one team's runs, or file name
            patterns by team,
            such as ``{"Katana": "katana-*"}``. None if all runs belong to one team.

    Returns:
        The findings as ``touche.evaluation.linting.Finding``, with severity ``error`` or ``warning``, run by
        run in line
        order; lines count from 1. ``is_broken`` tells whether there is an error. The notes list checks that
        weren't possible.

    Raises:
        ToucheError: if a run isn't text, the task doesn't exist, or a run's team is unclear.

    Examples:
        >>> import touche
        >>> findings = touche.lint({"mine": {"1": {"no-such-document": 1.0}}}, "spot-check/arguments")
        >>> findings[0].run, findings[0].line, findings[0].code
        ('mine', 1, 'unknown-document')
        >>> findings.is_broken
        True
    """
    sources = run_sources(runs)
    paths = [source.name for source in sources]
    team_of_run = teams_of_runs(paths, teams)
    card, corpus = tasks.dataset(task)
    findings, notes = findings_of(sources, card, corpus, team_of_run)
    return Findings(
        kind=Finding,
        records=tuple(findings),
        notes=tuple(notes),
        runs=len(paths),
        teams=tuple(team_of_run[path] for path in paths) if team_of_run else (),
    )


def findings_of(
    sources: Sequence[RunSource], task: Task, corpus: Corpus, teams: Mapping[Path, str] | None = None
) -> tuple[list[Finding], list[str]]:
    """Checks runs against a task's rules.

    Args:
        sources: the runs.
        task: their task.
        corpus: the collection they rank.
        teams: each file's team, from ``teams_of_runs``; None for a single team.

    Returns:
        The findings, file by file in line order. Also notes: a sentence per check that lacked data, about
        missing topics, and about ties.

    Raises:
        ToucheError: if a file isn't text, or topics or corpus are broken.
    """
    topics: frozenset[str] | None = None
    with suppress(MissingDataError):
        topics = frozenset(topic.number for topic in read_topics(locate_topics(task, corpus)))
    runs = [
        _read_rankings(source, task.rules, topics) if task.rules.by_stance else _read_run(source)
        for source in sources
    ]
    known, notes = _read_known(runs, task, corpus, topics)
    # How many results are scored. A measure without a cutoff scores all, and runs end at MAX_DEPTH.
    cutoff = task.measure.cutoff or MAX_DEPTH
    notes += [note for run in runs for note in _missing_topics_note(run, known)]
    notes += [note for run in runs for note in _tie_note(run, cutoff, task)]
    findings = list[Finding]()
    teams = teams or {run.path: "" for run in runs}  # one nameless team
    for team in dict.fromkeys(teams.values()):
        submission = [run for run in runs if teams[run.path] == team]
        findings += _check_submission(submission, task.rules, team)
    for run in runs:
        breaches = chain(
            _format_breaches(run, cutoff),
            _topic_breaches(run, task.rules, known),
            _line_breaches(run, task.rules, known),
        )
        findings += run.findings(breaches)
    return findings, notes


def teams_of_runs(
    paths: Sequence[Path], teams: Sequence[str] | Mapping[str, str | Sequence[str]] | None
) -> dict[Path, str] | None:
    """Returns each run file's team.

    Args:
        paths: the run files.
        teams: each file's team, or ``per-folder`` if each folder contains one team's runs, or file name
            patterns by team,
            such as ``{"Katana": "katana-*"}``. None if all files belong to one team.

    Raises:
        ToucheError: if the number of teams is wrong, a file belongs to no team or to several, or a pattern
            doesn't match any file.
    """
    if teams is None:
        return None
    if teams == PER_FOLDER:
        return {path: realpath(path.parent) for path in paths}
    if isinstance(teams, Mapping):
        return _teams_by_pattern(paths, teams)
    if isinstance(teams, str):
        raise ToucheError(f"teams = {teams!r} is one text; pass a list with the team of each run")
    if len(teams) != len(paths):
        problem = f"{counted(len(teams), 'team')} passed for {counted(len(paths), 'run')}"
        raise ToucheError(f"{problem}; name the team of each run")
    return dict(zip(paths, teams, strict=True))


def _teams_by_pattern(paths: Sequence[Path], patterns: Mapping[str, str | Sequence[str]]) -> dict[Path, str]:
    """Returns each run file's team according to its name. A pattern with a slash matches whole paths."""
    teams: dict[Path, str] = {}
    for team, one_or_several in patterns.items():
        team_patterns = [one_or_several] if isinstance(one_or_several, str) else one_or_several
        for pattern in team_patterns:
            matching = _matching(paths, pattern)
            if not matching:
                raise ToucheError(f"no run matches {pattern!r} of the team {team}; correct the pattern")
            for path in matching:
                if teams.setdefault(path, team) != team:
                    problem = f"{path} belongs to the teams {teams[path]} and {team}"
                    raise ToucheError(f"{problem}; make their patterns more specific")
    for path in paths:
        if path not in teams:
            raise ToucheError(f"{path} belongs to no team; name its team, or omit the file")
    return teams


def _matching(paths: Sequence[Path], pattern: str) -> list[Path]:
    """Returns the paths that match a pattern: whole paths if it contains a slash, otherwise file names."""
    names = {path: str(path) if "/" in pattern else path.name for path in paths}
    return [path for path, name in names.items() if fnmatchcase(name, pattern)]


def lint_format(path: Path) -> list[Finding]:
    """Checks rules that apply to every task: the line format, and whether ranks agree with scores.

    Raises:
        ToucheError: if the file isn't text.
    """
    run = _read_run(RunSource(path, None, path))
    if run.readable.ranks_stances:  # an image retrieval run, whose evaluator ignores scores
        run = _LintedRun(run.readable.by_stance(), run.broken, is_ordered_by_score=False)
    # We don't know the task, so use most tasks' cutoff.
    return run.findings(_format_breaches(run, CUTOFF))


def _format_breaches(run: _LintedRun, cutoff: int) -> Iterator[Breach]:
    """Returns breaches of rules that apply to every task.

    Args:
        run: the run.
        cutoff: how many results are scored, for messages about ties.
    """
    return chain(
        run.broken,
        _duplicate_breaches(run),
        _rank_breaches(run),
        _tag_breaches(run),
        _tie_breaches(run, cutoff),
    )


def _read_run(source: RunSource) -> _LintedRun:
    """Reads a run. Broken lines become breaches.

    Raises:
        InputError: if there are too many broken lines, or the file isn't text.
    """
    path, content, name = source[:3]
    if isinstance(content, Run):
        content = source.named(content).text().encode()
    broken: list[Breach] = []

    def note_broken(error: LineError) -> None:
        broken.append(Breach(code=error.kind, line=error.line, message=error.problem, remedy=error.remedy))
        check_broken(broken, path)

    columns = Columns()
    has_mark = read_columns(path, columns, note_broken, content)
    if has_mark:
        mark = Breach(
            code="byte-order-mark",
            line=1,
            message="the file begins with a byte order mark",
            remedy="save the file without it; trec_eval treats it as part of the topic",
        )
        broken.insert(0, mark)
    run = columns.run(name)
    if not run and not broken:
        broken.append(
            Breach(code="empty-run", line=None, message="the run is empty", remedy="check how it was written")
        )
    return _LintedRun(run, broken)


def _read_rankings(source: RunSource, rules: Rules, topics: Collection[str] | None) -> _LintedRun:
    """Reads a run with a ranking per stance. Lines that the organizers' script skips become breaches."""
    content = source.content
    if isinstance(content, Run):
        content = source.named(content)
    run, skipped = read_counted(source.path, rules.stances, rules.ids, rules.max_results, topics, content)
    run = replace(run, path=source.name)
    broken = [
        Breach(code=error.kind, line=error.line, message=error.problem, remedy=error.remedy)
        for error in skipped
    ]
    return _LintedRun(run.by_stance(), broken, is_ordered_by_score=False)


def _read_known(
    runs: Iterable[_LintedRun], task: Task, corpus: Corpus, topics: frozenset[str] | None
) -> tuple[_Known, list[str]]:
    """Returns what to check runs against, and a note for each missing part."""
    notes = []
    rankings: frozenset[str] | None = None  # ranking names
    if topics is None:
        notes.append(f"topics are not checked, because topics/{task.topics} is missing")
    else:
        rankings = frozenset(ranking_names(topics, task.rules.ranked_stances))
    if not has_corpus(corpus):
        notes.append(f"document ids are not checked, because corpora/{corpus.directory} is missing")
        return _Known(topics=rankings), notes
    from touche.documents.discovery import find_documents  # here, because it takes 34 ms

    wanted = {id for run in runs for _, line in run.lines for id in task.rules.ids_of(line.document)}
    present, results = _look_up(wanted, find_documents(locate_corpus(corpus)), task.rules)
    return _Known(topics=rankings, documents=frozenset(present), results=results), notes


def _look_up(wanted: set[str], documents: "Iterable[AnyDocument]", rules: Rules) -> tuple[set[str], int]:
    """Reads the corpus until all ids are found and there are enough results.

    Returns:
        The wanted ids that were found, and how many results per topic the documents read so far offer.
    """
    from touche.documents.ids import ids_in  # here, because it takes 54 ms

    present: set[str] = set()
    units = 0  # documents, or sentences if results are pairs of sentences
    for document in documents:
        ids = ids_in(document, of_sentences=rules.unit == PAIR)
        present |= wanted.intersection(ids)
        units += len(ids)
        # With n = min_results, n + 1 sentences make at least n pairs, and n documents are enough. One
        # more document costs nothing.
        if len(present) == len(wanted) and units > rules.min_results:
            break
    results = units * (units - 1) if rules.unit == PAIR else units  # a pair's order counts
    return present, results


def _check_submission(runs: Sequence[_LintedRun], rules: Rules, team: str) -> list[Finding]:
    """Returns breaches of rules that concern all of a team's runs.

    Args:
        runs: the team's runs.
        rules: the task's rules.
        team: the team's name; empty if all runs belong to a nameless one.
    """
    findings = list[Finding]()
    superfluous = runs[rules.max_runs :] if rules.max_runs else []
    for run in superfluous:
        name = f" of the team {team}" if team else ""
        breach = Breach(
            code="too-many-runs",
            line=None,
            message=f"{len(runs)} runs{name}, but a team may submit {rules.max_runs}",
            remedy="omit this run" if team else "omit this run, or name the team of each run",
        )
        findings += run.findings([breach])
    first_path_of_tag = dict[str, Path]()
    for run in runs:
        if not run.lines:
            continue
        number, line = run.lines[0]  # a second tag in the run is reported separately
        first_path = first_path_of_tag.setdefault(line.tag, run.path)
        if first_path != run.path:
            breach = Breach(
                code="shared-tag",
                line=number,
                message=f"the tag {line.tag!r} is also that of {first_path}",
                remedy="use a different tag for each run",
            )
            findings += run.findings([breach])
    return findings


def _missing_topics_note(run: _LintedRun, known: _Known) -> Iterator[str]:
    """Yields a note about topics without results: they break no rule, but lower the score."""
    missing = (known.topics or frozenset()) - run.rankings.keys()  # none if the topics are unknown
    if missing:
        listed = ", ".join(sorted(missing, key=in_order))
        effect = "trec_eval counts them as 0"
        if not run.is_ordered_by_score:
            effect = (
                "the organizers' script counts a missing stance as 0, "
                "and leaves out a topic with neither stance"
            )
        yield f"{run.path} has no results for topics {listed}; {effect}"


def _line_breaches(run: _LintedRun, rules: Rules, known: _Known) -> Iterator[Breach]:
    """Yields breaches in single lines."""
    for number, line in run.lines:
        ids = rules.ids_of(line.document)
        if known.documents is not None and not known.documents.issuperset(ids):
            yield Breach(
                code="unknown-document",
                line=number,
                message=f"{line.document!r} is not in the corpus",
                remedy="use its ids",
            )
        is_pair = len(ids) == 2 and "" not in ids and ids[0] != ids[1]
        if rules.unit == PAIR and not is_pair:
            yield Breach(
                code="no-pair",
                line=number,
                message=f"{line.document!r} is not a pair of two different sentences",
                remedy="write two sentence ids, joined by a comma",
            )
        # The rules use upper case; like in qrels, lower case is accepted.
        if rules.stances and line.stance.upper() not in rules.stances:
            yield Breach(
                code="unknown-stance",
                line=number,
                message=f"the task does not have the stance {line.stance!r}",
                remedy=f"write {' or '.join(rules.stances)}",
            )


def _duplicate_breaches(run: _LintedRun) -> Iterator[Breach]:
    """Yields documents that occur twice in a topic."""
    first_numbers: dict[tuple[str, str], int] = {}  # line numbers by topic and document
    for number, line in run.lines:
        first_number = first_numbers.setdefault((line.topic, line.document), number)
        if first_number != number:
            yield Breach(
                code="duplicate-document",
                line=number,
                message=f"{line.document!r} is already in line {first_number} for topic {line.topic}",
                remedy="remove one of the two",
            )


def _rank_breaches(run: _LintedRun) -> Iterator[Breach]:
    """Yields ranks that repeat, don't start at 1, leave gaps, or contradict scores."""
    rankings = run.rankings.values()
    # A ranking's second line is the first that can repeat a rank.
    second_lines = [ranking[1] for ranking in rankings if len(ranking) > 1]
    # Rankings are in rank order, so if both ends are equal, all ranks are.
    rankings_have_one_rank = all(ranking[0].line.rank == ranking[-1].line.rank for ranking in rankings)
    if rankings_have_one_rank and second_lines:  # the run isn't ranked at all, so one breach is enough
        number, line = second_lines[0]
        example = f"rank {line.rank} in topic {line.topic}"
        yield Breach(
            code="rank-repeated",
            line=number,
            message=f"all lines of a topic have the same rank, such as {example}",
            remedy="number the lines of each topic from 1",
        )
        return
    wrong_starts = [ranking[0] for ranking in rankings if ranking[0].line.rank != 1]
    if wrong_starts:
        number, line = wrong_starts[0]
        example = f"topic {line.topic} starts at {line.rank}"
        yield Breach(
            code="rank-start",
            line=number,
            message=f"ranks do not start at 1 in {counted(len(wrong_starts), 'topic')}; {example}",
            remedy="start at 1",
        )
    for ranking in rankings:
        for (_, above), (number, below) in pairwise(ranking):
            if below.rank == above.rank:
                yield Breach(
                    code="rank-repeated",
                    line=number,
                    message=f"rank {below.rank} occurs twice in topic {below.topic}",
                    remedy="give each line its own rank",
                )
                continue  # with equal ranks, scores can't contradict them
            if below.rank > above.rank + 1:
                yield Breach(
                    code="rank-gap",
                    line=number,
                    message=f"rank {below.rank} comes after rank {above.rank} in topic {below.topic}",
                    remedy="give each line the next rank",
                )
            if np.float32(below.score) > np.float32(above.score):  # compared like in trec_eval
                score = f"score {below.score} at rank {below.rank} of topic {below.topic}"
                yield Breach(
                    code="score-increasing",
                    line=number,
                    message=f"{score} is above {above.score}",
                    remedy="rank by descending score; trec_eval uses the scores",
                )


def _ties(ranking: Sequence[Numbered]) -> Iterator[_Tie]:
    """Yields, for each score, the first two neighbours that trec_eval swaps, if any.

    trec_eval sorts equal scores by descending id.

    Args:
        ranking: a topic's lines in rank order.
    """
    lines_above = 0  # how many lines come before the group's
    for _, group in groupby(ranking, key=lambda numbered: np.float32(numbered.line.score)):
        tied = list(group)
        for (_, above), (number, below) in pairwise(tied):
            # If ranks are equal, there is no order for trec_eval to change.
            if below.rank > above.rank and below.document > above.document:
                ids = [line.document for _, line in tied]
                pairs = zip(ids, sorted(ids, reverse=True), strict=True)
                position = next(index for index, (id, sorted_id) in enumerate(pairs, 1) if id != sorted_id)
                yield _Tie(above=above, below=below, number=number, depth=lines_above + position)
                break
        lines_above += len(tied)


def _tie_breaches(run: _LintedRun, cutoff: int) -> Iterator[Breach]:
    """Yields scores that are equal as float32, if trec_eval orders the lines differently from the ranks."""
    for tie in run.ties:
        documents = f"{tie.above.document!r} and {tie.below.document!r}"
        score = f"the same score {np.float32(tie.above.score)} as float32"
        order = "so trec_eval orders them by descending id, against the ranks"
        within_cutoff = f", also among the first {cutoff}" if tie.depth <= cutoff else ""
        message = f"topic {tie.above.topic}: {documents} have {score}, {order}{within_cutoff}"
        yield Breach(code="tie-order", line=tie.number, message=message, remedy="give them different scores")


def _tie_note(run: _LintedRun, cutoff: int, task: Task) -> Iterator[str]:
    """Yields a note on whether ties affect the task's measure, which depends on ranks up to the cutoff."""
    if run.ties:
        topics = {tie.above.topic for tie in run.ties}
        problem = f"ties that trec_eval orders differently from the ranks in {counted(len(topics), 'topic')}"
        changed = {tie.above.topic for tie in run.ties if tie.depth <= cutoff}
        effect = f"the first {cutoff} results, and so {task.measure}, of {len(changed) or 'none'}"
        yield f"{run.path} has {problem}; this changes {effect}"


def _topic_breaches(run: _LintedRun, rules: Rules, known: _Known) -> Iterator[Breach]:
    """Yields topics that aren't the task's, or whose results are too many or too few."""
    # Don't require more results than the corpus offers.
    required = rules.min_results if known.results is None else min(rules.min_results, known.results)
    # Include the task's topics without any results, because that's too few.
    for topic in dict.fromkeys([*run.rankings, *sorted(known.topics or (), key=in_order)]):
        line_numbers = sorted(number for number, _ in run.rankings.get(topic, ()))
        result_count = f"topic {topic} has {counted(len(line_numbers), 'result')}"
        if known.topics is not None and topic not in known.topics:
            yield Breach(
                code="unknown-topic",
                line=line_numbers[0],  # an unknown topic comes from the run, so there is a line
                message=f"topic {topic!r} is not a topic of the task ({counted(len(line_numbers), 'line')})",
                remedy="remove its lines",
            )
        if len(line_numbers) > rules.max_results:
            yield Breach(
                code="too-many-results",
                line=line_numbers[rules.max_results],  # the first line above the limit
                message=f"{result_count}, but at most {rules.max_results} are allowed",
                remedy="cut the list",
            )
        if len(line_numbers) < required:
            yield Breach(
                code="too-few-results",
                line=line_numbers[-1] if line_numbers else None,
                message=f"{result_count}, but at least {required} are required",
                remedy="return more results",
            )


def _tag_breaches(run: _LintedRun) -> Iterator[Breach]:
    """Yields the first tag with blanks, and the first line of each additional tag."""
    # A tag is the rest of the line after the fifth column.
    with_blanks = [(number, line.tag) for number, line in run.lines if len(split_columns(line.tag)) > 1]
    if with_blanks:
        number, tag = with_blanks[0]
        message = (
            f"the tag has blanks in {counted(len(with_blanks), 'line')}: trec_eval reads only "
            f"{split_columns(tag)[0]!r} of {tag!r}, and ir_measures refuses such lines"
        )
        yield Breach(code="blank-in-tag", line=number, message=message, remedy="write a tag without blanks")
    earlier_tags = set[str]()
    for number, line in run.lines:
        if earlier_tags and line.tag not in earlier_tags:
            yield Breach(
                code="several-tags",
                line=number,
                message=f"tag {line.tag!r}, but {run.lines[0].line.tag!r} before",
                remedy="use one tag for the whole run",
            )
        earlier_tags.add(line.tag)
