"""Settings of official runs, inferred from their scores; skipped without TOUCHE_DATA."""

from pathlib import Path

import pytest

from touche.lab.identification import identify
from touche.lab.identification.answer import NOTHING

STANDARD = "standard analysis (no stop words, no stemming)"
TWENTY_ONE = "touche-2021-task-1"
TWENTY_TWO = "touche-2022-task-2"

pytestmark = pytest.mark.nightly  # minutes each


def test_the_baseline_of_2021_is_dirichlet_and_a_maximum_is_not_told_from_one_field(official: Path) -> None:
    run = official / "runs" / TWENTY_ONE / "baseline-dirichlet-in-sample.tsv"
    identification = identify(run, f"{TWENTY_ONE}/sample")
    model, parameter = identification.first_line.split("; ")
    assert model == f"LMDirichlet of premises, {STANDARD}, lengths in one byte" and parameter == "mu = 2000"
    best = identification.candidates[0]
    assert (best.documents, best.free_parameters) == (216, 19)
    assert round(best.shares[0] * 216) == 186 and best.median == 0
    # The first one is the answer's. Rounding errors, which depend on the processor, order the others.
    first, *others = identification.undecided["fields"]
    assert first == "premises" and "maximum of premises and conclusion" in others
    assert "model" not in identification.undecided and "lengths" not in identification.undecided
    assert identification.numbers[0].value == pytest.approx(2000, abs=0.01)


def test_the_baseline_of_2022_is_bm25_with_the_settings_of_ours_and_tells_how_large_its_corpus_was(
    official: Path,
) -> None:
    identification = identify(official / "runs" / TWENTY_TWO / "puss-in-boots-1.run", f"{TWENTY_TWO}/sample")
    assert identification.first_line.startswith(
        "BM25 of text, english analysis (Lucene's 33 English stop words, Por"
    )
    assert (
        "lengths in one byte; k1 = 0.9, b = 0.4 (Anserini's defaults); avgdl is 108.5"
        in identification.first_line
    )
    assert (
        not identification.undecided
        and identification.candidates[0].documents == 1343
        and identification.decimals == 4
    )
    assert identification.candidates[0].shares[0] > 0.97 and identification.candidates[0].shares[1] > 0.99
    collection = identification.collections["text"]
    assert abs(collection.documents - 868_655) <= collection.within < 20
    assert collection.df["quicksort"] == 599


def test_bm25_of_beirs_touche_is_a_sum_over_title_and_text_whose_mean_lengths_are_known(
    official: Path,
) -> None:
    """From 253 scores with 213 free parameters; as many terms and fields have weights."""
    run = official / "runs" / "beir-webis-touche2020" / "bm25-multifield.run.gz"
    means = {"premises": 74_066_724 / 381_918, "conclusion": 2_015_485 / 382_543}
    answered = identify(run, "beir-webis-touche2020-v2/sample", means)
    assert answered.first_line.startswith(
        "BM25 or Terrier's TF_IDF of sum of premises and conclusion, english"
    )
    assert answered.first_line.endswith("lengths in one byte; k1 = 0.9, b = 0.4 (Anserini's defaults)")
    best = answered.candidates[0]
    assert (best.documents, best.free_parameters, best.shares[0]) == (253, 213, 1.0)
    assert answered.stands_out and not answered.undecided


@pytest.mark.parametrize(
    ("run", "dataset"),
    [
        (f"{TWENTY_TWO}/captain-levi-5", f"{TWENTY_TWO}/sample"),
        (f"{TWENTY_ONE}/jean-pierre-polnareff-dirichlet", f"{TWENTY_ONE}/sample"),
    ],
    ids=["a neural run", "another tokenizer"],
)
def test_nothing_stands_out_where_the_search_does_not_know_what_made_a_run(
    official: Path, run: str, dataset: str
) -> None:
    identification = identify(official / "runs" / f"{run}.run", dataset)
    assert identification.first_line == NOTHING and not identification.collections
    assert any("found no model" in sentence for sentence in identification.sentences())
    assert identification.candidates[0].shares[0] < 0.2
