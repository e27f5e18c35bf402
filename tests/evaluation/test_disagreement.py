import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_ndcg import JUDGED, QRELS, run

from touche.errors import ToucheError
from touche.evaluation import ndcg
from touche.evaluation.disagreement import reasons
from touche.formats.qrels import Qrels
from touche.formats.runs import RunLine
from touche.tasks.records import MEASURE

LINES = st.lists(
    st.tuples(
        st.sampled_from("1234"),
        st.integers(0, 14).map(lambda number: f"d{number}"),
        st.integers(1, 8),
        st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 2.0]),
    ),
    unique_by=lambda line: line[:2],
)


def texts(lines: list[RunLine], qrels: Qrels) -> list[str]:
    return [reason.text for reason in reasons(lines, qrels, 5)]


def test_nothing_is_said_where_the_evaluators_agree() -> None:
    assert reasons(run("a", "b", "c"), QRELS, 5) == []


def test_each_rule_in_which_they_differ_is_named_alone() -> None:
    two: Qrels = QRELS | {"2": {"a": 0}, "3": {"a": 1}}
    assert texts(run("a", "b", scores=[1.0, 1.0])[::-1], QRELS) == [  # in any order of the lines
        "equal scores are ordered by rank, not by document id"
    ]
    assert texts(run("a", "b", scores=[1.0, 2.0]), QRELS) == ["the rank column decides, not the score"]
    assert texts(run("x", "b"), QRELS) == [
        "1 unjudged documents of the top 5 are taken out, not counted as 0"
    ]
    lines = run("b", "a") + run("a", topic="2") + run("x", "a", topic="3")
    assert texts(lines, two)[1:] == ["topics without a relevant document are left out"]
    assert texts(run("b", "a"), QRELS | {"3": {"a": 1}}) == ["topics that the run lacks are left out"]
    deep = run("b", "a") + run("u", "v", "w", "x", "y", "a", topic="3")
    assert texts(deep, QRELS | {"3": {"a": 1}}) == ["topics with nothing judged in the top 5 are left out"]


def test_the_change_and_its_topics_by_hand() -> None:
    (reason,) = reasons(run("b", "a") + run("c", "a", topic="9"), QRELS | {"2": {"a": 1}, "9": {"c": 1}}, 5)
    assert reason.topics == ("2",)
    assert reason.change == pytest.approx(1 - 2 / 3)


@given(JUDGED, LINES)
def test_the_changes_add_up_to_the_difference(
    qrels: Qrels, written: list[tuple[str, str, int, float]]
) -> None:
    lines = [RunLine(topic, "Q0", id, rank, score, "t") for topic, id, rank, score in written]
    try:
        difference = (ndcg.touche(lines, qrels, MEASURE).mean or 0) - (
            ndcg.trec_eval(lines, qrels, MEASURE).mean or 0
        )
    except ToucheError:
        return
    assert sum(reason.change for reason in reasons(lines, qrels, 5)) == pytest.approx(difference, abs=1e-9)
