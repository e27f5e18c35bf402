"""Finds the numbers of terms in a maximum of two fields by votes.

A field that loses the maximum, or a term that LMDirichlet cuts off, has no slope. Least squares stop there,
and the place depends on the last bits of the processor's arithmetic. In a vote, each missed document proposes
the number that would reproduce its score, and the number that reproduces the most documents wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from touche.identification.fitting import MET, Bits, Problem
from touche.identification.samples import Array, Integers

_CANDIDATES = 50  # in a vote
_ROUNDS = 4  # of votes on all terms
_FEW = 50  # the most missed documents for which proposals are tried against the majority
_TRIES = 40  # of such proposals
_STEPS = 25  # of Newton's method
_LOWEST = -20.0  # its start, where each model has a slope


@dataclass(frozen=True)
class _Term:
    """A term of a field in the documents that have it.

    Attributes:
        problem: the problem.
        column: the index of the term's number.
        rows: the documents.
        tf, lengths, factor: frequency, stored length of the field, and factor of the contribution.
        shared: the shared numbers of the field.
        rest: the scores of the field without the term.
        other: the scores of the other field.
    """

    problem: Problem
    column: int
    rows: Integers
    tf: Array
    lengths: Array
    factor: Array
    shared: Array
    rest: Array
    other: Array

    def added(self, own: Array) -> tuple[Array, Array]:
        """Returns the term's contribution to the field for this number, and the slope."""
        tf = np.broadcast_to(self.tf, own.shape)
        lengths = np.broadcast_to(self.lengths, own.shape)
        value, slope, _ = self.problem.model.part(tf, lengths, own, self.shared)
        return value * self.factor, slope * self.factor

    def met(self, numbers: Array) -> Integers:
        """Returns how many of the documents each number reproduces."""
        field = self.rest + self.added(np.repeat(numbers[:, None], len(self.rows), axis=1))[0]
        errors = np.abs(np.maximum(field, self.other) - self.problem.scores[self.rows])
        slack = np.broadcast_to(self.problem.slack, self.problem.scores.shape)[self.rows]
        return np.asarray((errors - slack <= MET).sum(axis=1))

    def candidates(self, missed: Bits) -> Array:
        """Returns the numbers that would reproduce the missed documents, by Newton's method."""
        wanted = self.problem.scores[self.rows] - self.rest
        own = np.full(len(wanted), _LOWEST)
        with np.errstate(all="ignore"):
            for _ in range(_STEPS):
                value, slope = self.added(own)
                own -= (value - wanted) / slope
        own = np.unique(own[missed[self.rows] & (wanted > 0) & np.isfinite(own)].round(8))
        return own[:: len(own) // _CANDIDATES + 1]


def voted(problem: Problem, numbers: Array) -> Array:
    """Returns numbers that reproduce at least as many scores.

    Args:
        problem: a maximum of two fields.
        numbers: fitted numbers.
    """
    best = _by_majority(problem, numbers)
    while True:
        missed = _missed(problem, best).sum()
        tries = islice(_minorities(problem, best) if missed <= _FEW else (), _TRIES)
        better = next((numbers for numbers in tries if _missed(problem, numbers).sum() < missed), None)
        if better is None:
            return best
        best = better


def _missed(problem: Problem, numbers: Array) -> Bits:
    return problem.errors(numbers) > MET


def _by_majority(problem: Problem, numbers: Array, fixed: int = -1) -> Array:
    """Votes on all terms of missed documents, except for a fixed column."""
    numbers = numbers.copy()
    for _ in range(_ROUNDS):
        before = numbers.copy()
        for term in _terms(problem, numbers):
            candidates = term.candidates(_missed(problem, numbers))
            if term.column != fixed and len(candidates):
                mine, *others = term.met(np.array([numbers[term.column], *candidates]))
                if max(others) > mine:
                    numbers[term.column] = candidates[int(np.argmax(others))]
        if np.array_equal(before, numbers):
            break
    return numbers


def _minorities(problem: Problem, numbers: Array) -> Iterator[Array]:
    """Yields the majority's numbers after one number is fixed to reproduce one missed document."""
    missed = _missed(problem, numbers)
    for term in _terms(problem, numbers):
        for candidate in term.candidates(missed):
            changed = numbers.copy()
            changed[term.column] = candidate
            yield _by_majority(problem, changed, term.column)


def _terms(problem: Problem, numbers: Array) -> Iterator[_Term]:
    """Yields the terms of missed documents, with the current numbers at each step."""
    missed = _missed(problem, numbers)
    for at, (counts, own) in enumerate(zip(problem.counts, problem.own_columns, strict=True)):
        shared = numbers[problem.shared_columns[at]]
        weight = problem.weight(numbers) if at else 1.0
        for number in np.unique(counts.terms[missed[counts.rows]]).tolist():
            cells = np.flatnonzero(counts.terms == number)
            rows = counts.rows[cells]
            column = own.start + number
            sums = problem.sums(numbers)
            term = _Term(
                problem=problem,
                column=column,
                rows=rows,
                tf=counts.tf[cells],
                lengths=problem.lengths[at][rows],
                factor=counts.qtf[cells] * weight,
                shared=shared,
                rest=sums[at, rows],
                other=sums[1 - at, rows],
            )
            yield replace(term, rest=term.rest - term.added(np.full(len(rows), numbers[column]))[0])
