"""Lints runs: finds every line that breaks a rule of the task."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from touche.documents.document_records import AnyDocument
from touche.errors import InputError, counted
from touche.evaluation.run_format import (
    ERROR,
    Finding,
    LintedRun,
    repeated_documents,
    unreadable_lines,
    wrong_ranks,
)
from touche.evaluation.teams import AnyTeams, teams_of_runs
from touche.io.identifiers import in_order
from touche.tasks import PAIR, Rules, Task
from touche.trec.by_stance import CountedLines, ranking_names
from touche.trec.by_stance import counted as counted_lines
from touche.trec.columns import Columns, Run
from touche.trec.framed import Table
from touche.trec.run_forms import RunSource, run_sources
from touche.trec.runs import MAX_DEPTH, LineError, lines_after_metadata, read_with_errors, split_columns


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
class _Allowed:
    """What runs may contain. Topics, documents or results are None if they are unknown; they aren't checked
    then.

    Attributes:
        task: the task.
        topics: the topics' numbers, or all ranking names if stances are ranked separately.
        documents: the ids in the runs that exist in the corpus.
        results: how many results per topic are possible, given the number of documents in the corpus. May be
            too small if it is above the smallest number that the rules require, because counting stops there.
    """

    task: Task
    topics: set[str] | None
    documents: set[str] | None = None
    results: int | None = None

    @property
    def cutoff(self) -> int:
        """How many results are scored. For a measure without a cutoff these are all results, at most
        MAX_DEPTH.
        """
        return self.task.measure.cutoff or MAX_DEPTH


LookUp = Callable[[set[str]], tuple[set[str], int]]
"""Takes the ids that runs name. Returns those that the collection contains, and how many results it offers
per topic; it may stop counting at the minimum that the rules ask for."""


_OTHER_KIND = ("no-pair", "unknown-document", "unknown-stance")
"""Codes of results of another kind than the task's."""


def why_other_kind(run: Path, task: Task, documents: Iterable[AnyDocument]) -> str:
    """Returns the message of the first finding about results of the wrong kind, e.g. documents in a task
    whose runs rank pairs of sentences. Returns an empty string if all results are of the kind that the task
    ranks.

    Args:
        run: the run's file.
        task: the task.
        documents: the collection.

    Raises:
        ToucheError: if the file is no run, or the collection is broken.
    """
    look_up = partial(ids_in_collection, documents, task.rules)
    findings = lint_runs(run_sources(run), task, None, look_up)
    return next((finding.message for finding in findings if finding.code in _OTHER_KIND), "")


def ids_in_collection(
    documents: Iterable[AnyDocument], rules: Rules, ids_to_find: set[str]
) -> tuple[set[str], int]:
    """Looks up a run's ids in a collection. Stops reading when all ids are found and enough documents were
    read for the number of results that the rules require; see ``LookUp``.

    Args:
        documents: the collection.
        rules: the task's rules.
        ids_to_find: the ids of all documents, or of all sentences, in the runs.

    Returns:
        The ids that were found, and how many results per topic are possible with the documents read so far.
    """
    from touche.documents.ids import ids_in  # here, because it takes 54 ms

    present: set[str] = set()
    units = 0  # how many documents were read, or sentences if results are pairs of sentences
    for document in documents:
        ids = ids_in(document, of_sentences=rules.unit == PAIR)
        present |= ids_to_find.intersection(ids)
        units += len(ids)
        # With n = min_results, n documents are enough, and n + 1 sentences are enough for n pairs. Reading
        # one more document than necessary costs nothing, so we use n + 1 for both.
        if len(present) == len(ids_to_find) and units > rules.min_results:
            break
    results = units * (units - 1) if rules.unit == PAIR else units  # (a, b) and (b, a) are different pairs
    return present, results


def lint_runs(
    sources: Sequence[RunSource],
    task: Task,
    topics: Set[str] | None,
    look_up: LookUp | None,
    teams: AnyTeams = None,
) -> Findings:
    """Checks a submission's runs against a task's rules.

    Args:
        sources: the runs.
        task: the task.
        topics: the numbers of the task's topics; None if they are unknown.
        look_up: the function that looks up the runs' ids in the collection; None if no collection was passed.
        teams: as for ``touche.lint``.

    Raises:
        ToucheError: if a run can't be opened, if there is only one run and it isn't text, or if a run's team
            is unclear.
    """
    team_of_run = teams_of_runs([source.name for source in sources], teams)
    rules = task.rules
    linted = [_read(source, rules, topics, is_only_run=len(sources) == 1) for source in sources]
    allowed = _Allowed(task, None if topics is None else {*ranking_names(topics, rules.ranked_stances)})
    if look_up is not None:
        wanted = {id for run in linted for id in run.ids(rules)}
        documents, results = look_up(wanted)
        allowed = replace(allowed, documents=documents, results=results)
    notes = [note for run in linted if run.is_readable for note in _missing_topics_note(run, allowed)]
    notes += [note for run in linted for note in _tie_note(run, allowed)]
    findings = [*_submission_findings(linted, rules, team_of_run)]
    for run in linted:
        findings += _run_findings(run, allowed)
    return Findings(
        kind=Finding,
        records=tuple(findings),
        notes=tuple(notes),
        runs=len(sources),
        teams=() if teams is None else tuple(team_of_run[source.name] for source in sources),
    )


def _run_findings(run: LintedRun, allowed: _Allowed) -> list[Finding]:
    """Returns a run's findings in line order. Findings about the whole run come first."""
    if not run.is_readable:
        return [*unreadable_lines(run)]
    findings = chain(
        unreadable_lines(run),
        repeated_documents(run),
        wrong_ranks(run),
        _wrong_tags(run),
        _reordered_ties(run, allowed),
        _wrong_topics(run, allowed),
        _wrong_lines(run, allowed),
    )
    return sorted(findings, key=lambda finding: finding.line or 0)


def _wrong_tags(run: LintedRun) -> Iterator[Finding]:
    """Yields the first tag with blanks, and the first line of each additional tag."""
    tags = run.readable.tags
    # A tag is the rest of the line after the fifth column.
    codes_with_blanks = [code for code, tag in enumerate(tags.words) if len(split_columns(tag)) > 1]
    with_blanks = np.flatnonzero(np.isin(tags.codes, codes_with_blanks))
    if len(with_blanks):
        tag = tags.words[tags.codes[with_blanks[0]]]
        message = (
            f"the tag has blanks in {counted(len(with_blanks), 'line')}: trec_eval reads only "
            f"{split_columns(tag)[0]!r} of {tag!r}, and ir_measures refuses such lines"
        )
        yield run.finding(
            code="blank-in-tag",
            line=run.number(with_blanks[0]),
            message=message,
            remedy="write a tag without blanks",
        )
    _, first_lines = np.unique(tags.codes, return_index=True)
    for index in sorted(first_lines.tolist())[1:]:
        yield run.finding(
            code="several-tags",
            line=run.number(index),
            message=f"tag {tags.words[tags.codes[index]]!r}, but {run.readable.tag!r} before",
            remedy="use one tag for the whole run",
        )


def _reordered_ties(run: LintedRun, allowed: _Allowed) -> Iterator[Finding]:
    """Yields scores that are equal as float32, if trec_eval orders the lines differently from the ranks."""
    for tie in run.ties:
        documents = f"{tie.above.document!r} and {tie.below.document!r}"
        score = f"the same score {np.float32(tie.above.score)} as float32"
        order = "so trec_eval orders them by descending id, against the ranks"
        within_cutoff = f", also among the first {allowed.cutoff}" if tie.depth <= allowed.cutoff else ""
        message = f"topic {tie.above.topic}: {documents} have {score}, {order}{within_cutoff}"
        yield run.finding(
            code="tie-order", line=tie.number, message=message, remedy="give them different scores"
        )


def _wrong_topics(run: LintedRun, allowed: _Allowed) -> Iterator[Finding]:
    """Yields a finding for each topic that isn't in the task, or that has too many or too few results."""
    rules = allowed.task.rules
    # Don't require more results than are possible with the documents in the corpus.
    required = rules.min_results if allowed.results is None else min(rules.min_results, allowed.results)
    # Also check the task's topics that have no results at all, because none is too few.
    for topic in dict.fromkeys([*run.rankings, *sorted(allowed.topics or (), key=in_order)]):
        line_numbers = sorted(run.readable.line_numbers[run.rankings.get(topic, [])].tolist())
        result_count = f"topic {topic} has {counted(len(line_numbers), 'result')}"
        if allowed.topics is not None and topic not in allowed.topics:
            yield run.finding(
                code="unknown-topic",
                # There is at least one line, because only the run can contain an unknown topic.
                line=line_numbers[0],
                message=f"topic {topic!r} is not a topic of the task ({counted(len(line_numbers), 'line')})",
                remedy="remove its lines",
            )
        if len(line_numbers) > rules.max_results:
            yield run.finding(
                code="too-many-results",
                line=line_numbers[rules.max_results],  # the first line above the limit
                message=f"{result_count}, but at most {rules.max_results} are allowed",
                remedy="cut the list",
            )
        if len(line_numbers) < required:
            yield run.finding(
                code="too-few-results",
                line=line_numbers[-1] if line_numbers else None,
                message=f"{result_count}, but at least {required} are required",
                remedy="return more results",
            )


def _wrong_lines(run: LintedRun, allowed: _Allowed) -> Iterator[Finding]:
    """Yields results that aren't in the corpus or don't have the task's form."""
    rules = allowed.task.rules
    if allowed.documents is not None:
        # A pair isn't in the corpus, but both of its sentences must be.
        others = {*run.readable.documents.tolist()} - allowed.documents
        unknown = {other for other in others if not allowed.documents.issuperset(rules.ids_of(other))}
        for number, document in run.lines_with(unknown):
            yield run.finding(
                code="unknown-document",
                line=number,
                message=f"{document!r} is not in the corpus",
                remedy="use its ids",
            )
    if rules.unit == PAIR:
        documents = {*run.readable.documents.tolist()}
        no_pairs = {document for document in documents if not _are_pair(rules.ids_of(document))}
        for number, document in run.lines_with(no_pairs):
            yield run.finding(
                code="no-pair",
                line=number,
                message=f"{document!r} is not a pair of two different sentences",
                remedy="write two sentence ids, joined by a comma",
            )
    # The rules write stances in upper case, but lower case is accepted, too, as it is in qrels.
    stances = run.readable.stances
    wrong = [code for code, word in enumerate(stances.words) if word.upper() not in rules.stances]
    for index in np.flatnonzero(np.isin(stances.codes, wrong)).tolist() if rules.stances else []:
        yield run.finding(
            code="unknown-stance",
            line=run.number(index),
            message=f"the task does not have the stance {stances.words[stances.codes[index]]!r}",
            remedy=f"write {' or '.join(rules.stances)}",
        )


def _are_pair(ids: Sequence[str]) -> bool:
    """Returns whether the ids name two different sentences."""
    return len(ids) == 2 and "" not in ids and ids[0] != ids[1]


def _submission_findings(
    runs: Sequence[LintedRun], rules: Rules, team_of_run: Mapping[Path, str]
) -> Iterator[Finding]:
    """Yields what's wrong with a team's runs together: too many of them, or a tag that several use."""
    for team in dict.fromkeys(team_of_run.values()):
        submission = [run for run in runs if team_of_run[run.path] == team]
        for run in submission[rules.max_runs :] if rules.max_runs else []:
            name = f" of the team {team}" if team else ""
            yield run.finding(
                code="too-many-runs",
                line=None,
                message=f"{len(submission)} runs{name}, but a team may submit {rules.max_runs}",
                remedy="omit this run" if team else "omit this run, or name the team of each run",
            )
        first_path_of_tag = dict[str, Path]()
        for run in submission:
            if not run.readable:
                continue
            # The first line's tag; if the run contains a second tag, another finding says so.
            tag = run.readable.tag
            first_path = first_path_of_tag.setdefault(tag, run.path)
            if first_path != run.path:
                yield run.finding(
                    code="shared-tag",
                    line=run.number(0),
                    message=f"the tag {tag!r} is also that of {first_path}",
                    remedy="use a different tag for each run",
                )


def _missing_topics_note(run: LintedRun, allowed: _Allowed) -> Iterator[str]:
    """Yields a note about topics without results. They break no rule, but they lower the score."""
    missing = (allowed.topics or set()) - run.rankings.keys()  # empty if the task's topics are unknown
    if missing:
        listed = ", ".join(sorted(missing, key=in_order))
        effect = "trec_eval counts them as 0"
        if not run.is_ordered_by_score:
            effect = (
                "the organizers' script counts a missing stance as 0, "
                "and leaves out a topic with neither stance"
            )
        yield f"{run.path} has no results for topics {listed}; {effect}"


def _tie_note(run: LintedRun, allowed: _Allowed) -> Iterator[str]:
    """Yields a note that says whether ties affect the score. Only ties down to the measure's cutoff do."""
    if run.ties:
        topics = {tie.above.topic for tie in run.ties}
        problem = f"ties that trec_eval orders differently from the ranks in {counted(len(topics), 'topic')}"
        changed = {tie.above.topic for tie in run.ties if tie.depth <= allowed.cutoff}
        effect = (
            f"the first {allowed.cutoff} results, and so {allowed.task.measure}, of {len(changed) or 'none'}"
        )
        yield f"{run.path} has {problem}; this changes {effect}"


def _read(source: RunSource, rules: Rules, topics: Collection[str] | None, *, is_only_run: bool) -> LintedRun:
    """Reads a run's lines. For lines that can't be read, the result says why.

    Raises:
        InputError: if the file can't be opened. Also if the file isn't text or has too many broken lines, but
            only if it's the only run; otherwise, this becomes a finding, so that the other runs are linted.
    """
    try:
        return _read_rankings(source, rules, topics) if rules.by_stance else _read_run(source)
    except InputError as error:
        # OSError: the file is missing, or is a folder.
        if is_only_run or isinstance(error.__cause__, OSError):
            raise
        unreadable = LineError(
            "unreadable", source.name, problem=error.problem, remedy=error.remedy, line=error.line
        )
        return LintedRun(source.name, Columns().run(source.name), [unreadable])


def _read_run(source: RunSource) -> LintedRun:
    """Reads a run's lines. For lines that can't be read, the result says why; a run in memory has no such
    lines.

    Raises:
        InputError: if there are too many broken lines, or the file isn't text.
    """
    content = source.content
    if isinstance(content, Run):
        return LintedRun(source.name, source.named(content), [])
    run, errors = read_with_errors(source.path, content)
    return LintedRun(source.name, source.named(run), errors, has_metadata=_has_metadata(source))


def _read_rankings(source: RunSource, rules: Rules, topics: Collection[str] | None) -> LintedRun:
    """Reads a run with a ranking per stance. For lines that the organizers' script skips, the result says
    why.
    """
    run = source.read(by_stance=True)
    rule = CountedLines(
        stances=rules.stances,
        ids=rules.ids,
        depth=rules.max_results,
        topics=None if topics is None else frozenset(topics),
    )
    rankings, errors = counted_lines(run, rule)
    return LintedRun(
        source.name,
        rankings,
        [*run.unread, *errors],
        is_ordered_by_score=False,
        has_metadata=_has_metadata(source),
    )


def _has_metadata(source: RunSource) -> bool:
    return not isinstance(source.content, Run) and lines_after_metadata(source.path, source.content)[1]
