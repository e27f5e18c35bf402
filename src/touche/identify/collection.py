"""How large the collection was: the weights of BM25 and of TF_IDF mean whole numbers of documents.

A weight w = ln((N + 1) / (df + 0.5)) leaves df = (N + 1) exp(-w) - 0.5; only near the true N are these whole
numbers for all terms at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from touche.identify.fitting import Fit, Problem
from touche.identify.numbers import k1_and_b
from touche.identify.samples import Array

_LARGEST = 2_000_000  # documents; the passages of 2022 are 868,655
_BLOCK = 100_000
_TERMS, _FEW = 40, 5  # the rarest
_SURE = np.log(1000.0)  # by how much more likely than chance whole numbers are, after all that was tried
_AROUND, _LIKELY = (
    1000,
    3.0,
)  # how far N is looked at for its precision, and e to the power of what still counts


@dataclass(frozen=True)
class Collection:
    """The collection that weights give away.

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


def collections_of(problem: Problem, fit: Fit) -> dict[str, Collection]:
    """The collection by field, for those fields where all df come out as whole numbers for one N only."""
    found: dict[str, Collection] = {}
    for field, counts, columns in zip(
        fit.hypothesis.fields, problem.counts, problem.own_columns, strict=True
    ):
        weights, errors = fit.numbers[columns], fit.deviations[columns]
        sure = np.flatnonzero((errors < 1e-3) & (weights > 0))
        rarest = sure[np.argsort(-weights[sure])][:_TERMS]
        names = [counts.vocabulary[each] for each in rarest]
        best = _best(names, weights[rarest], errors[rarest], _meanings(float(np.exp(fit.numbers[0]))))
        found |= {field: best} if best else {}
    return found


Meaning = Callable[[Array, Array], Array]


def _meanings(c0: float) -> dict[str, Meaning]:
    """From N, a column, and weights, a row, to df: by what the weights may mean."""
    meanings: dict[str, Meaning] = {"ln((N + 1) / (df + 0.5)), as in Lucene's BM25": _lucene(1.0)}
    for k1, _ in k1_and_b(c0)[:3]:
        meanings[f"{k1 + 1:g} ln((N + 1) / (df + 0.5)), as in BM25 of Lucene before 8"] = _lucene(k1 + 1)
        meanings[f"{k1:g} log2(N / df + 1), as in Terrier's TF_IDF"] = _terrier(k1)
    return meanings


def _lucene(factor: float) -> Meaning:
    return lambda n, w: (n + 1) * np.exp(-w / factor) - 0.5


def _terrier(factor: float) -> Meaning:
    return lambda n, w: n / np.expm1(w / factor * np.log(2))


def _best(names: list[str], w: Array, errors: Array, meanings: Mapping[str, Meaning]) -> Collection | None:
    """The meaning and N for which df are whole numbers."""
    odds = [(*_most_likely(w, errors, df), told) for told, df in meanings.items()] if names else []
    evidence, documents, told = max(odds, default=(0.0, 0, ""))
    if evidence < np.log(_LARGEST * len(meanings)) + _SURE:
        return None
    around = np.arange(max(1, documents - _AROUND), documents + _AROUND + 1, dtype=float)[:, None]
    likely = _evidence(*_with_errors(around, w, errors, meanings[told])).sum(axis=1) > evidence - _LIKELY
    within = int(np.abs(around[~likely] - documents).min(initial=_AROUND)) - 1
    df, spread = _with_errors(np.array([[float(documents)]]), w, errors, meanings[told])
    sure = [(name, round(d)) for name, d, s in zip(names, df[0], spread[0], strict=True) if s < 0.1]
    return Collection(told, documents, within, dict(sure))


def _most_likely(w: Array, errors: Array, df: Meaning) -> tuple[float, int]:
    """The logarithm of how much more likely whole numbers are than any others, for the N where it is largest.

    The first few terms tell in which numbers of each block it is worth while to look at all terms.
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
    found = df(n, w)
    return found, np.abs(df(n, w + errors) - found)


def _evidence(df: Array, spread: Array) -> Array:
    """For each df the density of a normal distribution around the nearest whole number, over chance."""
    spread = np.maximum(spread, 1e-3)
    off = (df - np.round(df)) / spread
    known = -0.5 * np.square(np.minimum(off, 8)) - np.log(spread) - 0.919
    possible = (df > 0.5) & (df.round() >= 1)
    return np.where(spread < 0.25, np.maximum(known, -8.0), 0.0) - np.where(possible, 0.0, 8.0)
