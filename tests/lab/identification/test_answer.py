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
    ],
)
def test_a_majority_beyond_what_free_parameters_buy_stands_out(
    winner: Fit, equal: list[Fit], reason: str
) -> None:
    stands_out, explanation = verdict(winner, equal)
    assert stands_out == (reason in ("88.9% of the scores", "90.0% of the scores")) and reason in explanation


def test_the_reason_does_not_say_what_made_the_scores_that_a_formula_misses() -> None:
    """The formula's fit may have missed the right parameters, so another model is only one explanation."""
    stands_out, reason = verdict(fit(GOOD, formula=BM25), [])
    assert not stands_out and "model" not in reason
    assert reason.endswith("no hypothesis reproduces all scores")


@pytest.mark.parametrize(("weight", "model"), [("as in Terrier's TF_IDF", "Terrier's TF_IDF"), ("ln", BM25)])
def test_weights_decide_between_bm25_and_tf_idf(weight: str, model: str) -> None:
    record: dict[str, Any] = {field.name: () for field in dataclasses.fields(Answer)} | {"stands_out": True}
    record["candidates"] = [candidate(fit(GOOD, model=BM25), [])]
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
