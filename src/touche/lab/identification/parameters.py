"""Interprets fitted numbers: parameters of the model, and the number of documents in the collection.

The weights of BM25 and of TF_IDF depend on document frequencies. A weight w = ln((N + 1) / (df + 0.5)) gives
df = (N + 1) exp(-w) - 0.5. These are whole numbers for all terms only if N is near its true value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touche.lab.identification.differentiable_models import C0, C1, K1, K1_B, MU, B, C
from touche.lab.identification.fitting import Fit
from touche.lab.identification.samples import Array

_LOG_ROOT_2_PI = 0.919  # ln sqrt(2 pi)
_PRECISE = 1e-3  # weights with a smaller standard error show a df
_MOST_PAIRS = 3  # of k1 and b that explain a c0
_NO_EVIDENCE = 0.25  # a df with this standard error or more is near a whole number by chance
_WHOLE = 0.1  # the largest standard error of a df that is a known whole number
_NEAR = 1e-3  # the largest relative distance from a round value
# Usual values of k1 and b, and the software with these defaults.
_IN_USE = {
    (0.9, 0.4): "Anserini's",
    (1.2, 0.75): "Lucene's and Terrier's",
    (1.5, 0.75): "rank_bm25's",
}
_LARGEST = 2_000_000  # documents; the passages of 2022 are 868,655
_BLOCK = 100_000  # values of N that are tried at a time
_TERMS = 40  # the rarest
_FEW = 5  # of these, which select values of N
_SURE = np.log(1000.0)  # the evidence needed beyond the luckiest trial's, as a logarithm
_AROUND = 1000  # how far from the best N other values are examined
_LIKELY = 3.0  # how much less evidence, as a logarithm, there may be for another N
_IMPOSSIBLE = 8.0  # the evidence against an impossible df, and the most against one that is not whole


@dataclass(frozen=True)
class Number:
    """A number that all terms share, or the weight of a field.

    Attributes:
        name: the name, such as ``mu``.
        value: the fitted value.
        round: the nearest round value, or None.
        note: an interpretation.
    """

    name: str
    value: float
    round: float | None
    note: str = ""

    def __str__(self) -> str:
        """The parameters that follow from the number; empty if none do, and for b, which is in k1's note."""
        if self.note:  # it states these parameters
            return self.note.removeprefix("as with ").removeprefix("then ")
        if self.name in (MU, C0, C) or self.name.startswith("weight"):
            return f"{self.name} = {self.round or self.value:g}"
        return ""


@dataclass(frozen=True)
class DocumentFrequencies:
    """The document frequencies in the weights of a field.

    Attributes:
        weight: the formula of the weights, in words.
        documents: N.
        within: the uncertainty of N, from the precision of the scores.
        df: the document frequencies of terms whose df is certain.
    """

    weight: str
    documents: int
    within: int
    df: Mapping[str, int]


def shared_numbers(fit: Fit) -> list[Number]:
    """Returns the numbers that all terms share: first the numbers that hold for all fields, then each field's
    numbers.
    """
    # A formula in closed form has parameters; other fits have only numbers.
    values = fit.parameters if fit.hypothesis.formula else _fitted(fit)
    if K1_B in values:  # with known mean lengths, BM25 has only two numbers, also for two fields
        k1 = values[C0] + values[K1_B]  # k1 (1 - b) + k1 b
        values = {K1: k1, B: values[K1_B] / k1}
    # c1 depends on avgdl, so it's only round by chance.
    rounded = {name: None if name.startswith(C1) else near(value) for name, value in values.items()}
    pairs: list[tuple[float, float]] = []  # of k1 and b
    if K1 in values:
        pairs = [(rounded[K1] or values[K1], rounded[B] or values[B])]
    elif C0 in values:  # BM25 with unknown mean lengths, whose numbers don't determine k1, b and avgdl
        pairs = k1_and_b(values[C0])[:_MOST_PAIRS]
    return [Number(name, value, rounded[name], _note(name, value, pairs)) for name, value in values.items()]


def _note(name: str, value: float, pairs: Sequence[tuple[float, float]]) -> str:
    """Returns what BM25's numbers mean, given the pairs of k1 and b that explain them; or an empty string."""
    pairs_in_words = " or ".join(_in_words(k1, b) for k1, b in pairs)
    if name == K1:
        return pairs_in_words
    if name == C0 and pairs:
        return f"as with {pairs_in_words}"
    if name.startswith(C1) and pairs:  # with two fields, each has a c1 = k1 b / avgdl, named after the field
        lengths = " or ".join(f"{k1 * b / value:.2f}" for k1, b in pairs)
        return f"then avgdl is {lengths}"
    return ""


def _fitted(fit: Fit) -> dict[str, float]:
    """Returns the fitted numbers by name, except the terms'. The fit contains their logarithms."""
    model = fit.problem.model
    fields = fit.hypothesis.fields
    common = fit.numbers[: len(model.common)]
    values = dict(zip(model.common, np.exp(common).tolist(), strict=True))
    for field, columns in zip(fields, fit.problem.shared_columns, strict=True):
        numbers = np.exp(fit.numbers[columns[len(model.common) :]]).tolist()  # common ones come first
        suffix = f" in {field}" if len(fields) > 1 else ""
        values |= {f"{name}{suffix}": value for name, value in zip(model.of_field, numbers, strict=True)}
    if fit.hypothesis.combination and not model.linear:  # the weight can be inferred
        values[f"weight of {fields[1]}"] = fit.problem.weight(fit.numbers)
    return values


def near(value: float) -> float | None:
    """Returns the nearest round value with as few digits as possible, three at most, or None."""
    values = (float(f"{value:.{digits}g}") for digits in (1, 2, 3))
    return next((number for number in values if abs(number - value) <= _NEAR * value), None)


def k1_and_b(c0: float) -> list[tuple[float, float]]:
    """Returns pairs (k1, b) that explain a fitted c0 = k1 (1 - b): well-known pairs, or else round ones."""
    # k1 up to 3 in steps of 0.1, b below 1 in steps of 0.05, small b first
    round_pairs = [(k1 / 10, b / 20) for b in range(20) for k1 in range(1, 31)]

    def with_this_c0(pairs: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(k1, b) for k1, b in pairs if abs(k1 * (1 - b) - c0) <= _NEAR * c0]

    return with_this_c0(_IN_USE) or with_this_c0(round_pairs)


def _in_words(k1: float, b: float) -> str:
    """Describes a pair of k1 and b, and which engine uses it by default."""
    defaults = f" ({_IN_USE[k1, b]} defaults)" if (k1, b) in _IN_USE else ""
    return f"k1 = {k1:g}, b = {b:g}{defaults}"


def document_frequencies(fit: Fit) -> dict[str, DocumentFrequencies]:
    """Returns N and df by field, for fields where all df are whole numbers for just one N."""
    frequencies: dict[str, DocumentFrequencies] = {}
    meanings = _meanings(float(np.exp(fit.numbers[0])))  # BM25's first number is ln c0
    for field, counts, columns in zip(
        fit.hypothesis.fields, fit.problem.counts, fit.problem.own_columns, strict=True
    ):
        weights = fit.numbers[columns]
        errors = fit.deviations[columns]
        # In these formulas, no possible df gives a weight of 0 or less.
        usable = np.flatnonzero((errors < _PRECISE) & (weights > 0))
        rarest = usable[np.argsort(-weights[usable])][:_TERMS]
        terms = [counts.vocabulary[index] for index in rarest]
        if terms:
            best = _best(terms, weights[rarest], errors[rarest], meanings)
            if best:
                frequencies[field] = best
    return frequencies


Meaning = Callable[[Array, Array], Array]
"""Maps values of N, as a column, and the weights of terms, as a row, to df for each N (row) and term."""


def _meanings(c0: float) -> dict[str, Meaning]:
    """Returns what weights mean in each formula that they may follow, by the formula in words.

    Args:
        c0: the fitted k1 (1 - b), which determines k1; in some formulas, k1 is a factor.
    """

    # Both functions solve a formula for df.
    def lucene(factor: float) -> Meaning:
        return lambda n, w: (n + 1) * np.exp(-w / factor) - 0.5

    def terrier(factor: float) -> Meaning:
        return lambda n, w: n / np.expm1(w / factor * np.log(2))

    meanings = {"ln((N + 1) / (df + 0.5)), as in Lucene's BM25": lucene(1.0)}
    for k1, _ in k1_and_b(c0)[:_MOST_PAIRS]:
        meanings[f"{k1 + 1:g} ln((N + 1) / (df + 0.5)), as in BM25 of Lucene before 8"] = lucene(k1 + 1)
        meanings[f"{k1:g} log2(N / df + 1), as in Terrier's TF_IDF"] = terrier(k1)
    return meanings


def _best(
    terms: list[str], w: Array, errors: Array, meanings: Mapping[str, Meaning]
) -> DocumentFrequencies | None:
    """Returns the formula and N for which all df are whole numbers, or None if chance explains that.

    Args:
        terms: the terms.
        w, errors: each term's fitted weight and its standard error.
        meanings: the formulas for df given a weight and N, by the weights' formula in words.
    """
    evidence, documents, formula = max(
        (*_most_likely(w, errors, meaning), formula) for formula, meaning in meanings.items()
    )
    # We tried so many pairs of N and formula that there is some evidence for one by chance.
    if evidence < np.log(_LARGEST * len(meanings)) + _SURE:
        return None
    meaning = meanings[formula]
    # N can be any value nearer than the nearest unlikely one, or within _AROUND if none is unlikely.
    around = np.arange(max(1, documents - _AROUND), documents + _AROUND + 1, dtype=float)[:, None]
    is_likely = _evidence(around, w, errors, meaning) > evidence - _LIKELY
    nearest_unlikely = int(np.abs(around[~is_likely] - documents).min(initial=_AROUND))
    # A single N gives arrays with one row.
    (dfs,), (spreads,) = _with_errors(np.array([[float(documents)]]), w, errors, meaning)
    known = {term: round(df) for term, df, spread in zip(terms, dfs, spreads, strict=True) if spread < _WHOLE}
    return DocumentFrequencies(weight=formula, documents=documents, within=nearest_unlikely - 1, df=known)


def _most_likely(w: Array, errors: Array, meaning: Meaning) -> tuple[float, int]:
    """Returns the evidence (a logarithm) for whole df at the best N, and that N.

    It tries all values of N in blocks. To save time, the first few terms select a hundredth of each block,
    and only there all terms are examined.
    """
    best = (-np.inf, 0)
    for start in range(1, _LARGEST, _BLOCK):
        n = np.arange(start, start + _BLOCK, dtype=float)[:, None]
        first = _evidence(n, w[:_FEW], errors[:_FEW], meaning)
        n = n[
            np.sort(np.argsort(-first)[: _BLOCK // 100])
        ]  # ascending, so the smallest of equally likely N wins
        evidence = _evidence(n, w, errors, meaning)
        at = int(np.argmax(evidence))
        best = max(best, (float(evidence[at]), int(n[at, 0])), key=lambda pair: pair[0])
    return best


def _with_errors(n: Array, w: Array, errors: Array, meaning: Meaning) -> tuple[Array, Array]:
    """Returns the df for each N (row) and term (column), and their standard errors."""
    df = meaning(n, w)
    return df, np.abs(meaning(n, w + errors) - df)


def _evidence(n: Array, w: Array, errors: Array, meaning: Meaning) -> Array:
    """Returns the evidence for each N: a sum over all df, which should be whole numbers.

    The evidence for a df is the logarithm of a ratio: a normal density around the nearest whole number,
    divided by chance. By chance, a df is anywhere between whole numbers, with density 1 and thus logarithm
    0. Negative evidence is limited. A df with a large standard error counts nothing, because it's near a
    whole number by chance. A df below 1 is impossible.
    """
    df, spread = _with_errors(n, w, errors, meaning)
    spread = np.maximum(spread, 1e-3)  # no df is known more precisely
    deviations = (df - np.round(df)) / spread  # in standard deviations
    log_density = -0.5 * np.square(deviations) - np.log(spread) - _LOG_ROOT_2_PI
    evidence = np.where(spread < _NO_EVIDENCE, np.maximum(log_density, -_IMPOSSIBLE), 0.0)
    is_possible = df.round() >= 1
    return np.asarray((evidence - np.where(is_possible, 0.0, _IMPOSSIBLE)).sum(axis=1))
