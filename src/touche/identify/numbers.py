"""What the fitted numbers are in a model's own parameters, beside the round values that they are near."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from touche.identify.fitting import Problem
from touche.identify.models import BM25, C0, C1
from touche.identify.samples import Array

_NEAR = 1e-3  # of a round value, relatively
# k1 and b that are in use, and whose defaults they are.
_IN_USE = {
    (0.9, 0.4): "Anserini's",
    (1.2, 0.75): "Lucene's and Terrier's",
    (1.5, 0.75): "rank_bm25's",
}


@dataclass(frozen=True)
class Number:
    """A number that all terms share, or the weight of a field.

    Attributes:
        name: such as ``mu``.
        value: as fitted.
        round: the round value that it is near, or None.
        note: what that amounts to.
    """

    name: str
    value: float
    round: float | None
    note: str = ""


def shared_numbers(problem: Problem, numbers: Array) -> list[Number]:
    """The shared numbers of a fit, those of each field after the common ones."""
    model, fields = problem.model, problem.hypothesis.fields
    names = list(model.common)
    values = dict(zip(names, np.exp(numbers[: len(names)]), strict=True))
    for field, columns in zip(fields, problem.shared_columns, strict=True):
        own = zip(model.of_field, np.exp(numbers[columns[len(names) :]]), strict=True)
        values |= {f"{name} in {field}" if len(fields) > 1 else name: value for name, value in own}
    found = [Number(name, float(value), near(float(value))) for name, value in values.items()]
    if problem.hypothesis.combination and not model.linear:
        weight = problem.weight(numbers)
        found.append(Number(f"weight of {fields[1]}", weight, near(weight)))
    return list(_with_k1_and_b(found)) if problem.hypothesis.model == BM25 else found


def near(value: float) -> float | None:
    """The round value nearby, of as few digits as will do; None if three are not enough."""
    return next(
        (r for digits in (1, 2, 3) if abs((r := float(f"{value:.{digits}g}")) - value) <= _NEAR * value), None
    )


def k1_and_b(c0: float) -> list[tuple[float, float]]:
    """Values in use, or else round ones, that have this k1 (1 - b)."""
    steps = [(k1 / 10, b / 20) for b in range(20) for k1 in range(1, 31)]
    in_use = [pair for pair in _IN_USE if _is(c0, *pair)]
    return in_use or [pair for pair in steps if _is(c0, *pair)]


def _is(c0: float, k1: float, b: float) -> bool:
    return abs(k1 * (1 - b) - c0) <= _NEAR * c0


def _with_k1_and_b(numbers: list[Number]) -> Iterator[Number]:
    """BM25's numbers with notes: two numbers cannot tell k1, b and the average length."""
    pairs = k1_and_b(numbers[0].value)[:3]
    for number in numbers:
        if number.name == C0 and pairs:
            values = [f"k1 = {k1:g}, b = {b:g}{_whose(k1, b)}" for k1, b in pairs]
            yield replace(number, note=f"as with {' or '.join(values)}")
        elif number.name.startswith(C1):
            lengths = [f"{k1 * b / number.value:.2f}" for k1, b in pairs]
            note = f"then avgdl is {' or '.join(lengths)}" if lengths else ""
            yield replace(number, round=None, note=note)
        else:
            yield number


def _whose(k1: float, b: float) -> str:
    return f" ({_IN_USE[k1, b]} defaults)" if (k1, b) in _IN_USE else ""
