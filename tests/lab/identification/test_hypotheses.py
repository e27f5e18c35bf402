"""The searched hypotheses, and their descriptions."""

from collections import Counter

from identifying import STANDARD, TEXT
from touche.lab.identification.differentiable_models import BM25, DPH, LENGTHS, LM_DIRICHLET, MODELS
from touche.lab.identification.hypotheses import SUM, Hypothesis, space
from touche.lab.identification.samples import ONE_FIELD

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


def test_relatives_differ_on_one_axis_and_keep_the_weight_and_the_offset() -> None:
    searched = list(space(PARTS))
    best = Hypothesis(LM_DIRICHLET, STANDARD, PARTS[:2], SUM, offset=2, weight=0.25)
    relatives = set(best.relatives(searched)) - {best}
    for relative in relatives:
        differences = {axis for axis, value in best.axes.items() if value != relative.axes[axis]}
        assert len(differences) == 1 or differences == {"model", "fields"}
        assert "model" not in differences or MODELS[relative.model].linear  # which has no weight
    assert {relative.analysis for relative in relatives} > {STANDARD}
    assert {relative.model for relative in relatives} == {*MODELS} - {DPH, "DLH", "PL2"}
    assert {relative.offset for relative in relatives if relative.fields != best.fields} == {2}
