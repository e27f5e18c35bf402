"""When a hypothesis stands out, and when two cannot be told apart."""

import numpy as np

from identifying import STANDARD, TEXT, fit
from touche.identify.counts import Analysis
from touche.identify.search import Found, Round, chosen_documents, kept, ranked
from touche.identify.verdict import told_apart, verdict

PLURAL = Analysis(False, "none", "plurals to singulars")
MET, MISSED = 0.0, 1.0
GOOD = [MET] * 90 + [MISSED] * 10
BAD = [MET] * 12 + [MISSED] * 88


def found(*fits, twins=None) -> Found:
    return Found(tuple(fits), {}, twins or {}, 100)


def test_two_are_told_apart_by_documents_that_only_one_of_them_meets() -> None:
    """Of 20 such documents 18 to 2 is more than two standard errors, 14 to 6 is not."""
    most = [MET] * 18 + [MISSED] * 2 + [MET] * 80
    least = [MISSED] * 18 + [MET] * 2 + [MET] * 80
    assert told_apart(fit(most), fit(least))
    assert not told_apart(fit([MET] * 14 + [MISSED] * 6), fit([MISSED] * 14 + [MET] * 6))
    assert not told_apart(fit(most, numbers=10), fit(least, numbers=20)), "free numbers buy documents"


def test_a_majority_beyond_what_free_numbers_buy_stands_out() -> None:
    good = verdict(found(fit(GOOD, 10, model="BM25"), fit(BAD, 10)))
    assert good.stands_out and good.reason.startswith("88.9% of the scores") and not good.equal
    bad = verdict(found(fit(BAD, 10, model="BM25"), fit(BAD[::-1], 10)))
    assert not bad.stands_out and "meets 12.0% of the scores" in bad.reason


def test_where_everything_fits_or_two_models_do_nothing_stands_out() -> None:
    assert "0.80 free numbers per document" in verdict(found(fit([MET] * 100, 80), fit(BAD, 1))).reason
    both = verdict(found(fit(GOOD, 10, model="BM25"), fit(GOOD, 10)))
    assert not both.stands_out and both.reason == "the best one cannot be told from DPH"


def test_undecided_axes_name_all_values_those_of_twins_too() -> None:
    best, same = fit(GOOD, 10, model="BM25"), fit(GOOD, 10, model="BM25", lengths="exact")
    judged = verdict(found(best, same, fit(BAD, 10), twins={STANDARD: (PLURAL,)}))
    assert judged.stands_out
    assert judged.undecided == {
        "stems": ("no stemming", "plurals to singulars"),
        "lengths": ("lengths in one byte", "lengths exact"),
    }


def test_ranked_by_share_less_floor_then_by_median_and_never_by_the_mean() -> None:
    outliers = fit([MET] * 60 + [100.0] * 40, 10)
    close = fit([0.01] * 100, 10, model="BM25")
    cheap = fit([MET] * 60 + [100.0] * 40, 5, lengths="exact")
    few = fit([MET] * 40 + [100.0] * 60, 10, lengths="before Lucene 7")
    assert ranked([close, few, outliers, cheap]) == [cheap, outliers, few, close]


def test_between_equal_shares_analyses_with_a_name_go_first_then_the_smaller_median() -> None:
    named = fit([MET] * 40 + [0.1] * 60)
    smaller = fit([MET] * 40 + [0.01] * 60, model="BM25")
    unnamed = fit([MET] * 40 + [0.001] * 60, analysis=PLURAL)
    assert ranked([unnamed, named, smaller]) == [smaller, named, unnamed]


def test_the_best_of_other_values_are_kept_on_each_axis() -> None:
    fits = ranked(
        [
            *(fit(GOOD, 10, model="BM25", offset=offset) for offset in range(5)),
            fit(BAD, 10, model="BM25", lengths="exact"),
            fit(BAD, 11, model="DPH"),
            fit(BAD, 12, fields=("other",)),
            fit(BAD, 13, fields=("other",), analysis=PLURAL),
        ]
    )
    hypotheses = [each.hypothesis for each in kept(fits, 2)]
    assert {each.model for each in hypotheses} == {"BM25", "DPH"}
    assert {each.fields for each in hypotheses} == {TEXT, ("other",)}
    assert {each.analysis for each in hypotheses} == {STANDARD, PLURAL} and len(hypotheses) < len(fits)


def test_a_round_takes_whole_topics_first_and_spreads_over_their_ranks() -> None:
    class Made:
        topics = ("1",) * 3 + ("2",) * 9 + ("3",) * 6

    chosen = chosen_documents(Made(), Round(7, 5, (), 1))  # type: ignore[arg-type]
    assert chosen.tolist() == [3, 5, 7, 9, 11, 12, 13]
    assert chosen_documents(Made(), Round(99, 99, (), 1)).tolist() == list(np.arange(18))  # type: ignore[arg-type]
