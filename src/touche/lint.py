"""The linter for runs: every line that breaks a rule of the task."""

from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from os.path import realpath  # that of Path raises where links lead round in circles
from pathlib import Path

import numpy as np

from touche.data.places import corpus_at_hand, locate, locate_corpus
from touche.errors import InputError, NotAtHandError, ToucheError
from touche.formats.columns import split_columns
from touche.formats.documents import AnyDocument, Argument
from touche.formats.runs import MAX_DEPTH, LineError, RunLine, parse_line
from touche.formats.topics import read_topics_xml
from touche.io.opening import decoded_lines, open_binary
from touche.tasks import CUTOFF, PAIR, Corpus, Rules, Task
from touche.tira.inputs import find_documents

ERROR, WARNING = "error", "warning"  # an error breaks a rule; a warning changes no rule, but may mislead

# What can be found, and how severe it is.
CODES = {
    "columns": ERROR,
    "rank": ERROR,
    "score": ERROR,
    "empty-run": ERROR,
    "unknown-topic": ERROR,
    "unknown-document": ERROR,
    "duplicate-document": ERROR,
    "no-pair": ERROR,
    "rank-start": WARNING,
    "rank-gap": WARNING,
    "rank-repeated": ERROR,
    "score-increasing": ERROR,
    "tie-order": WARNING,
    "too-many-results": ERROR,
    "too-few-results": ERROR,
    "unknown-stance": ERROR,
    "blank-in-tag": WARNING,
    "several-tags": WARNING,
    "shared-tag": WARNING,
    "byte-order-mark": ERROR,
    "too-many-runs": ERROR,
}

_MOST_BROKEN = 100_000  # lines; a run has 50,000

Numbered = tuple[int, RunLine]  # with its line number
Breach = tuple[str, int | None, str, str]  # a finding without its file: code, line, message, remedy


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
class Known:
    """What the runs are checked against, as far as it is at hand.

    Attributes:
        topics: the numbers of the topics, or None.
        documents: which of the ids in the runs are in the corpus, or None.
        results: how many results the corpus has for a topic, counted up to the minimum; or None.
    """

    topics: frozenset[str] | None
    documents: frozenset[str] | None = None
    results: int | None = None


def lint(paths: Sequence[Path], task: Task, corpus: Corpus) -> tuple[list[Finding], list[str]]:
    """Checks the runs of one team's submission against the rules of a task.

    Args:
        paths: the run files.
        task: the task that they are for.
        corpus: the collection that they rank.

    Returns:
        The findings, file by file in the order of the lines; and notes: one sentence for each check that
        could not be made because its data is not at hand, on topics that a run lacks, and on its ties.

    Raises:
        ToucheError: if a file cannot be read as text or is given twice, or topics or corpus are broken.
    """
    if len(set(map(realpath, paths))) < len(paths):
        raise ToucheError("a run file is given twice; give each once")
    parsed = {path: _parse(path) for path in paths}
    runs = {path: lines for path, (lines, _) in parsed.items()}
    known, notes = _known(runs.values(), task, corpus)
    notes += [note for path, lines in runs.items() for note in _missing_topics(path, lines, known)]
    notes += [note for path, lines in runs.items() for note in _tie_notes(path, lines, task)]
    findings = [*_too_many_runs(paths, task.rules), *_shared_tags(runs)]
    for path, (lines, broken) in parsed.items():
        breaches = [breach for check in _TASK_CHECKS for breach in check(lines, task.rules, known)]
        findings += _findings(path, [*broken, *_format_breaches(lines, _cutoff(task)), *breaches])
    return findings, notes


def lint_format(path: Path) -> list[Finding]:
    """Checks what must hold for a run of any task: its lines, and that ranks and scores agree.

    Raises:
        ToucheError: if the file cannot be read as text.
    """
    lines, broken = _parse(path)
    return _findings(path, [*broken, *_format_breaches(lines, CUTOFF)])


def _format_breaches(lines: Sequence[Numbered], cutoff: int) -> list[Breach]:
    return [*(breach for check in _FORMAT_CHECKS for breach in check(lines)), *_ties(lines, cutoff)]


def _findings(path: Path, breaches: Iterable[Breach]) -> list[Finding]:
    return [_finding(path, *breach) for breach in sorted(breaches, key=lambda breach: breach[1] or 0)]


def _finding(path: Path, code: str, line: int | None, message: str, remedy: str) -> Finding:
    return Finding(code, CODES[code], str(path), line, message, remedy)


def _parse(path: Path) -> tuple[list[Numbered], list[Breach]]:
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
    return lines, broken


def _known(runs: Iterable[Sequence[Numbered]], task: Task, corpus: Corpus) -> tuple[Known, list[str]]:
    notes = []
    try:
        topics = frozenset(topic.number for topic in read_topics_xml(locate("topics", task.topics)))
    except NotAtHandError:
        topics = None
        notes.append(f"topics are not checked, as topics/{task.topics} is not at hand")
    if not corpus_at_hand(corpus):
        notes.append(f"document ids are not checked, as corpora/{corpus.directory} is not at hand")
        return Known(topics), notes
    wanted = {each for lines in runs for _, line in lines for each in _ids(line.document, task.rules)}
    documents = find_documents(locate_corpus(corpus))
    found, results = _look_up(wanted, documents, task.rules)
    return Known(topics, frozenset(found), results), notes


def _look_up(wanted: set[str], documents: Iterable[AnyDocument], rules: Rules) -> tuple[set[str], int]:
    """Reads the corpus no further than is needed to find all ids and to know that it has enough results."""
    found: set[str] = set()
    units = 0
    for document in documents:
        ids = _ids_in(document, rules)
        found |= wanted.intersection(ids)
        units += len(ids)
        if len(found) == len(wanted) and units > rules.min_results:
            break
    return found, units * (units - 1) if rules.unit == PAIR else units


def _ids(document: str, rules: Rules) -> list[str]:
    return document.split(",") if rules.unit == PAIR else [document]


def _ids_in(document: AnyDocument, rules: Rules) -> list[str]:
    """The ids that a run may hold of a document; a conclusion has one even where it is no sentence."""
    if rules.unit != PAIR or not isinstance(document, Argument):
        return [document.id]
    conclusion = f"{document.id}__CONC__1"
    return [*dict.fromkeys([*(sentence.id for sentence in document.sentences or ()), conclusion])]


def _too_many_runs(paths: Sequence[Path], rules: Rules) -> Iterator[Finding]:
    if rules.max_runs is not None:
        for path in paths[rules.max_runs :]:
            message = f"{len(paths)} runs, but a team may submit {rules.max_runs}"
            remedy = "leave it out, or lint each team by itself"
            yield _finding(path, "too-many-runs", None, message, remedy)


def _shared_tags(runs: Mapping[Path, Sequence[Numbered]]) -> Iterator[Finding]:
    first: dict[str, Path] = {}
    for path, lines in runs.items():
        if lines and first.setdefault(tag := lines[0][1].tag, path) != path:
            message = f"it has the tag {tag!r} of {first[tag]}"
            yield _finding(path, "shared-tag", lines[0][0], message, "give each run its own tag")


def _missing_topics(path: Path, lines: Sequence[Numbered], known: Known) -> Iterator[str]:
    """No finding, for a run may find nothing; but it costs points."""
    if missing := (known.topics or frozenset()) - {line.topic for _, line in lines}:
        listed = ", ".join(sorted(missing, key=lambda topic: (len(topic), topic)))
        yield f"{path} has no results for topics {listed}; trec_eval counts them as 0"


def _unknown_topics(lines: Sequence[Numbered], rules: Rules, known: Known) -> Iterator[Breach]:
    for topic, of_topic in _by_topic(lines).items():
        if known.topics is not None and topic not in known.topics:
            message = f"topic {topic!r} is no topic of the task ({len(of_topic)} lines)"
            yield "unknown-topic", of_topic[0][0], message, "remove its lines"


def _unknown_documents(lines: Sequence[Numbered], rules: Rules, known: Known) -> Iterator[Breach]:
    for number, line in lines:
        if known.documents is not None and not known.documents.issuperset(_ids(line.document, rules)):
            message = f"{line.document!r} is not in the corpus"
            yield "unknown-document", number, message, "give the ids of the corpus"


def _duplicate_documents(lines: Sequence[Numbered]) -> Iterator[Breach]:
    seen: dict[tuple[str, str], int] = {}
    for number, line in lines:
        first = seen.setdefault((line.topic, line.document), number)
        if first != number:
            message = f"{line.document!r} stands in line {first} already for topic {line.topic}"
            yield "duplicate-document", number, message, "remove one of the two"


def _no_pairs(lines: Sequence[Numbered], rules: Rules, known: Known) -> Iterator[Breach]:
    for number, line in lines if rules.unit == PAIR else ():
        ids = line.document.split(",")
        if len(ids) != 2 or "" in ids or ids[0] == ids[1]:
            message = f"{line.document!r} is not a pair of two different sentences"
            yield "no-pair", number, message, "write two sentence ids, joined by a comma"


def _ranks(lines: Sequence[Numbered]) -> Iterator[Breach]:
    rankings = {topic: _in_order_of_rank(of_topic) for topic, of_topic in _by_topic(lines).items()}
    if repeated := _one_rank_for_all(rankings.values()):
        number, line = repeated
        message = f"all lines of a topic have one rank, those of topic {line.topic} rank {line.rank}"
        yield "rank-repeated", number, message, "count the lines of each topic from 1"
        return
    if late := [ranked[0] for ranked in rankings.values() if ranked[0][1].rank != 1]:
        number, first = late[0]
        message = f"the ranks of {len(late)} topics do not start at 1, those of {first.topic} at {first.rank}"
        yield "rank-start", number, message, "count from 1"
    for topic, ranked in rankings.items():
        for (_, above), (number, below) in pairwise(ranked):
            if below.rank == above.rank:
                message = f"rank {below.rank} stands twice in topic {topic}"
                yield "rank-repeated", number, message, "give each line a rank of its own"
            elif below.rank > above.rank + 1:
                message = f"rank {below.rank} comes after rank {above.rank} in topic {topic}"
                yield "rank-gap", number, message, "give each line the next rank"


def _one_rank_for_all(rankings: Collection[Sequence[Numbered]]) -> Numbered | None:
    """The first line that repeats a rank, if no topic has two."""
    if any(ranked[0][1].rank != ranked[-1][1].rank for ranked in rankings):
        return None
    return next((ranked[1] for ranked in rankings if len(ranked) > 1), None)


def _scores(lines: Sequence[Numbered]) -> Iterator[Breach]:
    for topic, of_topic in _by_topic(lines).items():
        for (_, above), (number, below) in pairwise(_in_order_of_rank(of_topic)):
            if below.rank > above.rank and np.float32(below.score) > np.float32(above.score):
                message = f"score {below.score} at rank {below.rank} of topic {topic} is above {above.score}"
                remedy = "rank by descending score; trec_eval goes by the scores"
                yield "score-increasing", number, message, remedy


@dataclass(frozen=True)
class _Tie:
    """Lines of a topic with one score as float32, whose ranks are not in the order of trec_eval.

    Attributes:
        above, below: the first two that stand the other way round, with the number of the second line.
        changes_first: whether trec_eval sees other results than the ranks say, or in another order, down to
            the cutoff.
    """

    above: RunLine
    below: RunLine
    number: int
    changes_first: bool


def _ties_against_the_ranks(lines: Sequence[Numbered], cutoff: int) -> Iterator[_Tie]:
    for of_topic in _by_topic(lines).values():
        place = 0
        for _, group in groupby(_in_order_of_rank(of_topic), key=lambda each: np.float32(each[1].score)):
            tied = list(group)
            shown = [line.document for _, line in tied]
            first = slice(max(0, cutoff - place))
            for (_, above), (number, below) in pairwise(tied):
                if below.rank > above.rank and below.document > above.document:
                    changes_first = shown[first] != sorted(shown, reverse=True)[first]
                    yield _Tie(above, below, number, changes_first)
                    break
            place += len(tied)


def _ties(lines: Sequence[Numbered], cutoff: int) -> Iterator[Breach]:
    """Equal scores, as float32, are a finding only where trec_eval's order is not the one of the ranks."""
    for tie in _ties_against_the_ranks(lines, cutoff):
        above, below, score = tie.above, tie.below, np.float32(tie.above.score)
        both = f"topic {above.topic}: {above.document!r} and {below.document!r} are both {score} as float32"
        message = f"{both}, which changes the first {cutoff}" if tie.changes_first else both
        remedy = "give them different scores; trec_eval puts the greater id first, against the ranks"
        yield "tie-order", tie.number, message, remedy


def _tie_notes(path: Path, lines: Sequence[Numbered], task: Task) -> Iterator[str]:
    """Whether ties matter to the scores, which look no further than the cutoff."""
    ties = list(_ties_against_the_ranks(lines, _cutoff(task)))
    if not ties:
        return
    topics = len({tie.above.topic for tie in ties})
    changed = len({tie.above.topic for tie in ties if tie.changes_first})
    found = f"{path} has ties that trec_eval puts in another order than the ranks in {topics} topics"
    yield f"{found}; they change the first {_cutoff(task)} results, so {task.measure}, of {changed or 'none'}"


def _cutoff(task: Task) -> int:
    """How far scores look; where the measure has no cutoff, to the end of the longest run."""
    return task.measure.cutoff or MAX_DEPTH


def _numbers_of_results(lines: Sequence[Numbered], rules: Rules, known: Known) -> Iterator[Breach]:
    by_topic = _by_topic(lines)
    least = rules.min_results if known.results is None else min(rules.min_results, known.results)
    for topic in {**by_topic, **dict.fromkeys(sorted(known.topics or ()))}:
        of_topic = by_topic.get(topic, [])
        if len(of_topic) > rules.max_results:
            message = f"topic {topic} has {len(of_topic)} results; {rules.max_results} are the most"
            yield "too-many-results", of_topic[rules.max_results][0], message, "cut the list"
        if len(of_topic) < least:
            message = f"topic {topic} has {len(of_topic)} results; {least} are the least"
            number = of_topic[-1][0] if of_topic else None
            yield "too-few-results", number, message, "return more results"


def _stances(lines: Sequence[Numbered], rules: Rules, known: Known) -> Iterator[Breach]:
    for number, line in lines:
        if rules.stances and line.stance not in rules.stances:
            message = f"the task knows no stance {line.stance!r}"
            yield "unknown-stance", number, message, f"write {' or '.join(rules.stances)}"


def _blanks_in_tags(lines: Sequence[Numbered]) -> Iterator[Breach]:
    if found := [(number, line.tag) for number, line in lines if len(split_columns(line.tag)) > 1]:
        number, tag = found[0]
        taken = f"trec_eval takes {split_columns(tag)[0]!r} for the tag {tag!r}"
        message = f"there are blanks in the tag, in {len(found)} lines: {taken}, and ir_measures refuses them"
        remedy = "write a tag without blanks"
        yield "blank-in-tag", number, message, remedy


def _tags(lines: Sequence[Numbered]) -> Iterator[Breach]:
    seen: dict[str, int] = {}
    for number, line in lines:
        if seen.setdefault(line.tag, number) == number and len(seen) > 1:
            message = f"tag {line.tag!r}, but {next(iter(seen))!r} before"
            yield "several-tags", number, message, "give the whole run one tag"


# What must hold for a run of any task, and what a task asks for.
_FORMAT_CHECKS: Sequence[Callable[[Sequence[Numbered]], Iterator[Breach]]] = (
    _duplicate_documents,
    _ranks,
    _scores,
    _blanks_in_tags,
    _tags,
)
_TASK_CHECKS: Sequence[Callable[[Sequence[Numbered], Rules, Known], Iterator[Breach]]] = (
    _unknown_topics,
    _unknown_documents,
    _no_pairs,
    _numbers_of_results,
    _stances,
)


def _by_topic(lines: Iterable[Numbered]) -> dict[str, list[Numbered]]:
    topics: dict[str, list[Numbered]] = {}
    for number, line in lines:
        topics.setdefault(line.topic, []).append((number, line))
    return topics


def _in_order_of_rank(lines: Iterable[Numbered]) -> list[Numbered]:
    return sorted(lines, key=lambda numbered: numbered[1].rank)
