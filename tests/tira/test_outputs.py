from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import touche
from conftest import Write
from random_examples import given, st
from touche.baselines.rankings import Rankings, run_of_rankings
from touche.errors import InputError, ToucheError
from touche.tira.outputs import remove_earlier_run, write_run
from touche.trec.runs import read_run
from touche.trec.topics import Topic

A = Topic("1", "a")
B = Topic("2", "b")


def written(folder: Path, topics: list[Topic], rankings: Rankings, tag: str = "tag") -> Path:
    """Writes rankings as ``touche run`` does; returns run.txt."""
    remove_earlier_run(folder)
    write_run(folder, run_of_rankings(topics, rankings, tag), "about: it")
    return folder / "run.txt"


def test_a_run_is_in_the_order_of_the_topics(tmp_path: Path) -> None:
    rankings = [(B, [("x", 1.0), *((f"d{n}", n + 2.0) for n in range(1500))]), (A, [])]
    lines = written(tmp_path / "out", [A, B], rankings).read_text().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (1000, "2 Q0 d1499 1 1501.0 tag", "2 Q0 d500 1000 502.0 tag")
    file = written(tmp_path / "out", [A, B], [(B, [("x", 1.0)]), (A, [("y", 2.0)])])
    assert file.read_text() == "1 Q0 y 1 2.0 tag\n2 Q0 x 1 1.0 tag\n"


def test_a_topic_has_a_ranking_for_each_stance(tmp_path: Path) -> None:
    both = [(A, [("x", 1.0, "PRO")]), (B, []), (A, [("y", 1.0, "CON"), ("x", 2.0, "CON")]), (B, [])]
    file = written(tmp_path, [A, B], both)
    lines = "1 PRO x 1 1.0 tag\n1 CON x 1 2.0 tag\n1 CON y 2 1.0 tag\n"
    assert file.read_text() == lines and read_run(file) == run_of_rankings([A, B], both, "tag")
    neither = [(A, [("x", 1.0, "Q0")]), (A, [("y", 1.0, "PRO")])]  # Q0 is a stance if it is yielded
    assert written(tmp_path, [A], neither).read_text() == "1 Q0 x 1 1.0 tag\n1 PRO y 1 1.0 tag\n"
    mixed = [(A, [("x", 1.0, "PRO"), ("y", 2.0, "CON")])]
    assert written(tmp_path, [A], mixed).read_text() == "1 CON y 1 2.0 tag\n1 PRO x 2 1.0 tag\n"


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        *(
            ([(A, first), (A, second)], "topic 1 is not in the input, or is ranked twice")
            for first, second in (
                ([("d", 1.0)], [("d", 1.0)]),
                ([("d", 1.0, "PRO")], [("d", 1.0, "PRO")]),
                ([("d", 1.0, "PRO")], [("d", 1.0)]),
                ([("d", 1.0)], [("d", 1.0, "CON")]),
                ([("d", 1.0)], [("d", 1.0, "Q0")]),
            )
        ),
        ([(B, [])], "topic 2 is not in the input"),
        ([(A, [("stranger", 1.0)])], "'stranger' is not a candidate of topic 1"),
        *(
            (
                [(A, [("d", score)])],
                r"topic 1: document .d. has the score .*; scores must be numbers that are finite",
            )
            for score in (np.nan, None, "1.0", True, np.True_, 1j, 1e39, 10**400, [1.0])
        ),
        ([(A, ["d"])], r"yielded 'd'"),
        ([(A, "d", 1.0)], r"yielded \(Topic\(.*; yield pairs \(topic, ranking\)"),
        ([("1", [])], "yielded '1'; yield the Topic, not its number"),
        ([(A, None)], "yielded the ranking None"),
        ([(A, [(7, 1.0)])], "yielded the document id 7"),
        ([(A, [("d\u2003e", 1.0)])], r"yielded the document id 'd\\u2003e'"),
        ([(A, [("d", 1.0, "PRO\x1b")])], r"yielded the stance 'PRO\\x1b'"),
        ([(A, [("d", 1.0, "")])], "yielded the stance ''; write one word"),
        ([(A, [("d", 1.0, 1)])], "yielded the stance 1; write one word"),
    ],
)
def test_a_wrong_ranking_is_refused_and_leaves_no_run(tmp_path: Path, rankings: Any, message: str) -> None:
    (tmp_path / "run.txt").write_text("of yesterday")
    with pytest.raises(ToucheError, match=message):
        written(tmp_path, [Topic("1", "a", candidates=frozenset({"d"}))], rankings)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "score", [2, 2.0, np.float32(2), np.float64(2), np.int64(2), Fraction(4, 2), Decimal(2)]
)
def test_a_number_of_any_kind_is_a_score(tmp_path: Path, score: Any) -> None:
    assert written(tmp_path, [A], [(A, [("d", score)])]).read_text() == "1 Q0 d 1 2.0 tag\n"


@pytest.mark.parametrize("tag", ["my run", "a\u00a0b", "a\n", "\ud800"])
def test_a_tag_that_is_no_word_is_refused_and_leaves_the_earlier_run(tmp_path: Path, tag: Any) -> None:
    (tmp_path / "run.txt").write_text("of yesterday")
    with pytest.raises(ToucheError, match=r"the tag .*; use one word"):
        touche.write_run("bm25", "spot-check/arguments", tmp_path, tag=tag)
    with pytest.raises(ToucheError, match="tag = 7 is not a text; pass a text"):
        touche.write_run("bm25", "spot-check/arguments", tmp_path, tag=7)  # type: ignore[arg-type]
    assert (tmp_path / "run.txt").read_text() == "of yesterday"


BLANKS = "\t\n\v\f\r\x1c\x1f \x85\u00a0\u2003\u2028\u3000\ufeff\0\x1b"
WORDS = st.text(st.characters(), max_size=4) | st.text(st.sampled_from("ab" + BLANKS), max_size=3)
NUMBERS = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=3) | st.complex_numbers()
PAIRS = st.tuples(WORDS | st.none() | st.integers() | st.binary(max_size=2), NUMBERS)


@given(
    st.lists(PAIRS | st.tuples(WORDS, st.floats(width=32), WORDS | st.none()), max_size=4)
    | st.lists(st.tuples(st.text("abé𝄞", min_size=1), st.floats(-1e30, 1e30)), max_size=4),
)
def test_whatever_is_yielded_is_read_back_or_refused_and_leaves_no_run(
    tmp_path_factory: pytest.TempPathFactory, hits: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    try:
        written(folder, [A], [(A, hits)])
    except ToucheError as error:
        assert len(str(error).splitlines()) == 1 and not list(folder.iterdir())
    else:
        read = read_run(folder / "run.txt") if hits else []
        assert run_of_rankings([A], [(A, hits)], "tag") == read
        assert {line.document for line in read} == {hit[0] for hit in hits} and len(read) == len(hits)
        assert {(line.topic, line.tag) for line in read} <= {("1", "tag")}


@pytest.mark.parametrize(
    ("folder", "message"), [("file/out", "cannot be created"), ("/proc", r"run\.txt: cannot be written")]
)
def test_an_output_directory_that_cannot_be_made_or_written_is_named_before_the_work(
    write: Write, tmp_path: Path, folder: str, message: str
) -> None:
    write("file", "")
    with pytest.raises(InputError, match=message):
        touche.run("bm25", "spot-check/arguments", output=tmp_path / folder)
