"""The searched hypotheses, and their descriptions."""

from collections import Counter

from identifying import STANDARD, TEXT
from touche.identification.hypotheses import SUM, Hypothesis, space
from touche.identification.models import BM25, DPH, LENGTHS, LM_DIRICHLET, MODELS
from touche.identification.samples import ONE_FIELD

PARTS = ("premises", "conclusion", ONE_FIELD)


def test_every_hypothesis_is_tried_once() -> None:
    arguments = list(space(PARTS))
    texts = list(space(TEXT))
    assert len({*arguments}) == len(arguments) and len({*texts}) == len(texts)
    assert {hypothesis.fields for hypothesis in arguments if hypothesis.combination} == {PARTS[:2]}, (
        "not with one that contains it"
    )
    assert {hypothesis.model for hypothesis in texts} == {*MODELS}
    exact = [
        Counter(hypothesis.model for hypothesis in texts if hypothesis.lengths == lengths)
        for lengths in LENGTHS
    ]
    assert not exact[0][DPH] and exact[2][DPH] == exact[2][BM25], "Terrier's lengths are exact"


def test_a_weight_is_varied_where_it_can_show_and_lengths_always() -> None:
    free = Hypothesis(LM_DIRICHLET, STANDARD, PARTS[:2], SUM, weight=None)
    assert {variant.weight for variant in free.variants()} == {1.0, 0.5, 0.25, None}
    hidden = Hypothesis(BM25, STANDARD, PARTS[:2], SUM)
    assert {variant.weight for variant in hidden.variants()} == {1.0}
    assert {variant.offset for variant in hidden.variants()} == {-1, 1, 2, 3, 4, 5}
