import pytest
from test_evaluators import JUDGED, QRELS, run

from random_examples import given, st
from touche.errors import ToucheError
from touche.evaluation import evaluators
from touche.evaluation.disagreement import reasons_for_disagreement
from touche.tasks.task_records import MEASURE
from touche.trec.columns import Run, RunLine
from touche.trec.qrels import Qrels

LINES = st.lists(
    st.tuples(
        st.sampled_from("1234"),
        st.integers(0, 14).map(lambda number: f"d{number}"),
        st.integers(1, 8),
        st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 2.0]),
    ),
    unique_by=lambda line: line[:2],
)
THREE: Qrels = QRELS | {"2": {"a": 0}, "3": {"a": 1}}


@pytest.mark.parametrize(
    ("lines", "qrels", "expected"),
    [
        (run("a", "b", "c"), QRELS, []),
        # Lines in any order:
        (
            run("a", "b", scores=[1.0, 1.0])[::-1],
            QRELS,
            ["equal scores are ordered by rank, not by document"],
        ),
        (run("a", "b", scores=[1.0, 2.0]), QRELS, ["the rank column decides, not the score"]),
        (run("x", "b"), QRELS, ["1 unjudged document of the top 5 is removed, not counted as 0"]),
        (  # the unjudged document of the second topic changes nothing
            run("x", "b") + run("a", "x", topic="2"),
            QRELS | {"2": {"a": 1}},
            ["1 unjudged document of the top 5 is removed"],
        ),
        (
            run("b", "a") + run("a", topic="2") + run("x", "a", topic="3"),
            THREE,
            ["1 unjudged", "topics without a relevant document are left out"],
        ),
        (run("b", "a"), QRELS | {"3": {"a": 1}}, ["topics that the run lacks are left out"]),
        (
            run("b", "a") + run("u", "v", "w", "x", "y", "a", topic="3"),
            QRELS | {"3": {"a": 1}},
            ["topics with nothing judged in the top 5 are left out"],
        ),
    ],
)
def test_each_rule_in_which_they_differ_is_named(
    lines: list[RunLine], qrels: Qrels, expected: list[str]
) -> None:
    texts = [reason.text for reason in reasons_for_disagreement(Run.of(lines), qrels, 5)]
    assert len(texts) == len(expected) and all(map(str.startswith, texts, expected))


def test_the_change_and_its_topics_by_hand() -> None:
    lines = Run.of(run("b", "a") + run("c", "a", topic="9"))
    (reason,) = reasons_for_disagreement(lines, QRELS | {"2": {"a": 1}, "9": {"c": 1}}, 5)
    assert (reason.topics, reason.change) == (("2",), pytest.approx(1 - 2 / 3))


@given(JUDGED, LINES)
def test_the_changes_add_up_to_the_difference(
    qrels: Qrels, written: list[tuple[str, str, int, float]]
) -> None:
    lines = Run.of(
        RunLine(topic=topic, stance="Q0", document=id, rank=rank, score=score, tag="t")
        for topic, id, rank, score in written
    )
    try:
        ours, theirs = (
            evaluate(lines, qrels, MEASURE).mean or 0
            for evaluate in (evaluators.touche, evaluators.trec_eval)
        )
    except ToucheError:
        return
    assert sum(reason.change for reason in reasons_for_disagreement(lines, qrels, 5)) == pytest.approx(
        ours - theirs, abs=1e-9
    )
