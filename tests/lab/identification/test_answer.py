"""The ranking of hypotheses, the selection for the next round, and clear winners."""

import dataclasses
from typing import Any

import pytest

from identifying import STANDARD, fit
from touche.lab.identification.answer import Answer, candidate, differs, undecided, verdict
from touche.lab.identification.counts import CandidateAnalysis
from touche.lab.identification.differentiable_models import BM25
from touche.lab.identification.fitting import Fit
from touche.lab.identification.parameters import DocumentFrequencies
from touche.lab.identification.search import ranked

PLURAL = CandidateAnalysis(False, "none", "plurals to singulars")
REPRODUCED = 0.0
MISSED = 1.0
GOOD = [REPRODUCED] * 90 + [MISSED] * 10
BAD = [REPRODUCED] * 12 + [MISSED] * 88
EMPTY: dict[str, Any] = {field.name: () for field in dataclasses.fields(Answer)}


def test_two_are_differs_by_documents_that_only_one_of_them_meets() -> None:
    """For 20 documents, 18 to 2 is more than two standard errors; 14 to 6 is less."""
    most = [REPRODUCED] * 18 + [MISSED] * 2 + [REPRODUCED] * 80
    least = [MISSED] * 18 + [REPRODUCED] * 2 + [REPRODUCED] * 80
    assert differs(fit(most), fit(least))
    assert not differs(fit([REPRODUCED] * 14 + [MISSED] * 6), fit([MISSED] * 14 + [REPRODUCED] * 6))
    assert not differs(fit(most, numbers=10), fit(least, numbers=20)), "free parameters buy documents"


@pytest.mark.parametrize(
    ("winner", "equal", "reason"),
    [
        (fit(GOOD, 10, model="BM25"), [], "88.9% of the scores"),
        (fit(GOOD, 10), [fit(GOOD, 10, lengths="exact")], "88.9% of the scores"),
        (fit(BAD, 10), [], "reproduces 12.0% of the scores"),
        (fit([REPRODUCED] * 100, 81), [], "all scores except 19"),
        (fit([REPRODUCED] * 98 + [MISSED] * 2, 80), [], "90.0% of the scores"),
        (fit(GOOD, 10, model="BM25"), [fit(GOOD, 10)], "does not differ significantly from DPH"),
        (fit(GOOD, formula=BM25), [], "no hypothesis reproduces all scores"),
    ],
)
def test_a_majority_beyond_what_free_parameters_buy_stands_out(
    winner: Fit, equal: list[Fit], reason: str
) -> None:
    stands_out, is_outside, explanation = verdict(winner, equal)
    assert stands_out == (reason in ("88.9% of the scores", "90.0% of the scores")) and reason in explanation
    # Only enough scores that no model in the search reproduces show that something else made them.
    assert is_outside == (reason == "reproduces 12.0% of the scores")


@pytest.mark.parametrize(
    ("winner", "equal", "is_named"),
    [
        (fit(BAD, 10), [], True),
        (fit(GOOD, formula=BM25), [], False),
        (fit([REPRODUCED] * 100, 81), [], False),
        (fit(GOOD, 10, model="BM25"), [fit(GOOD, 10)], False),
        (fit(GOOD, 10), [], False),
    ],
    ids=["no model", "not all by a formula", "too few", "two models", "the answer"],
)
def test_a_cause_outside_of_the_search_is_named_only_where_the_scores_show_it(
    winner: Fit, equal: list[Fit], is_named: bool
) -> None:
    """A formula's fit may have missed the right parameters, so that the search does contain the cause."""
    stands_out, is_outside, reason = verdict(winner, equal)
    best = candidate(winner, [])
    record = EMPTY | {"nearest": best, "undecided": {}, "collections": {}}
    record |= {"stands_out": stands_out, "is_outside": is_outside, "reason": reason}
    sentences = [*Answer(**record).sentences()]
    assert any("found no model" in sentence for sentence in sentences) == is_named
    assert any("smallest median error" in sentence for sentence in sentences) != stands_out


@pytest.mark.parametrize(("weight", "model"), [("as in Terrier's TF_IDF", "Terrier's TF_IDF"), ("ln", BM25)])
def test_weights_decide_between_bm25_and_tf_idf(weight: str, model: str) -> None:
    record = EMPTY | {"stands_out": True, "candidates": [candidate(fit(GOOD, model=BM25), [])]}
    record["collections"] = {"text": DocumentFrequencies(weight, 9, 0, {})}
    assert Answer(**record).first_line.startswith(f"{model} of text, standard analysis")


def test_undecided_axes_name_all_values_those_of_twins_too() -> None:
    fits = [fit(GOOD, 10, model="BM25"), fit(GOOD, 10, model="BM25", lengths="exact")]
    assert undecided(fits, {STANDARD: (PLURAL,)}) == {
        "stems": ("no stemming", "plurals to singulars"),
        "lengths": ("lengths in one byte", "lengths exact"),
    }


def test_ranked_by_share_less_floor_then_named_analyses_then_the_median_and_never_by_the_mean() -> None:
    outliers = fit([REPRODUCED] * 60 + [100.0] * 40, 10)
    close = fit([0.01] * 100, 10, model="BM25")
    cheap = fit([REPRODUCED] * 60 + [100.0] * 40, 5, lengths="exact")
    few = fit([REPRODUCED] * 40 + [100.0] * 60, 10, lengths="before Lucene 7")
    smaller = fit([REPRODUCED] * 40 + [0.01] * 60, 10, model="BM25")
    unnamed = fit([REPRODUCED] * 40 + [0.001] * 60, 10, analysis=PLURAL)
    expected = [cheap, outliers, smaller, few, unnamed, close]
    assert ranked([unnamed, close, few, outliers, smaller, cheap]) == expected
