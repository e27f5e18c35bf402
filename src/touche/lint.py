"""The linter for runs: every line that breaks a rule of the task."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, groupby, pairwise
from os.path import realpath  # that of Path raises where links lead round in circles
from pathlib import Path

import numpy as np

from touche.collection.discovery import find_documents
from touche.data.places import corpus_at_hand, locate, locate_corpus
from touche.errors import InputError, NotAtHandError, ToucheError
from touche.formats.documents import AnyDocument, Argument
from touche.formats.runs import MAX_DEPTH, LineError, RunLine, parse_line, split_columns
from touche.formats.topics import read_topics
from touche.io.opening import decoded_lines, open_binary
from touche.tasks import CUTOFF, PAIR, Corpus, Rules, Task

ERROR, WARNING = "error", "warning"  # an error breaks a rule; a warning changes no rule, but may mislead

_WARNINGS = "rank-start rank-gap tie-order blank-in-tag several-tags shared-tag".split()
_ERRORS = (
    "columns rank score empty-run unknown-topic unknown-document duplicate-document no-pair rank-repeated "
    "score-increasing too-many-results too-few-results unknown-stance byte-order-mark too-many-runs"
).split()
CODES = dict.fromkeys(_ERRORS, ERROR) | dict.fromkeys(
    _WARNINGS, WARNING
)  # what can be found, how severe it is

_MOST_BROKEN = 100_000  # lines; a run has 50,000

Numbered = tuple[int, RunLine]  # with its line number
Breach = tuple[str, int | None, str, str]  # a finding without its file: code, line, message, remedy
Tie = tuple[RunLine, int, RunLine, int]


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a run.

    Attributes:
        code: what, as a key of ``CODES``.
        severity: ``error`` or ``warning``.
        run: the path of the run.
        line: the number of the line, or None where it is about the whole run.
        message: what is wrong.
        remedy: what to do about it.
    """

    code: str
    severity: str
    run: str
    line: int | None
    message: str
    remedy: str


@dataclass(frozen=True)
class _Run:
    """A run file: the lines that can be read, and what is wrong with the others."""

    path: Path
    lines: Sequence[Numbered]
    broken: Sequence[Breach]

    @cached_property
    def rankings(self) -> Mapping[str, Sequence[Numbered]]:
        """The lines of each topic in the order of their ranks."""
        topics: dict[str, list[Numbered]] = {}
        for number, line in self.lines:
            topics.setdefault(line.topic, []).append((number, line))
        return {topic: sorted(lines, key=lambda each: each[1].rank) for topic, lines in topics.items()}

    @cached_property
    def ties(self) -> Sequence[Tie]:
        """Lines with one score as float32 whose ranks are not in the order of trec_eval.

        Of each such group: the first line that trec_eval puts below the next one; number and line of that
        one; and the first rank at which trec_eval sees another document.
        """
        return [tie for lines in self.rankings.values() for tie in _ties_of(lines)]

    def findings(self, breaches: Iterable[Breach]) -> list[Finding]:
        """What is wrong, in the order of the lines."""
        return [
            Finding(code, CODES[code], str(self.path), line, message, remedy)
            for code, line, message, remedy in sorted(breaches, key=lambda breach: breach[1] or 0)
        ]


@dataclass(frozen=True)
class _Known:
    """What the runs are checked against, as far as it is available locally.

    Attributes:
        topics: the numbers of the topics, or None.
        documents: which of the ids in the runs are in the corpus, or None.
        results: how many results the corpus has for a topic, counted up to the minimum; or None.
    """

    topics: frozenset[str] | None
    documents: frozenset[str] | None = None
    results: int | None = None


def lint(
    paths: Sequence[Path], task: Task, corpus: Corpus, teams: Mapping[Path, str] | None = None
) -> tuple[list[Finding], list[str]]:
    """Checks runs against the rules of a task.

    Args:
        paths: the run files.
        task: the task that they are for.
        corpus: the collection that they rank.
        teams: the team of each file, from ``teams_by_folder`` or ``teams_named``; None if all are of one.

    Returns:
        The findings, file by file in the order of the lines; and notes: one sentence for each check that
        could not be made because its data is missing, on topics that a run lacks, and on its ties.

    Raises:
        ToucheError: if a file cannot be read as text or is given twice, or topics or corpus are broken.
    """
    if len(set(map(realpath, paths))) < len(paths):
        raise ToucheError("a run file is given twice; give each once")
    runs = [_read(path) for path in paths]
    known, notes = _known(runs, task, corpus)
    cutoff = task.measure.cutoff or MAX_DEPTH  # of scores; without one, to the end of the longest run
    notes += [note for run in runs for note in _missing_topics(run, known)]
    notes += [note for run in runs for note in _tie_note(run, cutoff, task)]
    findings = list[Finding]()
    for team in dict.fromkeys(teams.values() if teams else [""]):
        of_team = [run for run in runs if not teams or teams[run.path] == team]
        findings += _of_submission(of_team, task.rules, team)
    for run in runs:
        of_task = _topics(run, task.rules, known), _wrong_lines(run, task.rules, known)
        findings += run.findings(chain(_format_breaches(run, cutoff), *of_task))
    return findings, notes


def teams_by_folder(paths: Iterable[Path]) -> dict[Path, str]:
    """The team of each run file: the folder that it is in.

    Args:
        paths: the run files.
    """
    return {path: realpath(path.parent) for path in paths}


def teams_named(paths: Sequence[Path], patterns: Sequence[tuple[str, str]]) -> dict[Path, str]:
    """The team of each run file, by its name.

    Args:
        paths: the run files.
        patterns: teams, each with what the names of its files are like, such as ``("Katana", "katana-*")``;
            a pattern with a slash is for whole paths.

    Raises:
        ToucheError: if a file is of no team or of several, or a pattern fits no file.
    """
    teams: dict[Path, str] = {}
    for team, pattern in patterns:
        fitting = [path for path in paths if fnmatchcase(str(path) if "/" in pattern else path.name, pattern)]
        if not fitting:
            raise ToucheError(f"no run of the team {team} is like {pattern!r}; correct the pattern")
        for path in fitting:
            if teams.setdefault(path, team) != team:
                problem = f"{path} is of the teams {teams[path]} and {team}"
                raise ToucheError(f"{problem}; make their patterns more specific")
    if others := [path for path in paths if path not in teams]:
        raise ToucheError(f"{others[0]} is of no team; name its team by --team NAME=PATTERN, or leave it out")
    return teams


def lint_format(path: Path) -> list[Finding]:
    """Checks what must hold for a run of any task: its lines, and that ranks and scores agree.

    Raises:
        ToucheError: if the file cannot be read as text.
    """
    run = _read(path)
    return run.findings(_format_breaches(run, CUTOFF))


def _format_breaches(run: _Run, cutoff: int) -> Iterator[Breach]:
    """What breaks a rule of every task."""
    return chain(run.broken, _duplicate_documents(run), _ranks(run), _tags(run), _tie_breaches(run, cutoff))


def _read(path: Path) -> _Run:
    lines: list[Numbered] = []
    broken: list[Breach] = []
    with open_binary(path) as file:
        if file.read(len(BOM_UTF8)) == BOM_UTF8:
            remedy = "save the file without it; trec_eval takes it for a part of the topic"
            broken.append(("byte-order-mark", 1, "the file begins with a byte order mark", remedy))
    for number, text in enumerate(decoded_lines(path), 1):
        try:
            lines.append((number, parse_line(text, path, number)))
        except LineError as error:
            broken.append((error.column, number, error.problem, error.remedy))
        if len(broken) > _MOST_BROKEN:
            problem = f"more than {_MOST_BROKEN} of its lines are broken"
            raise InputError(path, problem, "check that this is a run", number)
    if not lines and not broken:
        broken.append(("empty-run", None, "the run is empty", "check what wrote it"))
    return _Run(path, lines, broken)


def _known(runs: Iterable[_Run], task: Task, corpus: Corpus) -> tuple[_Known, list[str]]:
    notes = []
    try:
        topics = frozenset(topic.number for topic in read_topics(locate("topics", task.topics)))
    except NotAtHandError:
        topics = None
        notes.append(f"topics are not checked, as topics/{task.topics} is not at hand")
    if not corpus_at_hand(corpus):
        notes.append(f"document ids are not checked, as corpora/{corpus.directory} is not at hand")
        return _Known(topics), notes
    wanted = {id for run in runs for _, line in run.lines for id in _ids(line.document, task.rules)}
    present, results = _look_up(wanted, find_documents(locate_corpus(corpus)), task.rules)
    return _Known(topics, frozenset(present), results), notes


def _look_up(wanted: set[str], documents: Iterable[AnyDocument], rules: Rules) -> tuple[set[str], int]:
    """Reads the corpus no further than is needed to find all ids and to know that it has enough results."""
    present: set[str] = set()
    units = 0
    for document in documents:
        ids = _ids_in(document, rules)
        present |= wanted.intersection(ids)
        units += len(ids)
        if len(present) == len(wanted) and units > rules.min_results:
            break
    return present, units * (units - 1) if rules.unit == PAIR else units


def _ids(document: str, rules: Rules) -> list[str]:
    return document.split(",") if rules.unit == PAIR else [document]


def _ids_in(document: AnyDocument, rules: Rules) -> list[str]:
    """The ids that a run may hold of a document; a conclusion has one even where it is not a sentence."""
    if rules.unit != PAIR or not isinstance(document, Argument):
        return [document.id]
    conclusion = f"{document.id}__CONC__1"
    return [*dict.fromkeys([*(sentence.id for sentence in document.sentences or ()), conclusion])]


def _of_submission(runs: Sequence[_Run], rules: Rules, team: str) -> list[Finding]:
    """What breaks a rule about all runs of a team."""
    findings, first = list[Finding](), dict[str, Path]()
    for run in runs[rules.max_runs :] if rules.max_runs else ():
        of_team = f" of the team {team}" if team else ""
        message = f"{len(runs)} runs{of_team}, but a team may submit {rules.max_runs}"
        otherwise = "" if team else ", or distinguish teams by --team-per-folder or --team"
        breach = "too-many-runs", None, message, f"leave it out{otherwise}"
        findings += run.findings([breach])
    for run in runs:
        for number, line in run.lines[:1]:
            if first.setdefault(line.tag, run.path) != run.path:
                message = f"it has the tag {line.tag!r} of {first[line.tag]}"
                findings += run.findings([("shared-tag", number, message, "give each run its own tag")])
    return findings


def _missing_topics(run: _Run, known: _Known) -> Iterator[str]:
    """Not a finding, because a run may find nothing; but it costs points."""
    if missing := (known.topics or frozenset()) - run.rankings.keys():
        listed = ", ".join(sorted(missing, key=lambda topic: (len(topic), topic)))
        yield f"{run.path} has no results for topics {listed}; trec_eval counts them as 0"


def _wrong_lines(run: _Run, rules: Rules, known: _Known) -> Iterator[Breach]:
    """Lines that by themselves break a rule of the task."""
    for number, line in run.lines:
        ids = _ids(line.document, rules)
        if known.documents is not None and not known.documents.issuperset(ids):
            yield "unknown-document", number, f"{line.document!r} is not in the corpus", "give its ids"
        if rules.unit == PAIR and (len(ids) != 2 or "" in ids or ids[0] == ids[1]):
            message = f"{line.document!r} is not a pair of two different sentences"
            yield "no-pair", number, message, "write two sentence ids, joined by a comma"
        if rules.stances and line.stance.upper() not in rules.stances:
            message = f"the task does not have the stance {line.stance!r}"
            yield "unknown-stance", number, message, f"write {' or '.join(rules.stances)}"


def _duplicate_documents(run: _Run) -> Iterator[Breach]:
    seen: dict[tuple[str, str], int] = {}
    for number, line in run.lines:
        first = seen.setdefault((line.topic, line.document), number)
        if first != number:
            message = f"{line.document!r} stands in line {first} already for topic {line.topic}"
            yield "duplicate-document", number, message, "remove one of the two"


def _ranks(run: _Run) -> Iterator[Breach]:
    rankings = run.rankings.values()
    repeated = [lines[1] for lines in rankings if len(lines) > 1]
    if repeated and all(lines[0][1].rank == lines[-1][1].rank for lines in rankings):
        number, line = repeated[0]
        message = f"all lines of a topic have one rank, those of topic {line.topic} rank {line.rank}"
        yield "rank-repeated", number, message, "count the lines of each topic from 1"
        return
    if late := [lines[0] for lines in rankings if lines[0][1].rank != 1]:
        number, first = late[0]
        message = f"the ranks of {len(late)} topics do not start at 1, those of {first.topic} at {first.rank}"
        yield "rank-start", number, message, "count from 1"
    for (_, above), (number, below) in chain.from_iterable(map(pairwise, rankings)):
        if below.rank == above.rank:
            message = f"rank {below.rank} stands twice in topic {below.topic}"
            yield "rank-repeated", number, message, "give each line a rank of its own"
        elif below.rank > above.rank + 1:
            message = f"rank {below.rank} comes after rank {above.rank} in topic {below.topic}"
            yield "rank-gap", number, message, "give each line the next rank"
        if below.rank > above.rank and np.float32(below.score) > np.float32(above.score):
            place = f"score {below.score} at rank {below.rank} of topic {below.topic}"
            remedy = "rank by descending score; trec_eval goes by the scores"
            yield "score-increasing", number, f"{place} is above {above.score}", remedy


def _ties_of(ranking: Sequence[Numbered]) -> Iterator[Tie]:
    start = 1
    for _, group in groupby(ranking, key=lambda numbered: np.float32(numbered[1].score)):
        tied = list(group)
        ids = [line.document for _, line in tied]
        moved = [id != other for id, other in zip(ids, sorted(ids, reverse=True), strict=True)]
        for (_, above), (number, below) in pairwise(tied):
            if below.rank > above.rank and below.document > above.document:
                yield above, number, below, start + moved.index(True)
                break
        start += len(tied)


def _tie_breaches(run: _Run, cutoff: int) -> Iterator[Breach]:
    """Equal scores, as float32, are a finding only where trec_eval's order is not the one of the ranks."""
    for above, number, below, depth in run.ties:
        documents = f"{above.document!r} and {below.document!r}"
        both = f"topic {above.topic}: {documents} are both {np.float32(above.score)} as float32"
        message = f"{both}, which changes the first {cutoff}" if depth <= cutoff else both
        remedy = "give them different scores; trec_eval puts the greater id first, against the ranks"
        yield "tie-order", number, message, remedy


def _tie_note(run: _Run, cutoff: int, task: Task) -> Iterator[str]:
    """Whether ties matter to the scores, which look no further than the cutoff."""
    if run.ties:
        changed = len({above.topic for above, *_, depth in run.ties if depth <= cutoff}) or "none"
        topics = len({above.topic for above, *_ in run.ties})
        ties = f"{run.path} has ties that trec_eval puts in another order than the ranks in {topics} topics"
        yield f"{ties}; they change the first {cutoff} results, so {task.measure}, of {changed}"


def _topics(run: _Run, rules: Rules, known: _Known) -> Iterator[Breach]:
    """Topics that the task does not have, or with too many or too few results."""
    least = rules.min_results if known.results is None else min(rules.min_results, known.results)
    for topic in dict.fromkeys([*run.rankings, *sorted(known.topics or ())]):
        numbers = sorted(number for number, _ in run.rankings.get(topic, ()))
        results = f"topic {topic} has {len(numbers)} results"
        if known.topics is not None and topic not in known.topics:
            message = f"topic {topic!r} is not a topic of the task ({len(numbers)} lines)"
            yield "unknown-topic", numbers[0], message, "remove its lines"
        if len(numbers) > rules.max_results:
            message = f"{results}; {rules.max_results} are the most"
            yield "too-many-results", numbers[rules.max_results], message, "cut the list"
        if len(numbers) < least:
            line = numbers[-1] if numbers else None
            yield "too-few-results", line, f"{results}; {least} are the least", "return more results"


def _tags(run: _Run) -> Iterator[Breach]:
    if blanks := [(number, line.tag) for number, line in run.lines if len(split_columns(line.tag)) > 1]:
        number, tag = blanks[0]
        word = f"trec_eval takes {split_columns(tag)[0]!r} for the tag {tag!r}, and ir_measures refuses them"
        message = f"there are blanks in the tag, in {len(blanks)} lines: {word}"
        yield "blank-in-tag", number, message, "write a tag without blanks"
    tags: dict[str, int] = {}
    for number, line in run.lines:
        if tags.setdefault(line.tag, number) == number and len(tags) > 1:
            message = f"tag {line.tag!r}, but {next(iter(tags))!r} before"
            yield "several-tags", number, message, "give the whole run one tag"
