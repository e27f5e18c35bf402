"""Parameters inferred from scores: round values, and N and df from computed weights."""

from dataclasses import replace
from importlib import import_module
from math import log, log2

import numpy as np
import pytest

from identifying import PAIR, STANDARD, TEXT, made_counts
from touche.lab.identification.differentiable_models import BM25, LM_DIRICHLET
from touche.lab.identification.fitting import Fit, Problem
from touche.lab.identification.hypotheses import SUM, Hypothesis
from touche.lab.identification.parameters import (
    DocumentFrequencies,
    document_frequencies,
    k1_and_b,
    near,
    shared_numbers,
)

DF = [17, 40, 93, 151, 388, 702, 1500, 4100, 9000, 20_000]
LUCENE = [log((387_740 + 1) / (df + 0.5)) for df in DF]


def given_away(
    monkeypatch: pytest.MonkeyPatch, weights: list[float], deviation: float, c0: float = 0.3
) -> DocumentFrequencies | None:
    """Returns the inference from weights with these standard errors, among few document counts."""
    monkeypatch.setattr(import_module("touche.lab.identification.parameters"), "_LARGEST", 500_000)
    names = tuple(map(str, DF[: len(weights)]))
    counts = replace(made_counts(1, terms=len(weights)), vocabulary=names)
    problem = Problem(Hypothesis(BM25, STANDARD, TEXT), (counts,), np.zeros(12))
    moved = np.array(weights) + np.random.default_rng(2).normal(0, deviation, len(weights))
    numbers = np.array([log(c0), log(0.9 / 100), *moved])
    fit = Fit(problem, numbers, np.full(len(numbers), deviation), np.zeros(12), len(numbers))
    return document_frequencies(fit).get("text")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (LUCENE, "as in Lucene's BM25"),
        ([2.2 * weight for weight in LUCENE], "before 8"),
        ([1.2 * log2(387_740 / df + 1) for df in DF], "Terrier"),
    ],
    ids=["Lucene", "older Lucene", "Terrier"],
)
def test_n_and_df_are_found(monkeypatch: pytest.MonkeyPatch, weights: list[float], words: str) -> None:
    frequencies = given_away(monkeypatch, weights, 1e-7)
    assert frequencies is not None and words in frequencies.weight
    assert abs(frequencies.documents - 387_740) <= frequencies.within < 5
    assert frequencies.df.items() <= {str(df): df for df in DF}.items() and frequencies.df["17"] == 17


@pytest.mark.parametrize(
    ("weights", "deviation", "enough"),
    [
        # Each term whose df is a whole number makes N exp(6) times likelier; four are enough, three are not.
        (LUCENE[:4], 1e-8, True),
        (LUCENE[:3], 1e-8, False),
        (LUCENE, 0.01, False),
        (np.random.default_rng(3).uniform(3, 9, len(DF)).tolist(), 1e-7, False),
        ([], 1e-7, False),
    ],
    ids=["four", "three", "imprecise", "meaningless", "none"],
)
def test_what_chance_explains_gives_nothing_away(
    monkeypatch: pytest.MonkeyPatch, weights: list[float], deviation: float, enough: bool
) -> None:
    assert (given_away(monkeypatch, weights, deviation) is not None) == enough


def test_round_values_nearby() -> None:
    values = {1999.99997: 2000, 1500.4: 1500, 0.25001: 0.25, 0.123456: None, 2234.6: None, 0.12304: 0.123}
    assert [near(value) for value in values] == [*values.values()]


def test_k1_and_b_in_use_go_before_other_round_ones() -> None:
    assert k1_and_b(0.5400001) == [(0.9, 0.4)]
    assert k1_and_b(0.3) == [(1.2, 0.75)]
    assert (0.7, 0.5) in k1_and_b(0.35) and k1_and_b(0.123456) == []


def begun(model: str, weight: float | None = 1.0, means: tuple[float, ...] = (), **numbers: float) -> Fit:
    """Returns a fit of two fields with the initial numbers of a problem, except for some."""
    hypothesis = Hypothesis(model, STANDARD, PAIR, SUM, weight=weight)
    counts = made_counts(1), made_counts(2)
    problem = Problem(hypothesis, counts, np.zeros(12), mean_lengths=means)
    begin = problem.begin()
    for position, number in numbers.items():
        begin[int(position[1:])] = number
    return Fit(problem, begin, begin, np.zeros(12), len(begin))


def test_bm25_has_an_average_length_for_each_field() -> None:
    fit = begun(BM25, _0=log(0.54), _1=log(0.36 / 108.5), _5=log(0.36 / 5.25))
    c0, premises, conclusion = shared_numbers(fit)
    assert (c0.round, c0.note) == (0.54, "as with k1 = 0.9, b = 0.4 (Anserini's defaults)")
    assert (premises.name, premises.note) == ("k1 b / avgdl in premises", "then avgdl is 108.50")
    assert conclusion.note == "then avgdl is 5.25"


@pytest.mark.parametrize(
    ("k1", "b", "words"),
    [(0.9, 0.4, "k1 = 0.9, b = 0.4 (Anserini's defaults)"), (0.9, 0.5, "k1 = 0.9, b = 0.5")],
)
def test_known_mean_lengths_determine_k1_and_b(k1: float, b: float, words: str) -> None:
    first, second = shared_numbers(
        begun(BM25, means=(193.93, 5.27), _0=log(k1 * (1 - b) * 1.00001), _1=log(k1 * b))
    )
    assert (first.name, first.round, str(first)) == ("k1", k1, words)
    assert (second.name, second.round, str(second)) == ("b", b, "")


def test_a_model_without_a_mean_length_has_the_same_numbers_where_it_is_known() -> None:
    (mu,) = [
        number for number in shared_numbers(begun(LM_DIRICHLET, means=(193.93, 5.27))) if number.name == "mu"
    ]
    assert mu.round == 2000


@pytest.mark.parametrize("weight", [0.25, None])
def test_a_free_weight_is_a_number_and_a_fixed_one_is_named(weight: float | None) -> None:
    mu, second = shared_numbers(begun(LM_DIRICHLET, weight))
    assert (mu.name, mu.round, str(mu)) == ("mu", 2000, "mu = 2000")
    assert (second.name, second.value) == ("weight of conclusion", pytest.approx(weight or 0.5))
