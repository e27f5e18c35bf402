"""Bounds over unjudged documents: all grades are tried by trec_eval."""

import json
from itertools import product
from math import log2

import pytest

import touche as library
from conftest import Touche, Write
from printed import rows_below
from random_examples import example, given, st
from spotcheck import run_of, scored_in
from touche.evaluation import bounds
from touche.evaluation.comparison import comparisons
from touche.evaluation.evaluators import by_trec_eval
from touche.tasks import measure_of
from touche.trec.qrels import Qrels

MEASURES = [
    "nDCG@1",
    "nDCG@3",
    "nDCG@6",
    "P@3",
    "P(rel=2)@5",
    "RR",
    "RR@2",
    "RR(rel=2)@4",
    "AP@4",
    "AP(rel=2)@6",
]
DOCUMENTS = "abcdefgh"


def cut(measure: str, documents: str) -> str:
    return documents[: measure_of(measure).cutoff]


def values(measure: str, documents: str, judgments: list[dict[str, int]]) -> list[float]:
    """The measure of one list by trec_eval, for each of several judgments."""
    numbered = {str(number): judged for number, judged in enumerate(judgments)}
    ranking = {topic: [*cut(measure, documents)] for topic in numbered}
    return [*by_trec_eval(ranking, Qrels(numbered), measure_of(measure)).values()]


lists = st.permutations(DOCUMENTS).flatmap(lambda ids: st.integers(0, 6).map(lambda n: "".join(ids[:n])))
judgments = st.dictionaries(st.sampled_from(DOCUMENTS + "xyz"), st.integers(0, 3), min_size=5)


@given(st.sampled_from(MEASURES), lists, lists, judgments, st.sets(st.integers(1, 3), min_size=1))
@example("nDCG@3", "abx", "", {"a": 1, "b": 0, "c": 2}, {1})  # the least value is not that of grade 0
@example("nDCG@3", "abx", "", {"a": 1, "b": 0}, {1, 2})
@example("AP@4", "xyb", "", {"b": 0, "c": 1, "d": 1}, {1})  # greatest with both unjudged ones relevant
@example("nDCG@6", "xbayzc", "", {"a": 2, "b": 0, "c": 3, "d": -2, "e": 1}, {1})
def test_bounds_are_the_extremes_of_all_grades(
    measure: str, first: str, second: str, labels: dict[str, int], grades: set[int]
) -> None:
    scale = sorted({0, *grades, *labels.values()})
    second = "" if measure.startswith("AP") else second
    if not cut(measure, first + second):
        return
    shown = dict.fromkeys(cut(measure, first) + cut(measure, second))
    unjudged = [document for document in shown if document not in labels]
    possible = [
        labels | dict(zip(unjudged, added, strict=True)) for added in product(scale, repeat=len(unjudged))
    ]
    pairs = zip(values(measure, first, possible), values(measure, second, possible), strict=True)
    differences = [one - other for one, other in pairs]
    bounded = bounds.bounded_measure(Qrels({"1": labels}), measure_of(measure), grades)
    assert bounded
    limits = bounded.bounds_on_topic("1", cut(measure, first), cut(measure, second))
    assert (limits.least, limits.greatest) == pytest.approx((min(differences), max(differences)), abs=1e-6)


OTHERS = "AP nDCG R@5 RBP(p=0.8)@5 ERR@5 Bpref nDCG(gains={1:2})@5 P(judged_only=True)@5".split()


@pytest.mark.parametrize(
    ("measure", "labels", "expected"),
    [
        *((measure, {"a": 1}, None) for measure in OTHERS),
        ("P@2", {"a": 1}, bounds.Bounds(0.5, 1.0)),
        ("P@2", {"a": 1, "b": 0}, bounds.Bounds(0.5, 1.0)),
        ("P@2", {"a": 1, "b": -2}, bounds.Bounds(0.5, 1.0)),
        ("P@2", {"a": 0}, None),
        ("P(rel=2)@2", {"a": 1}, bounds.Bounds(0.0, 0.0)),
    ],
)
def test_some_measures_have_bounds_and_a_scale_has_0_and_needs_a_grade_above_it(
    measure: str, labels: dict[str, int], expected: bounds.Bounds | None
) -> None:
    bounded = bounds.bounded_measure(Qrels({"1": labels}), measure_of(measure))
    assert (bounded and bounded.bounds_on_topic("1", "ax")) == expected


def test_many_documents_and_grades_take_no_enumeration() -> None:
    labels = {f"d{number}": number % 6 for number in range(500)}
    bounded = bounds.bounded_measure(Qrels({"1": labels}), measure_of("nDCG@1000"))
    assert bounded
    limits = bounded.bounds_on_topic("1", [f"{'ud'[number % 2]}{number}" for number in range(1000)])
    assert 0 < limits.least < limits.greatest <= 1


def test_touche_has_no_bounds_of_the_mean_if_its_topics_are_not_known(write: Write) -> None:
    """Whether topic 2 counts depends on the grades: without a relevant document, touche leaves it out."""
    qrels = {"1": {"a": 1}, "2": {"b": 0}}
    run = {"1": {"a": 1.0}, "2": {"x": 1.0}}
    by_trec_eval, by_script = library.evaluate(run, qrels=qrels, measure="nDCG@5", bounds=True)
    assert (by_trec_eval.least, by_trec_eval.greatest) == (0.5, 1.0)
    assert (by_script.least, by_script.greatest) == (None, None)
    unrequested = library.evaluate(run, qrels=qrels, measure="nDCG@5")
    assert {(score.least, score.greatest) for score in unrequested} == {(None, None)}


def test_a_document_of_both_runs_has_one_grade(touche: Touche, write: Write) -> None:
    """A has the relevant document first, B has another; both have the same unjudged document on rank 2."""
    qrels = write("q.qrels", "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in "12"))
    same = [write(f"{tag}.txt", run_of(*(f"{t} {tag} x" for t in "12"), tag=tag)) for tag in "ab"]
    other = write("o.txt", run_of("1 y z", "2 y z", tag="o"))
    second = 1 / log2(3)
    scored = scored_in([*same, other], None, ["trec_eval"], measure="nDCG@2", qrels=qrels)
    compared = comparisons(scored, None, bounds=True)
    stays, changes, _ = compared
    assert (stays.least, stays.greatest) == pytest.approx((1 / (1 + second), 1.0)) and not stays.can_change
    assert (changes.least, changes.greatest) == pytest.approx((1 / (1 + second) - 1, 1.0))
    assert changes.can_change
    command = "compare", *same, other, "--qrels", qrels, "--measure", "nDCG@2"
    rows = rows_below(touche(*command, "--bounds")[1], "table", ["least", "greatest", "winner"])
    assert ["stays" in row["winner"] for row in rows] == [True, False, False]
    code, _, err = touche(*command, "--bounds", "--per-topic")
    assert code == 2 and err.startswith("touche: --bounds")
    without = json.loads(
        touche("compare", *same, "--qrels", qrels, "--measure", "AP@2", "--bounds", "--format", "json")[1]
    )
    assert (without[0]["least"], without[0]["can_change"]) == (None, None)


def test_the_command_shows_bounds_in_one_row_for_each_evaluator(touche: Touche, write: Write) -> None:
    """With grade 0, topic 1 has 2 / (2 + 1 / log2(3)); with grade 2, it has all; topic 2 is judged."""
    qrels = write("q.qrels", "1 0 a 2\n1 0 b 1\n2 0 a 1\n2 0 b 0\n")
    command = ("evaluate", write("r.txt", run_of("1 a x", "2 a b")), "--qrels", qrels, "--measure", "nDCG@2")
    [row] = rows_below(touche(*command, "--bounds")[1], "table", ["least", "greatest"])
    assert (row["least"], row["greatest"], row["topics"]) == ("0.880", "1.000", "2")
    code, _, err = touche(*command, "--bounds", "--format", "latex")
    assert code == 2 and err.count("\n") == 1 and "--bounds" in err
    assert "one row for each run" in touche(*command, "--per-topic", "--format", "latex")[2]
