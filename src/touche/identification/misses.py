"""Documents with the largest errors, and the smallest difference in text that explains each score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from touche.identification.counts import FieldCounts
from touche.identification.fitting import MET, Fit, Problem
from touche.identification.samples import Sample

_MOST = 10  # documents
_SMALL = 1e-4
_LONGEST, _SHORT = 300, 40  # largest difference in tokens, and in tokens and a term


@dataclass(frozen=True)
class Miss:
    """A document whose score is not reproduced.

    Attributes:
        topic, document: the topic and the document.
        score: the score in the run.
        predicted: the score of the hypothesis.
        explained: an explanation, or that there is no simple one.
    """

    topic: str
    document: str
    score: float
    predicted: float
    explained: str


class _Change(NamedTuple):
    """A change of a field: some tokens more, and some of them are a term of the title."""

    field: int
    longer: int
    term: int = -1
    more: int = 0


def misses(fit: Fit, sample: Sample) -> Iterator[Miss]:
    """Yields up to ten documents, those with the largest errors."""
    predicted = fit.problem.predicted(fit.numbers).tolist()
    for row in np.argsort(-fit.errors)[:_MOST].tolist():
        if fit.errors[row] > MET:
            topic, document, score = sample.topics[row], sample.documents[row], float(sample.scores[row])
            explained = _explanation(fit, row, MET + float(sample.slack[row]))
            yield Miss(topic, document, score, predicted[row], explained)


def _explanation(fit: Fit, row: int, within: float) -> str:
    """Returns the first change that explains the score; simple changes are tried first."""
    if fit.errors[row] <= _SMALL:
        return "too little for a term or a token: rounding, or the order of ties"
    problem, changes = fit.problem, list(_changes(fit.problem, row))
    counts = tuple(_changed(counts, row, at, changes) for at, counts in enumerate(problem.counts))
    changed = replace(problem, counts=counts, scores=np.full(len(changes), problem.scores[row]))
    meets = np.flatnonzero(np.abs(changed.residuals(fit.numbers)) <= within)
    return _in_words(problem, changes[meets[0]]) if len(meets) else "no simple explanation"


def _changes(problem: Problem, row: int) -> Iterator[_Change]:
    """Yields a term more or less, then other lengths, then both; small changes first."""
    fields = list(enumerate(problem.counts))
    terms = [(at, int(term)) for at, counts in fields for term in counts.terms[counts.rows == row]]
    lengths = [sign * by for by in range(1, _LONGEST + 1) for sign in (1, -1)]
    yield from (_Change(at, more, term, more) for at, term in terms for more in (1, -1))
    yield from (_Change(at, longer) for longer in lengths for at, _ in fields)
    for longer in (0, *lengths[:_SHORT]):
        yield from (_Change(at, longer, term, more) for at, term in terms for more in (1, -1, 2, -2))


def _changed(counts: FieldCounts, row: int, at: int, changes: Sequence[_Change]) -> FieldCounts:
    """Returns the counts of a field of one document, once for each change."""
    here, times = counts.rows == row, len(changes)
    fields, longer, terms, more = np.array(changes).T
    is_term = (fields == at)[:, None] & (terms[:, None] == counts.terms[here])
    tf = np.maximum(counts.tf[here] + more[:, None] * is_term, 0).ravel()
    lengths = np.maximum(counts.lengths[row] + longer * (fields == at), 0.0)
    rows = np.repeat(np.arange(times), here.sum())
    own, qtf = np.tile(counts.terms[here], times), np.tile(counts.qtf[here], times)
    return replace(counts, rows=rows, terms=own, tf=tf, qtf=qtf, lengths=lengths)


def _in_words(problem: Problem, change: _Change) -> str:
    where = f" in {problem.hypothesis.fields[change.field]}" if len(problem.counts) > 1 else ""
    length = f"{change.longer:+d} token{'s' if abs(change.longer) > 1 else ''}"
    if not change.more:
        return length + where
    term = f"{change.more:+d} times {problem.counts[change.field].vocabulary[change.term]!r}"
    if change.longer == change.more:
        return term + where
    return f"{term}, {length if change.longer else 'unchanged length'}{where}"
