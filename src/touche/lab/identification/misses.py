"""Documents with the largest errors, and the smallest difference in text that explains each score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from touche.lab.identification.counts import FieldCounts
from touche.lab.identification.fitting import TOLERANCE, Fit, Problem
from touche.lab.identification.hypotheses import signed_tokens
from touche.lab.identification.samples import Sample

_MOST = 10  # documents that are listed
_SMALL = 1e-4  # a term or a token more or less makes a larger error than this
_LONGEST = 300  # tokens more or less
_SHORT = 40  # differences in length that are tried together with a term: up to 20 tokens more or less


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
    """A change of a field in a document: other lengths, and another frequency of a term of the title.

    Attributes:
        field: the index of the field in the hypothesis.
        longer: by how many tokens the field is longer; negative if it's shorter.
        term: the index of the term in the field's vocabulary, or -1 if all frequencies stay.
        more: how much more often the term occurs in the field; negative if less often.
    """

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
    """Returns the first change that explains the score; simple changes are tried first.

    Args:
        fit: the fit.
        row: the row of the document.
        within: the largest error of an explained score.
    """
    if fit.errors[row] <= _SMALL:
        return "too little for a term or a token: rounding, or the order of ties"
    problem = fit.problem
    changes = list(_changes(problem, row))
    # The document becomes as many documents as there are changes, each with one change.
    counts = tuple(_changed(counts, row, field, changes) for field, counts in enumerate(problem.counts))
    changed = replace(problem, counts=counts, scores=np.full(len(changes), problem.scores[row]))
    explaining = np.flatnonzero(np.abs(changed.residuals(fit.numbers)) <= within)
    if len(explaining) == 0:
        return "no simple explanation"
    return _in_words(problem, changes[explaining[0]])


def _changes(problem: Problem, row: int) -> Iterator[_Change]:
    """Yields a term more or less, then other lengths, then both; small changes first."""
    terms: list[tuple[int, int]] = []  # the field and the index of each term of the document
    for field, counts in enumerate(problem.counts):
        terms += [(field, int(term)) for term in counts.terms[counts.rows == row]]
    lengths = [sign * tokens for tokens in range(1, _LONGEST + 1) for sign in (1, -1)]
    # An occurrence more makes the field a token longer, one less a token shorter.
    for (field, term), more in product(terms, (1, -1)):
        yield _Change(field=field, longer=more, term=term, more=more)
    for longer, field in product(lengths, range(len(problem.counts))):
        yield _Change(field=field, longer=longer)
    for longer, (field, term), more in product((0, *lengths[:_SHORT]), terms, (1, -1, 2, -2)):
        yield _Change(field=field, longer=longer, term=term, more=more)


def _changed(counts: FieldCounts, row: int, field: int, changes: Sequence[_Change]) -> FieldCounts:
    """Returns a document's counts of a field after each change; changes of other fields are ignored."""
    in_document = counts.rows == row
    terms = counts.terms[in_document]
    changed_fields, longer, changed_terms, more = np.array(changes).T  # the attributes of _Change
    in_field = changed_fields == field
    is_changed = in_field[:, None] & (changed_terms[:, None] == terms)  # by change (row) and term (column)
    return replace(
        counts,
        rows=np.repeat(np.arange(len(changes)), len(terms)),
        terms=np.tile(terms, len(changes)),
        tf=np.maximum(counts.tf[in_document] + more[:, None] * is_changed, 0).ravel(),
        qtf=np.tile(counts.qtf[in_document], len(changes)),
        lengths=np.maximum(counts.lengths[row] + longer * in_field, 0.0),
    )


def _in_words(problem: Problem, change: _Change) -> str:
    """Describes a change, such as ``+1 times 'cat'``; a length that follows from the term is omitted."""
    field = f" in {problem.hypothesis.fields[change.field]}" if len(problem.counts) > 1 else ""
    length = signed_tokens(change.longer) if change.longer else "unchanged length"
    if change.more == 0:
        return length + field
    term = f"{change.more:+d} times {problem.counts[change.field].vocabulary[change.term]!r}"
    if change.longer == change.more:
        return term + field
    return f"{term}, {length}{field}"
