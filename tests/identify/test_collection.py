"""N and df from weights that were computed from them."""

from math import log, log2

import numpy as np
import pytest

from identifying import STANDARD, TEXT, made_counts
from touche.identify.collection import Collection, collections_of
from touche.identify.counts import Counts
from touche.identify.fitting import Fit, Problem
from touche.identify.hypotheses import Hypothesis
from touche.identify.models import BM25

pytestmark = pytest.mark.usefixtures("smaller")
DF = [17, 40, 93, 151, 388, 702, 1500, 4100, 9000, 20_000]


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks for N among fewer numbers than touche identify does."""
    monkeypatch.setattr("touche.identify.collection._LARGEST", 500_000)


def given_away(weights: list[float], k1: float, b: float, deviation: float) -> Collection | None:
    """What weights with such standard errors give away."""
    counts = made_counts(1, terms=len(weights))
    named = Counts(
        counts.rows, counts.terms, counts.tf, counts.qtf, counts.lengths, tuple(map(str, DF[: len(weights)]))
    )
    problem = Problem(Hypothesis(BM25, STANDARD, TEXT), (named,), np.zeros(12))
    moved = np.array(weights) + np.random.default_rng(2).normal(0, deviation, len(weights))
    numbers = np.array([log(k1 * (1 - b)), log(k1 * b / 100), *moved])
    fit = Fit(problem.hypothesis, numbers, np.full(len(numbers), deviation), np.zeros(12))
    return collections_of(problem, fit).get("text")


@pytest.mark.parametrize("factor", [1.0, 2.2])
def test_lucene_s_weights_old_and_new(factor: float) -> None:
    weights = [factor * log((387_740 + 1) / (df + 0.5)) for df in DF]
    found = given_away(weights, 1.2, 0.75, 1e-7)
    assert found is not None and ("before 8" in found.weight) == (factor > 1)
    assert abs(found.documents - 387_740) <= found.within < 5
    assert found.df == {str(df): df for df in DF}


def test_as_few_terms_as_chance_explains_give_nothing_away() -> None:
    """Each term whose df is a whole number makes N exp(6) times likelier; four are enough, three are not."""
    weights = [log((387_740 + 1) / (df + 0.5)) for df in DF]
    assert given_away(weights[:3], 1.2, 0.75, 1e-8) is None
    assert given_away(weights[:4], 1.2, 0.75, 1e-8) is not None


def test_terrier_s_weights() -> None:
    found = given_away([1.2 * log2(387_740 / df + 1) for df in DF], 1.2, 0.75, 1e-7)
    assert found is not None and "Terrier" in found.weight
    assert abs(found.documents - 387_740) <= found.within and found.df["17"] == 17


def test_weights_that_mean_no_documents_or_are_not_known_well_enough_give_nothing_away() -> None:
    any_weights = list(np.random.default_rng(3).uniform(3, 9, len(DF)))
    assert given_away(any_weights, 0.9, 0.4, 1e-7) is None
    weights = [log((387_740 + 1) / (df + 0.5)) for df in DF]
    assert given_away(weights, 0.9, 0.4, 0.01) is None
