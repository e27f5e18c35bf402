import math
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from touche.errors import InputError, ToucheError
from touche.formats.runs import RunLine, format_run, in_order_of_rank, in_order_of_score, ranking, read_run

# Few ids and few scores, so that there are ties, also such that only float32 makes.
IDS = st.text("abYZ019-é𝄞", min_size=1, max_size=4)
SCORES = st.sampled_from(
    [0.1, 0.10000000001, 0.1 + 2e-8, 1.0, 3.0, 1e-30, 0.0, -0.0, -2.5, 16777216.0, 16777217.0]
)
HITS = st.dictionaries(
    IDS, st.one_of(SCORES, st.floats(width=32, allow_nan=False, allow_infinity=False)), min_size=1
)


def test_a_run_is_read_as_teams_send_them(write: Write) -> None:
    path = write("a.run", '51\tQ0\td1\t0\t11.7\tteam\t\n2 FIRST d2___3 1 1e-3 "Colbert  edinburg"\n')
    assert read_run(path) == [
        RunLine("51", "Q0", "d1", 0, 11.7, "team"),
        RunLine("2", "FIRST", "d2___3", 1, 0.001, '"Colbert  edinburg"'),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 Q0 d 2 0.5", "5 columns instead of 6; write: topic Q0 document rank score tag"),
        ("1 Q0 d two 0.5 t", "rank 'two' is not a whole number"),
        ("1 Q0 d 2 high t", "score 'high' is not a number"),
        ("1 Q0 d 2 nan t", "the score is nan"),
        ("1 Q0 d 2 -inf t", "the score is -inf"),
        ("1 Q0 d 2 1e39 t", "the score is 1e39; write scores that are finite as float32"),
        ("1 Q0 c 2 0.6 t", "document 'c' occurs a second time for topic 1"),
    ],
)
def test_unusable_lines_are_named(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.run:2: {message}"):
        read_run(write("a.run", f"1 Q0 c 1 0.7 t\n{line}\n"))


def test_an_empty_run_is_an_error(write: Write) -> None:
    with pytest.raises(InputError, match="the run is empty"):
        read_run(write("a.run", "\n"))


def trec_eval_finds_in_first_place(scores: dict[str, float], document: str) -> bool:
    evaluator = pytrec_eval.RelevanceEvaluator({"1": {document: 1}}, {"success_1"})
    return bool(evaluator.evaluate({"1": scores})["1"]["success_1"] == 1.0)


@given(HITS)
def test_the_order_of_a_ranking_is_the_one_of_trec_eval(hits: dict[str, float]) -> None:
    remaining = dict(hits)
    for document, _ in ranking(hits.items()):
        assert trec_eval_finds_in_first_place(remaining, document)
        del remaining[document]


@given(HITS, st.integers(1, 5))
def test_a_cut_falls_where_trec_eval_would_make_it(hits: dict[str, float], depth: int) -> None:
    assert ranking(hits.items(), depth) == ranking(hits.items())[:depth]


@given(HITS)
def test_a_written_ranking_is_read_back_in_the_same_order(
    tmp_path_factory: pytest.TempPathFactory, hits: dict[str, float]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "run.txt"
    path.write_text(format_run("1", ranking(hits.items()), "tag"), encoding="utf-8")
    lines = read_run(path)
    assert [line.rank for line in lines] == list(range(1, len(hits) + 1))
    assert in_order_of_score(lines) == in_order_of_rank(lines) == lines
    assert {line.document: np.float32(line.score) for line in lines} == {
        document: np.float32(score) for document, score in hits.items()
    }


def test_scores_have_no_more_digits_than_they_need() -> None:
    text = format_run("7", ranking([("a", np.float32(0.1)), ("b", 10.73390007019043), ("c", -0.0)]), "t")
    assert text == "7 Q0 b 1 10.7339 t\n7 Q0 a 2 0.1 t\n7 Q0 c 3 0.0 t\n"


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1e39])
def test_scores_that_no_run_can_hold_are_refused(score: float) -> None:
    with pytest.raises(ToucheError, match="scores must be finite"):
        ranking([("a", score)])


def test_a_document_cannot_be_ranked_twice() -> None:
    with pytest.raises(ToucheError, match="'a' is ranked twice"):
        ranking([("a", 1.0), ("b", 0.5), ("a", 0.2)])


def test_equal_ranks_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = [
        RunLine("1", "Q0", document, rank, 0.0, "t") for document, rank in (("c", 2), ("b", 1), ("a", 1))
    ]
    assert [line.document for line in in_order_of_rank(lines)] == ["b", "a", "c"]
