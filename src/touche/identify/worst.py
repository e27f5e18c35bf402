"""The documents whose scores are missed most, with the smallest difference in text that explains each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from touche.identify.counts import Counts
from touche.identify.fitting import MET, Fit, Problem
from touche.identify.samples import Sample

WORST = 10
_SMALL = 1e-4
_LONGEST, _SHORT = 300, 40  # tokens by which a text may differ, and changes of length that go with terms


@dataclass(frozen=True)
class Miss:
    """A document whose score is missed.

    Attributes:
        topic, document: which one.
        score: in the run.
        predicted: by the hypothesis.
        explained: what would explain the score, or that nothing simple does.
    """

    topic: str
    document: str
    score: float
    predicted: float
    explained: str


@dataclass(frozen=True)
class _Change:
    """A text that is longer by some tokens in a field, of which some are a term of the title."""

    field: int
    longer: int
    term: int = -1
    more: int = 0


def worst(problem: Problem, fit: Fit, sample: Sample) -> list[Miss]:
    """The ten documents whose scores are missed most; fewer where fewer are missed."""
    predicted = problem.predicted(fit.numbers)
    rows = [int(row) for row in np.argsort(-fit.errors)[:WORST] if fit.errors[row] > MET]
    return [
        Miss(
            sample.topics[row],
            sample.documents[row],
            float(sample.scores[row]),
            float(predicted[row]),
            _explanation(problem, fit, row, MET + float(sample.slack[row])),
        )
        for row in rows
    ]


def _explanation(problem: Problem, fit: Fit, row: int, within: float) -> str:
    """The first of all changes, the simplest before others, that meets the score."""
    if fit.errors[row] <= _SMALL:
        return "too little for a term or a token: rounding, or how ties were broken"
    changes = list(_changes(problem, row))
    changed = replace(
        problem,
        counts=tuple(_changed(counts, row, at, changes) for at, counts in enumerate(problem.counts)),
        scores=np.full(len(changes), problem.scores[row]),
    )
    meets = np.flatnonzero(np.abs(changed.residuals(fit.numbers)) <= within)
    if not len(meets):
        return "nothing simple"
    return _told(problem, changes[meets[0]])


def _changes(problem: Problem, row: int) -> Iterator[_Change]:
    """A term once more or once less, then other lengths, then both; small ones before large ones."""
    terms = [
        (at, int(term))
        for at, counts in enumerate(problem.counts)
        for term in counts.terms[counts.rows == row]
    ]
    lengths = [sign * by for by in range(1, _LONGEST + 1) for sign in (1, -1)]
    small = (0, *lengths[:_SHORT])
    yield from (_Change(at, more, term, more) for at, term in terms for more in (1, -1))
    yield from (_Change(at, longer) for longer in lengths for at in range(len(problem.counts)))
    yield from (_Change(at, by, term, more) for by in small for at, term in terms for more in (1, -1, 2, -2))


def _changed(counts: Counts, row: int, at: int, changes: list[_Change]) -> Counts:
    """The counts of a field of one document, once for each change."""
    here = counts.rows == row
    terms = counts.terms[here]
    tf = np.tile(counts.tf[here], (len(changes), 1))
    lengths = np.full(len(changes), counts.lengths[row])
    for number, change in enumerate(changes):
        if change.field == at:
            tf[number, terms == change.term] += change.more
            lengths[number] = max(0.0, lengths[number] + change.longer)
    rows = np.repeat(np.arange(len(changes)), len(terms))
    again = np.tile(terms, len(changes)), np.tile(counts.qtf[here], len(changes))
    return Counts(rows, again[0], np.maximum(tf, 0).ravel(), again[1], lengths, counts.vocabulary)


def _told(problem: Problem, change: _Change) -> str:
    where = f" in {problem.hypothesis.fields[change.field]}" if len(problem.counts) > 1 else ""
    length = f"{change.longer:+d} token{'s' if abs(change.longer) > 1 else ''}"
    if not change.more:
        return length + where
    term = f"{change.more:+d} times {problem.counts[change.field].vocabulary[change.term]!r}"
    if change.longer == change.more:
        return term + where
    return f"{term}, {length if change.longer else 'the length as it is'}{where}"
