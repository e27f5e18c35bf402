"""What fitted numbers mean: a model's own parameters, and how many documents the collection had.

The weights of BM25 and of TF_IDF mean whole numbers of documents. From a weight w = ln((N + 1) / (df + 0.5))
follows df = (N + 1) exp(-w) - 0.5; only near the true N are these whole numbers for all terms at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from touche.identify.fitting import Fit
from touche.identify.models import BM25, C0, C1, K1_B, MU
from touche.identify.samples import Array

_NEAR = 1e-3  # of a round value, relatively
# k1 and b that are in use, and whose defaults they are.
_IN_USE = {
    (0.9, 0.4): "Anserini's",
    (1.2, 0.75): "Lucene's and Terrier's",
    (1.5, 0.75): "rank_bm25's",
}
_LARGEST = 2_000_000  # documents; the passages of 2022 are 868,655
_BLOCK = 100_000
_TERMS, _FEW = 40, 5  # the rarest
_SURE = np.log(1000.0)  # by how much more likely than chance whole numbers are, after all that was tried
_AROUND, _LIKELY = 1000, 3.0  # how far from N others are tried, and the logarithm of what makes N unlikely


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

    def __str__(self) -> str:
        if self.note:
            return self.note.removeprefix("as with ").removeprefix("then ")
        if self.name in (MU, C0) or self.name.startswith("weight"):
            return f"{self.name} = {self.value if self.round is None else self.round:g}"
        return ""


@dataclass(frozen=True)
class DocumentFrequencies:
    """The numbers of documents that the weights of a field mean.

    Attributes:
        weight: what the weights are, in words.
        documents: N.
        within: by how much N may differ, as far as the precision of the scores tells.
        df: by term how many documents have it, for terms whose df is sure to be that number.
    """

    weight: str
    documents: int
    within: int
    df: Mapping[str, int]


def shared_numbers(fit: Fit) -> list[Number]:
    """The shared numbers of a fit, those of each field after the common ones."""
    model, fields, numbers = fit.problem.model, fit.hypothesis.fields, fit.numbers
    names = list(model.common)
    values = dict(zip(names, np.exp(numbers[: len(names)]), strict=True))
    for field, columns in zip(fields, fit.problem.shared_columns, strict=True):
        own = zip(model.of_field, np.exp(numbers[columns[len(names) :]]), strict=True)
        values |= {f"{name} in {field}" if len(fields) > 1 else name: value for name, value in own}
    if fit.hypothesis.combination and not model.linear:
        values[f"weight of {fields[1]}"] = fit.problem.weight(numbers)
    shared = [Number(name, float(value), near(float(value))) for name, value in values.items()]
    if K1_B in values:
        return _k1_and_b_of(values[C0], values[K1_B])
    return list(_with_k1_and_b(shared)) if fit.hypothesis.model == BM25 else shared


def near(value: float) -> float | None:
    """The round value nearby, of as few digits as will do; None if three are not enough."""
    values = (float(f"{value:.{digits}g}") for digits in (1, 2, 3))
    return next((each for each in values if abs(each - value) <= _NEAR * value), None)


def k1_and_b(c0: float) -> list[tuple[float, float]]:
    """Values in use, or else round ones, that have this k1 (1 - b)."""
    steps = [(k1 / 10, b / 20) for b in range(20) for k1 in range(1, 31)]
    in_use, others = (
        [(k1, b) for k1, b in pairs if abs(k1 * (1 - b) - c0) <= _NEAR * c0] for pairs in (_IN_USE, steps)
    )
    return in_use or others


def _k1_and_b_of(c0: float, k1_b: float) -> list[Number]:
    """k1 and b, which both of BM25's numbers determine where lengths are relative to a known mean."""
    numbers = [
        Number(name, value, near(value)) for name, value in (("k1", c0 + k1_b), ("b", k1_b / (c0 + k1_b)))
    ]
    k1, b = (each.value if each.round is None else each.round for each in numbers)
    return [replace(numbers[0], note=_in_words(k1, b)), numbers[1]]


def _in_words(k1: float, b: float) -> str:
    whose = f" ({_IN_USE[k1, b]} defaults)" if (k1, b) in _IN_USE else ""
    return f"k1 = {k1:g}, b = {b:g}{whose}"


def _with_k1_and_b(numbers: list[Number]) -> Iterator[Number]:
    """BM25's numbers with notes, because its two numbers do not determine k1, b and the average length."""
    pairs = k1_and_b(numbers[0].value)[:3]
    for number in numbers:
        if number.name == C0 and pairs:
            yield replace(number, note=f"as with {' or '.join(_in_words(k1, b) for k1, b in pairs)}")
        elif number.name.startswith(C1):
            lengths = " or ".join(f"{k1 * b / number.value:.2f}" for k1, b in pairs)
            yield replace(number, round=None, note=f"then avgdl is {lengths}" if lengths else "")
        else:
            yield number


def document_frequencies(fit: Fit) -> dict[str, DocumentFrequencies]:
    """N and df by field, for those fields where all df come out as whole numbers for one N only."""
    frequencies: dict[str, DocumentFrequencies] = {}
    meanings = _meanings(float(np.exp(fit.numbers[0])))
    for at, field in enumerate(fit.hypothesis.fields):
        columns, vocabulary = fit.problem.own_columns[at], fit.problem.counts[at].vocabulary
        weights, errors = fit.numbers[columns], fit.deviations[columns]
        sure = np.flatnonzero((errors < 1e-3) & (weights > 0))
        rarest = sure[np.argsort(-weights[sure])][:_TERMS]
        names = [vocabulary[term] for term in rarest]
        best = _best(names, weights[rarest], errors[rarest], meanings) if names else None
        frequencies |= {field: best} if best else {}
    return frequencies


Meaning = Callable[[Array, Array], Array]


def _meanings(c0: float) -> dict[str, Meaning]:
    """From N, a column, and weights, a row, to df: by what the weights may mean."""

    def lucene(factor: float) -> Meaning:
        return lambda n, w: (n + 1) * np.exp(-w / factor) - 0.5

    def terrier(factor: float) -> Meaning:
        return lambda n, w: n / np.expm1(w / factor * np.log(2))

    meanings = {"ln((N + 1) / (df + 0.5)), as in Lucene's BM25": lucene(1.0)}
    for k1, _ in k1_and_b(c0)[:3]:
        meanings[f"{k1 + 1:g} ln((N + 1) / (df + 0.5)), as in BM25 of Lucene before 8"] = lucene(k1 + 1)
        meanings[f"{k1:g} log2(N / df + 1), as in Terrier's TF_IDF"] = terrier(k1)
    return meanings


def _best(
    names: list[str], w: Array, errors: Array, meanings: Mapping[str, Meaning]
) -> DocumentFrequencies | None:
    """The meaning and N for which df are whole numbers."""
    evidence, documents, weight = max((*_most_likely(w, errors, df), words) for words, df in meanings.items())
    if evidence < np.log(_LARGEST * len(meanings)) + _SURE:
        return None
    around = np.arange(max(1, documents - _AROUND), documents + _AROUND + 1, dtype=float)[:, None]
    likely = _evidence(*_with_errors(around, w, errors, meanings[weight])).sum(axis=1) > evidence - _LIKELY
    within = int(np.abs(around[~likely] - documents).min(initial=_AROUND)) - 1
    df, spread = _with_errors(np.array([[float(documents)]]), w, errors, meanings[weight])
    sure = {name: round(d) for name, d, s in zip(names, df[0], spread[0], strict=True) if s < 0.1}
    return DocumentFrequencies(weight, documents, within, sure)


def _most_likely(w: Array, errors: Array, df: Meaning) -> tuple[float, int]:
    """The logarithm of how much more likely whole numbers are than any others, for the N where it is largest.

    The first few terms select the numbers of each block for which all terms are examined.
    """
    few, best = slice(_FEW), (-np.inf, 0)
    for start in range(1, _LARGEST, _BLOCK):
        n = np.arange(start, start + _BLOCK, dtype=float)[:, None]
        first = _evidence(*_with_errors(n, w[few], errors[few], df)).sum(axis=1)
        n = n[np.sort(np.argsort(-first)[: _BLOCK // 100])]
        evidence = _evidence(*_with_errors(n, w, errors, df)).sum(axis=1)
        at = int(np.argmax(evidence))
        best = max(best, (float(evidence[at]), int(n[at, 0])), key=lambda each: each[0])
    return best


def _with_errors(n: Array, w: Array, errors: Array, df: Meaning) -> tuple[Array, Array]:
    return (frequencies := df(n, w)), np.abs(df(n, w + errors) - frequencies)


def _evidence(df: Array, spread: Array) -> Array:
    """For each df the density of a normal distribution around the nearest whole number, over chance."""
    spread = np.maximum(spread, 1e-3)
    off = (df - np.round(df)) / spread
    known = -0.5 * np.square(np.minimum(off, 8)) - np.log(spread) - 0.919
    possible = (df > 0.5) & (df.round() >= 1)
    return np.where(spread < 0.25, np.maximum(known, -8.0), 0.0) - np.where(possible, 0.0, 8.0)
