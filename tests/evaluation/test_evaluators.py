import re
import shutil
from collections.abc import Sequence
from math import log2

import ir_measures
import pytest
import pytrec_eval

from random_examples import given, settings, st
from touche.errors import ToucheError
from touche.evaluation import evaluators
from touche.tasks import measure_of
from touche.trec.columns import Run, RunLine
from touche.trec.qrels import Qrels

FIVE = measure_of("nDCG@5")


def run(*documents: str, topic: str = "1", scores: Sequence[float] | None = None) -> list[RunLine]:
    """Returns a run of one topic in the order of rank; scores fall from 100 by default."""
    scores = scores or [100.0 - rank for rank in range(len(documents))]
    return [
        RunLine(topic=topic, stance="Q0", document=document, rank=rank, score=score, tag="t")
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
    ]


# An ideal list of only b and a has the value 2 + 1 / log2(3).
QRELS: Qrels = {"1": {"a": 1, "b": 2, "c": 0, "d": -2}}
IDEAL = 2 + 1 / log2(3)


@pytest.mark.parametrize(
    ("documents", "trec_eval", "touche", "judged"),
    [
        (["b", "a", "c", "d"], 1.0, 1.0, 1.0),
        (["a", "b", "c", "d"], (1 + 2 / log2(3)) / IDEAL, (1 + 2 / log2(3)) / IDEAL, 1.0),
        # trec_eval counts the unjudged document; the organizers' script removes it.
        (["x", "b", "a", "c"], (2 / log2(3) + 1 / 2) / IDEAL, 1.0, 3 / 4),
        # Neither counts documents after the fifth place, also after unjudged documents were removed.
        (["x", "y", "c", "d", "b", "a"], (2 / log2(6)) / IDEAL, (2 / 2) / IDEAL, 3 / 5),
        (["d", "b"], (2 / log2(3)) / IDEAL, (2 / log2(3)) / IDEAL, 1.0),
    ],
)
def test_both_evaluators_by_hand(
    documents: list[str], trec_eval: float, touche: float, judged: float
) -> None:
    results = [
        evaluate(Run.of(run(*documents)), QRELS, FIVE)
        for evaluate in (evaluators.trec_eval, evaluators.touche)
    ]
    assert [result.mean for result in results] == pytest.approx([trec_eval, touche], abs=1e-12)
    assert [result.judged for result in results] == [judged, judged]


FULL: Qrels = {"1": {"a": 1, "b": 2}, "2": {"a": 1, "b": 2}}
BOTH = [*run("a", "b"), *run("b", "a", topic="2")]


@pytest.mark.parametrize(
    ("lines", "qrels", "is_equal"),
    [
        (BOTH, FULL, True),
        ([*BOTH, *run("x", topic="3")], FULL, True),  # a topic without judgments
        ([*run("x", "b"), *BOTH[2:]], FULL, False),  # unjudged
        ([*run("a", "b", scores=[1.0, 1.0]), *BOTH[2:]], FULL, False),  # a tie
        ([*run("a", "b", scores=[1.0, 2.0]), *BOTH[2:]], FULL, False),  # ranks that disagree with scores
        (BOTH[:2], FULL, False),  # no results for a topic
        (BOTH, FULL | {"2": {"a": 0, "b": 0}}, False),  # no relevant document in a topic
    ],
)
def test_when_both_evaluators_agree_on_a_mean(lines: list[RunLine], qrels: Qrels, is_equal: bool) -> None:
    """As the page on scores and the docstring of the evaluators say."""
    means = [
        evaluate(Run.of(lines), qrels, FIVE).mean for evaluate in (evaluators.trec_eval, evaluators.touche)
    ]
    assert (means[0] == pytest.approx(means[1], abs=1e-12)) == is_equal


@pytest.mark.parametrize("scores", [[1.0, 2.0], [1.0, 1.0 + 1e-9]])
def test_trec_eval_goes_by_score_as_float32_then_by_id_and_the_organizers_by_rank(
    scores: list[float],
) -> None:
    lines = Run.of(run("a", "b", scores=scores))
    assert (evaluators.trec_eval(lines, QRELS, FIVE).mean, evaluators.touche(lines, QRELS, FIVE).mean) == (
        pytest.approx(1),
        pytest.approx((1 + 2 / log2(3)) / IDEAL),
    )


def test_topics_without_a_judged_result_or_a_relevant_document_are_left_out_by_the_organizers_only() -> None:
    qrels: Qrels = QRELS | {"2": {"a": 0, "b": -2}, "3": {"a": 1}}
    lines = Run.of(run("b", "a") + run("a", "b", topic="2") + run("x", topic="3"))
    assert evaluators.trec_eval(lines, qrels, FIVE).per_topic == {"1": pytest.approx(1.0), "2": 0.0, "3": 0.0}
    assert evaluators.touche(lines, qrels, FIVE).per_topic == {"1": 1.0}
    nothing = [
        evaluate(Run.of(run(*"uvwxya")), QRELS, FIVE)
        for evaluate in (evaluators.trec_eval, evaluators.touche)
    ]
    assert [(evaluation.mean, evaluation.judged) for evaluation in nothing] == [(0, 0), (None, 0)]


@pytest.mark.parametrize("evaluate", evaluators.EVALUATORS.values())
def test_a_run_for_another_task_is_an_error(evaluate: evaluators.Evaluator) -> None:
    with pytest.raises(ToucheError, match="no topic of the run, such as 99, is in the qrels"):
        evaluate(Run.of(run("a", topic="99")), QRELS, FIVE)


DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])
JUDGED: st.SearchStrategy[Qrels] = st.dictionaries(
    st.sampled_from("123"), st.dictionaries(DOCUMENTS, st.integers(-3, 5), min_size=1), min_size=1
)
SCORED = st.dictionaries(
    st.sampled_from("123"),
    st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0, 3.5]), min_size=1),
    min_size=1,
)


def in_common(qrels: Qrels, scored: dict[str, dict[str, float]]) -> bool:
    """Whether there is something to score."""
    return any(documents.keys() & qrels.get(topic, {}).keys() for topic, documents in scored.items())


def run_of_topics(scored: dict[str, dict[str, float]]) -> Run:
    """Returns a run of several topics."""
    return Run.of(
        line
        for topic, scores in scored.items()
        for line in run(*scores, topic=topic, scores=[*scores.values()])
    )


# Relevant are a (2), b and e (1); the run has b at rank 2, a at rank 4, and not e.
BY_HAND: Qrels = {"1": {"a": 2, "b": 1, "c": 0, "d": -2, "e": 1}}
DEEP = Run.of(run("x", "b", "c", "a", "d"))


@pytest.mark.parametrize(
    ("name", "value", "judged"),
    [
        ("AP@2", (1 / 2) / 3, 1 / 2),
        ("AP(rel=2)", 1 / 4, 4 / 5),
        ("P@4", 2 / 4, 3 / 4),
        ("RR(rel=2)@3", 0, 2 / 3),
        ("RR(rel=2)@4", 1 / 4, 3 / 4),
        ("SetF", 2 * (2 / 5 * 2 / 3) / (2 / 5 + 2 / 3), 4 / 5),
        # c, the only document that is not relevant, is before a; d, with grade -2, counts as unjudged.
        ("Bpref", (1 + 0) / 3, 4 / 5),
        ("RBP(p=0.5)", 1 / 4 * 1 + 1 / 16 * 2, 4 / 5),
        ("RBP(p=0.5,rel=2)", 1 / 16, 4 / 5),
        ("RBP@2", 0.2 * 0.8 * 1, 1 / 2),
        ("ERR@2", (1 / 16) / 2, 1 / 2),
        ("ERR", (1 / 16) / 2 + (15 / 16) * (3 / 16) / 4, 4 / 5),
        ("Judged@2", 1 / 2, 1 / 2),
        ("Judged", 4 / 5, 4 / 5),
        ("nDCG(judged_only=True)@1", 1 / 2, 0),
        ("nDCG(gains={1:1,2:3})@2", (1 / log2(3)) / (3 + 1 / log2(3)), 1 / 2),
    ],
)
def test_other_measures_by_hand(name: str, value: float, judged: float) -> None:
    evaluation = evaluators.trec_eval(DEEP, BY_HAND, measure_of(name))
    assert (evaluation.mean, evaluation.judged) == (pytest.approx(value), pytest.approx(judged))


@given(JUDGED, SCORED, st.sampled_from(["Judged", "Judged@2"]))
def test_the_judged_share_is_that_of_ir_measures(
    qrels: Qrels, scored: dict[str, dict[str, float]], name: str
) -> None:
    if not in_common(qrels, scored):
        return
    run = run_of_topics(scored)
    # Without ties, which ir_measures orders differently.
    ranked = run.documents_of(run.by_score)
    untied = {
        topic: {id: -float(rank) for rank, id in enumerate(documents)} for topic, documents in ranked.items()
    }
    judged = ir_measures.parse_measure(name)
    expected = ir_measures.calc_aggregate([judged], qrels, untied)[judged]
    assert evaluators.trec_eval(run, qrels, measure_of(name)).mean == pytest.approx(expected)


# trec_eval's own names; -M k, for RR@k, truncates a run to its first k results.
OF_TREC_EVAL = {
    "AP": "map",
    "AP@5": "map_cut_5",
    "P@3": "P_3",
    "R@5": "recall_5",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    "SetF(beta=0.5)": "set_F_0.5",
    "SetAP": "set_map",
    "Success@2": "success_2",
    "IPrec@0.3": "iprec_at_recall_0.30",
    "nDCG": "ndcg",
    "nDCG@1": "ndcg_cut_1",
    "nDCG@5": "ndcg_cut_5",
}


@given(JUDGED, SCORED, st.sampled_from([*OF_TREC_EVAL]), st.integers(1, 3))
def test_other_measures_are_those_of_trec_eval(
    qrels: Qrels, scored: dict[str, dict[str, float]], name: str, rel: int
) -> None:
    if not in_common(qrels, scored):
        return
    graded = name.startswith("nDCG")
    measure = (
        name if graded else re.sub(r"^(\w+)(?:\((.*)\))?", rf"\1(\2,rel={rel})", name).replace("(,", "(")
    )
    safe = {topic: labels for topic, labels in qrels.items() if max(labels.values()) >= 0}  # others crash
    evaluator = pytrec_eval.RelevanceEvaluator(
        safe, {OF_TREC_EVAL[name]}, relevance_level=1 if graded else rel
    )
    values = {
        topic: next(iter(evaluation.values())) for topic, evaluation in evaluator.evaluate(scored).items()
    }
    per_topic = evaluators.trec_eval(run_of_topics(scored), qrels, measure_of(measure)).per_topic
    assert per_topic == {topic: pytest.approx(values.get(topic, 0.0)) for topic in qrels}
    assert all(0 <= value <= 1 for value in per_topic.values())


OF_IR_MEASURES = (
    "AP AP@3 P@3 R@3 RR Rprec Bpref infAP SetP SetP(relative=True) SetR SetF SetAP "
    "Success@2 IPrec@0.3 nDCG nDCG@3 "
    "AP(judged_only=True) P(judged_only=True)@3 R(judged_only=True)@3 RR(judged_only=True) "
    "Rprec(judged_only=True) SetP(judged_only=True) SetF(judged_only=True) SetAP(judged_only=True) "
    "Success(judged_only=True)@1 IPrec(judged_only=True)@0.3 nDCG(judged_only=True)@3 "
    "Bpref(rel=2) infAP(rel=2) P(rel=2,judged_only=True)@3 nDCG(gains={0:1,1:3})@3"
).split()


@pytest.mark.parametrize("name", OF_IR_MEASURES)
def test_negative_grades_mean_what_they_mean_to_trec_eval(name: str) -> None:
    """Every measure that ir_measures computes with trec_eval, without one of our own steps in between."""
    qrels: Qrels = {
        "1": {"a": -2, "b": 2, "c": 1, "d": -1, "e": 0, "f": -3, "g": 1, "h": 2},
        "2": {"a": -1, "b": 0, "c": 3, "d": 0},
        "3": {"a": -2, "b": 1},
    }
    ranking = dict(zip("daxbecfgh", range(9, 0, -1), strict=True))
    run = run_of_topics({topic: {id: float(score) for id, score in ranking.items()} for topic in qrels})
    theirs = ir_measures.pytrec_eval.iter_calc([ir_measures.parse_measure(name)], qrels, run.as_dict())
    expected = {result.query_id: pytest.approx(result.value, abs=1e-12) for result in theirs}
    assert evaluators.trec_eval(run, qrels, measure_of(name)).per_topic == expected


@pytest.mark.parametrize("grades", [(-1, -1), (-2, -2), (-3, -1), (-2, -1000)])
@pytest.mark.parametrize("name", OF_IR_MEASURES)
def test_a_topic_with_only_negative_grades_counts_0(name: str, grades: tuple[int, int]) -> None:
    """trec_eval itself crashes on most of them if another topic is before."""
    qrels: Qrels = {"1": {"a": 2, "b": 1, "c": 0}, "2": dict(zip("ab", grades, strict=True))}
    per_topic = evaluators.trec_eval(
        Run.of([*run("a", "b"), *run("a", "b", topic="2")]), qrels, measure_of(name)
    ).per_topic
    assert per_topic["1"] > 0 and per_topic["2"] == 0


def test_a_gain_for_a_negative_grade_replaces_it_as_in_ir_measures() -> None:
    measure = measure_of("nDCG(gains={-1:1})@5")
    qrels: Qrels = {"1": {"a": 2, "b": 1}, "2": {"a": -1, "b": -2}}
    run_of_both = Run.of([*run("a", "b"), *run("b", "a", topic="2")])
    assert evaluators.trec_eval(run_of_both, qrels, measure).per_topic == pytest.approx(
        {"1": 1, "2": 1 / log2(3)}
    )


@given(JUDGED, SCORED, st.integers(1, 12))
@settings(max_examples=20, deadline=None)
@pytest.mark.skipif(shutil.which("perl") is None, reason="needs Perl for gdeval")
def test_err_is_that_of_gdeval(qrels: Qrels, scored: dict[str, dict[str, float]], cutoff: int) -> None:
    """ir_measures runs TREC's script gdeval, which refuses grades above 4 and prints five decimals."""
    graded = {
        topic: {id: min(4, label) for id, label in evaluation.items()} for topic, evaluation in qrels.items()
    }
    measure = ir_measures.parse_measure(f"ERR@{cutoff}")
    if in_common(graded, scored):
        theirs = {
            evaluation.query_id: evaluation.value
            for evaluation in ir_measures.gdeval.iter_calc([measure], graded, scored)
        }
        ours = evaluators.trec_eval(run_of_topics(scored), graded, measure_of(f"ERR@{cutoff}")).per_topic
        assert ours == {topic: pytest.approx(theirs.get(topic, 0.0), abs=6e-6) for topic in qrels}


@pytest.mark.parametrize(
    ("labels", "measure", "value"),
    [
        pytest.param({"c": 5, "b": 1}, "ERR@1", 31 / 32, id="a grade above 4 is the highest of ERR"),
        ({"c": 1}, "RR@1", 1),  # as in trec_eval -M 1
        ({"b": 1}, "RR@1", 0),
    ],
)
def test_of_three_equal_scores_the_greatest_id_is_first(
    labels: dict[str, int], measure: str, value: float
) -> None:
    lines = Run.of(run("b", "c", "a", scores=[1, 1, 1]))
    assert evaluators.trec_eval(lines, {"1": labels}, measure_of(measure)).mean == pytest.approx(value)
