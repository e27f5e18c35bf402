"""Documents with the largest errors, and the smallest difference in text that explains each score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from touche.identification.counts import FieldCounts
from touche.identification.fitting import TOLERANCE, Fit, Problem
from touche.identification.samples import Sample

_MOST = 10  # documents that are listed
_SMALL = 1e-4  # the largest error that a term or a token more or less cannot make
_LONGEST = 300  # tokens more or less
_SHORT = 40  # differences in length that are tried together with a term


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
        if fit.errors[row] > TOLERANCE:
            yield Miss(
                topic=sample.topics[row],
                document=sample.documents[row],
                score=float(sample.scores[row]),
                predicted=predicted[row],
                explained=_explanation(fit, row, TOLERANCE + float(sample.slack[row])),
            )


def _explanation(fit: Fit, row: int, within: float) -> str:
    """Returns the first change that explains the score; simple changes are tried first."""
    if fit.errors[row] <= _SMALL:
        return "too little for a term or a token: rounding, or the order of ties"
    problem = fit.problem
    changes = list(_changes(problem, row))
    # The document becomes as many documents as there are changes, each with one change.
    counts = tuple(_changed(counts, row, at, changes) for at, counts in enumerate(problem.counts))
    changed = replace(problem, counts=counts, scores=np.full(len(changes), problem.scores[row]))
    meets = np.flatnonzero(np.abs(changed.residuals(fit.numbers)) <= within)
    return _in_words(problem, changes[meets[0]]) if len(meets) else "no simple explanation"


def _changes(problem: Problem, row: int) -> Iterator[_Change]:
    """Yields a term more or less, then other lengths, then both; small changes first."""
    fields = range(len(problem.counts))
    terms = [
        (at, int(term)) for at in fields for term in problem.counts[at].terms[problem.counts[at].rows == row]
    ]
    lengths = [sign * by for by in range(1, _LONGEST + 1) for sign in (1, -1)]
    for (at, term), more in product(terms, (1, -1)):
        yield _Change(field=at, longer=more, term=term, more=more)
    for longer, at in product(lengths, fields):
        yield _Change(field=at, longer=longer)
    for longer, (at, term), more in product((0, *lengths[:_SHORT]), terms, (1, -1, 2, -2)):
        yield _Change(field=at, longer=longer, term=term, more=more)


def _changed(counts: FieldCounts, row: int, at: int, changes: Sequence[_Change]) -> FieldCounts:
    """Returns the counts of a field of one document, once for each change."""
    cells = counts.rows == row
    fields, longer, terms, more = np.array(changes).T  # the attributes of _Change
    is_term = (fields == at)[:, None] & (terms[:, None] == counts.terms[cells])  # by change and term
    return replace(
        counts,
        rows=np.repeat(np.arange(len(changes)), cells.sum()),
        terms=np.tile(counts.terms[cells], len(changes)),
        tf=np.maximum(counts.tf[cells] + more[:, None] * is_term, 0).ravel(),
        qtf=np.tile(counts.qtf[cells], len(changes)),
        lengths=np.maximum(counts.lengths[row] + longer * (fields == at), 0.0),
    )


def _in_words(problem: Problem, change: _Change) -> str:
    """Describes a change, such as ``+1 times 'cat'``, which also makes the field longer."""
    where = f" in {problem.hypothesis.fields[change.field]}" if len(problem.counts) > 1 else ""
    length = f"{change.longer:+d} token{'s' if abs(change.longer) > 1 else ''}"
    if not change.more:
        return length + where
    term = f"{change.more:+d} times {problem.counts[change.field].vocabulary[change.term]!r}"
    if change.longer == change.more:
        return term + where
    return f"{term}, {length if change.longer else 'unchanged length'}{where}"
