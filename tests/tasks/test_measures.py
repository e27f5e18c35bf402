import ir_measures
import pytest

from random_examples import example, given, st
from touche.errors import ToucheError
from touche.tasks import Measure, measure_of
from touche.tasks.measures import parsed


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG@5", Measure("nDCG@5", 5)),
        ("NDCG(cutoff=5)", Measure("nDCG@5", 5)),
        ("nDCG@1000", Measure("nDCG@1000", 1000)),
        ("MAP", Measure("AP")),
        ("P(rel=1)@10", Measure("P@10", 10)),
        ("RR(rel=2)@10", Measure("RR(rel=2)@10", 10)),
        ("RBP(p=0.8)@10", Measure("RBP@10", 10)),
        ("RBP(rel=2, p=0.95)", Measure("RBP(rel=2,p=0.95)")),
        ("ERR(cutoff=20)", Measure("ERR@20", 20)),
        ("IPrec@0.1", Measure("IPrec@0.1")),  # a recall, no cutoff
        ("Judged@10", Measure("Judged@10", 10)),
        ("ndcg_cut_5", Measure("nDCG@5", 5)),  # names of trec_eval
        ("ndcg_cut.10", Measure("nDCG@10", 10)),
        ("ndcg", Measure("nDCG")),
        ("map", Measure("AP")),
        ("map_cut_20", Measure("AP@20", 20)),
        ("recip_rank", Measure("RR")),
        ("P_10", Measure("P@10", 10)),
        ("recall_100", Measure("R@100", 100)),
        ("success_1", Measure("Success@1", 1)),
        ("iprec_at_recall_0.10", Measure("IPrec@0.1")),
        ("bpref", Measure("Bpref", condenses=True)),
        ("Bpref(rel=2)", Measure("Bpref(rel=2)", condenses=True)),
        ("P(judged_only=True)@5", Measure("P(judged_only=True)@5", 5, condenses=True)),
        ("P(judged_only=False)@5", Measure("P@5", 5)),
        ("set_recall", Measure("SetR")),
    ],
)
def test_a_measure_has_one_name_whatever_is_written(text: str, measure: Measure) -> None:
    assert measure_of(text) == measure
    assert measure.of_script == (measure.name in ("nDCG@5", "nDCG@10", "nDCG@1000"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ndcg_cut", "is not known"),
        ("map_5", "is not known"),
        ("ndcg_cut_0", "cutoff is not from 1 to 1000"),
        ("DCG@5", "ir_measures does not have it; choose nDCG"),
        ("alpha_nDCG@5", "it needs judgments of subtopics, which touche merges"),
        ("P", "is not known"),
        ("SetF(beta=1)", "is not known"),
        ("__import__('os').getcwd()", "is not known"),
        ("(" * 5000, "is not known"),
        ("nDCG(**{'cutoff':5})", "is not known"),
        ("nDCG@0", "cutoff is not from 1 to 1000; correct it"),
        ("P@True", "cutoff is not from 1 to 1000; correct it"),
        (
            "AP(rel=0)",
            "rel is not from 1 to 1000; correct it",
        ),  # or spam, -2, counts
        ("IPrec@0.155", "recall is not from 0 to 1 with at most two decimals"),
        ("SetF(beta=1e400)", "beta is not from 0 to 100 with at most two decimals"),
        ("nDCG(gains={1:2000000000})@5", "gains are not whole numbers from 0 to 1000"),  # trec_eval took 90 s
        ("nDCG(gains={1:-1})@5", "gains are not whole numbers from 0 to 1000"),
        ("nDCG(gains={0:1,1:-1})", "gains are not whole numbers from 0 to 1000"),
        ("ndcg@5", "measure 'ndcg@5' is not known; did you mean nDCG@5?"),
        ("Map", "did you mean AP?"),
        ("p(rel=2)@10", "did you mean P(rel=2)@10?"),
        ("ndcg@5000", "write it as in ir_measures"),
        ("ndcg(gains={1:-1})@5", "write it as in ir_measures"),
        ("RBP(p=1.0)", "p is not from 0 to 0.99"),
        ("RBP(rel=0)@5", "rel is not from 1 to 1000"),
        ("ERR_IA@5", "it needs judgments of subtopics"),
        ("Compat", "trec_eval does not compute it"),
        ("NumQ", "a count without a mean over topics"),
        (
            "nDCG(dcg='exp-log2')@5",
            "trec_eval does not compute it; write the gains of your grades: nDCG(gains=",
        ),
        ("RR(judged_only=True)@5", "trec_eval does not compute it"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_a_sentence(text: str, problem: str) -> None:
    with pytest.raises(ToucheError, match=r"^measure ") as error:
        measure_of(text)
    assert problem in str(error.value) and len(str(error.value)) < 250


NUMBERS = (
    st.integers(-2, 2000) | st.floats() | st.sampled_from(["None", "True", "'a'", "{1:2}", "0x5", "1e400"])
)
WORDS = st.builds(
    lambda name, parameter, value, cutoff: f"{name}({parameter}={value})@{cutoff}",
    st.sampled_from([*ir_measures.measures.registry]),
    st.sampled_from(["rel", "beta", "cutoff", "gains", "judged_only", "dcg", "p", "recall"]),
    NUMBERS,
    NUMBERS,
)


@given(st.text(max_size=120) | WORDS)
@example("SetF(beta=nan)")
def test_any_text_is_a_measure_that_is_computed_or_an_error(text: str) -> None:
    try:
        measure = measure_of(text)
    except ToucheError:
        return
    assert measure_of(measure.name) == measure
    if not measure.of_trec_eval:
        return
    cut = measure.name.startswith("RR") and measure.cutoff  # as trec_eval -M k does
    measure_parsed = parsed(measure.name.rpartition("@")[0] if cut else measure.name)
    assert ir_measures.pytrec_eval.supports(measure_parsed)
    (value,) = ir_measures.pytrec_eval.iter_calc(
        [measure_parsed], {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "x": 1.0}}
    )
    assert 0 <= value.value <= 1
