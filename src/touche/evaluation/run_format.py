"""Errors in a run's lines that don't depend on the task."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from touche.errors import counted
from touche.tasks import Rules
from touche.trec.columns import Order, Run, RunLine
from touche.trec.runs import LineError, read_with_errors

ERROR = "error"  # breaks a rule
WARNING = "warning"  # breaks no rule, but a score may not mean what the user thinks

_WARNINGS = "rank-start rank-gap tie-order blank-in-tag several-tags shared-tag metadata".split()
_ERRORS = (
    "columns id rank score empty-run unknown-topic unknown-document duplicate-document "
    "no-pair rank-repeated score-increasing too-many-results too-few-results unknown-stance "
    "byte-order-mark too-many-runs unreadable"
).split()
# Finding codes with their severity.
CODES = dict.fromkeys(_ERRORS, ERROR) | dict.fromkeys(_WARNINGS, WARNING)


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


@dataclass(frozen=True)
class _Tie:
    """Lines with equal float32 scores that trec_eval orders differently from the run's ranks.

    Attributes:
        above: the first line that trec_eval puts below the next one.
        below: that next line.
        number: ``below``'s line number.
        depth: the first position, counted from 1, at which trec_eval's ranking of the topic differs from the
            run's.
    """

    above: RunLine
    below: RunLine
    number: int
    depth: int


@dataclass(frozen=True)
class LintedRun:
    """A run's readable lines, and an error for each line that can't be read.

    Attributes:
        path: the run's file or name.
        readable: the readable lines. If stances are ranked separately, ranking names such as ``1 PRO``
            replace topics.
        errors: an error for each line that can't be read, and errors about the beginning of the file.
        is_ordered_by_score: whether the task's evaluator sorts lines by score. Otherwise, each stance has its
            own ranking, which the organizers' script sorts by rank.
        has_metadata: whether the file begins with metadata in comments.
    """

    path: Path
    readable: Run
    errors: Sequence[LineError]
    is_ordered_by_score: bool = True
    has_metadata: bool = False

    @property
    def is_readable(self) -> bool:
        """Whether the file is text in a format that we read."""
        return all(error.kind != "unreadable" for error in self.errors)

    @property
    def rankings(self) -> Order:
        """The indices of each topic's readable lines, in rank order."""
        return self.readable.by_rank

    @cached_property
    def ties(self) -> Sequence[_Tie]:
        """Ties that trec_eval orders differently from the ranks. At most one tie per topic and score is
        listed.
        """
        if not self.is_ordered_by_score:
            return []
        return [tie for order in self.rankings.values() for tie in _ties(self.readable, order)]

    def number(self, index: int) -> int:
        """Returns the line number, in the file, of the readable line with this index."""
        return int(self.readable.line_numbers[index])

    def ids(self, rules: Rules) -> Iterator[str]:
        """Yields the ids in all lines: of documents, or, if the task ranks pairs, of both sentences in each
        pair.
        """
        for document in {*self.readable.documents.tolist()}:
            yield from rules.ids_of(document)

    def lines_with(self, documents: Set[str]) -> Iterator[tuple[int, str]]:
        """Yields the line number and the document of each line whose document is one of these."""
        if documents:
            numbers = self.readable.line_numbers.tolist()
            for number, document in zip(numbers, self.readable.documents.tolist(), strict=True):
                if document in documents:
                    yield number, document

    def finding(self, code: str, line: int | None, message: str, remedy: str) -> Finding:
        """Returns a finding in this run. Arguments as in ``Finding``."""
        return Finding(
            code=code,
            severity=CODES[code],
            run=str(self.path),
            line=line,
            message=message,
            remedy=remedy,
        )


def format_errors(path: Path) -> list[Finding]:
    """Returns a run's errors that don't depend on the task, in line order.

    Raises:
        ToucheError: if the file isn't text.
    """
    run, broken = read_with_errors(path)
    # Rankings, because in image retrieval, each stance of a topic has its own.
    linted = LintedRun(path, run.rankings, broken)
    findings = chain(unreadable_lines(linted), repeated_documents(linted), wrong_ranks(linted))
    errors = [finding for finding in findings if finding.severity == ERROR]
    return sorted(errors, key=lambda finding: finding.line or 0)


def unreadable_lines(run: LintedRun) -> Iterator[Finding]:
    """Yields findings about lines that can't be read: metadata or a byte order mark at the file's beginning,
    and broken lines. Also yields one if a file has no lines.
    """
    if run.has_metadata:
        yield run.finding(
            code="metadata",
            line=1,
            message="the run begins with metadata, which trec_eval and ir_measures don't read",
            remedy="move it into ir-metadata.yml next to the run",
        )
    for error in run.errors:
        yield run.finding(code=error.kind, line=error.line, message=error.problem, remedy=error.remedy)
    if not (run.readable or run.errors):
        yield run.finding(
            code="empty-run", line=None, message="the run is empty", remedy="check how it was written"
        )


def repeated_documents(run: LintedRun) -> Iterator[Finding]:
    """Yields documents that occur twice in a topic."""
    for topic, lines in run.readable.by_topic.items():
        documents = run.readable.documents[lines].tolist()
        # The usual case: no document is repeated, which this comparison finds out fast.
        if len({*documents}) == len(documents):
            continue
        first_lines = dict[str, int]()
        for index, document in zip(lines.tolist(), documents, strict=True):
            first_line = first_lines.setdefault(document, index)
            if first_line != index:
                yield run.finding(
                    code="duplicate-document",
                    line=run.number(index),
                    message=f"{document!r} is already in line {run.number(first_line)} for topic {topic}",
                    remedy="remove one of the two",
                )


def wrong_ranks(run: LintedRun) -> Iterator[Finding]:
    """Yields ranks that repeat, don't start at 1, leave gaps, or contradict scores."""
    ranks = run.readable.ranks
    rankings = run.rankings
    # If ranks repeat, a ranking's second line is the first line to report.
    second_lines = [(topic, order[1]) for topic, order in rankings.items() if len(order) > 1]
    # A ranking is sorted by rank. So if the ranks of its first and last line are equal, all its ranks are.
    rankings_have_one_rank = all(ranks[order[0]] == ranks[order[-1]] for order in rankings.values())
    # No result has a rank of its own, so report this once, not for each line.
    if rankings_have_one_rank and second_lines:
        topic, index = second_lines[0]
        example = f"rank {ranks[index]} in topic {topic}"
        yield run.finding(
            code="rank-repeated",
            line=run.number(index),
            message=f"all lines of a topic have the same rank, such as {example}",
            remedy="number the lines of each topic from 1",
        )
        return
    wrong_starts = [(topic, order[0]) for topic, order in rankings.items() if ranks[order[0]] != 1]
    if wrong_starts:
        topic, index = wrong_starts[0]
        example = f"topic {topic} starts at {ranks[index]}"
        yield run.finding(
            code="rank-start",
            line=run.number(index),
            message=f"ranks do not start at 1 in {counted(len(wrong_starts), 'topic')}; {example}",
            remedy="start at 1",
        )
    for topic, order in rankings.items():
        yield from _wrong_neighbours(run, topic, order)


def _wrong_neighbours(run: LintedRun, topic: str, order: NDArray[np.intp]) -> Iterator[Finding]:
    """Yields a finding for each line of a ranking whose rank or score doesn't fit the line above it.

    Args:
        run: the run.
        topic: the topic.
        order: the indices of its lines, in rank order.
    """
    ranks = run.readable.ranks[order]
    scores = run.readable.scores[order]
    rounded = run.readable.rounded[order]  # as float32, because that's how trec_eval compares scores
    repeats = ranks[1:] == ranks[:-1]
    leaves_gap = ranks[1:] > ranks[:-1] + 1
    # If two ranks are equal, scores in any order agree with them.
    increases = (rounded[1:] > rounded[:-1]) & ~repeats
    for above in np.flatnonzero(repeats | leaves_gap | increases).tolist():
        line = run.number(order[above + 1])
        rank = ranks[above + 1]
        if repeats[above]:
            yield run.finding(
                code="rank-repeated",
                line=line,
                message=f"rank {rank} occurs twice in topic {topic}",
                remedy="give each line its own rank",
            )
        if leaves_gap[above]:
            yield run.finding(
                code="rank-gap",
                line=line,
                message=f"rank {rank} comes after rank {ranks[above]} in topic {topic}",
                remedy="give each line the next rank",
            )
        if increases[above]:
            yield run.finding(
                code="score-increasing",
                line=line,
                message=f"score {scores[above + 1]} at rank {rank} of topic {topic} is above {scores[above]}",
                remedy="rank by descending score; trec_eval uses the scores",
            )


def _ties(run: Run, order: NDArray[np.intp]) -> Iterator[_Tie]:
    """Yields, for each score, the first two neighbours that trec_eval swaps, if any.

    trec_eval sorts equal scores by descending id.

    Args:
        run: the run.
        order: the indices of a topic's lines, in rank order.
    """
    changes = np.flatnonzero(np.diff(run.rounded[order])) + 1
    starts = np.concatenate(([0], changes))  # for each score, the index of the first line that has it
    ends = np.concatenate((changes, [len(order)]))
    for index in np.flatnonzero(ends - starts > 1).tolist():
        tied = order[starts[index] : ends[index]]
        ids = run.documents[tied].tolist()
        ranks = run.ranks[tied].tolist()
        for above, below in pairwise(range(len(tied))):
            # If both ranks are equal, the run gives no order that trec_eval's could differ from.
            if ranks[below] > ranks[above] and ids[below] > ids[above]:
                pairs = zip(ids, sorted(ids, reverse=True), strict=True)
                position = next(place for place, (id, sorted_id) in enumerate(pairs, 1) if id != sorted_id)
                line_above, line_below = run.take(tied[[above, below]])
                yield _Tie(
                    above=line_above,
                    below=line_below,
                    number=int(run.line_numbers[tied[below]]),
                    depth=int(starts[index]) + position,
                )
                break
