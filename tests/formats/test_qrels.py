import pytest

from conftest import ROOT, Write
from touche.errors import InputError
from touche.formats.qrels import read_qrels


def test_labels_are_whole_numbers_also_when_written_with_a_point(write: Write) -> None:
    path = write("a.qrels", "1 0 a 4.0\n1\t0\tb\t-2.0\n2 0 a 0\n")
    assert read_qrels(path) == {"1": {"a": 4, "b": -2}, "2": {"a": 0}}


def test_labels_that_the_card_does_not_know_are_refused(write: Write) -> None:
    path = write("a.qrels", "1 0 a 4.0\n1 0 b 3\n")
    assert read_qrels(path, labels={3, 4}) == {"1": {"a": 4, "b": 3}}
    with pytest.raises(
        InputError, match=r"a\.qrels:2: label 3 is unknown; the labels of this file are 1, 4; check"
    ):
        read_qrels(path, labels={1, 4})


def test_excluded_topics_are_left_out(write: Write) -> None:
    path = write("a.qrels", "1 0 a 1\n25 0 a 2\n")
    assert read_qrels(path, excluded_topics=["25"]) == {"1": {"a": 1}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 b", "3 columns instead of 4"),
        ("1 0 b 1 2", "5 columns instead of 4"),
        ("1 0 b FIRST", "label 'FIRST' is not a whole number"),
        ("1 0 b 0.5", "label '0.5' is not a whole number"),
        ("1 0 b inf", "label 'inf' is not a whole number"),
        ("1 0 b nan", "label 'nan' is not a whole number"),
        ("1 0 a 2", "document 'a' of topic 1 has two labels"),
    ],
)
def test_unusable_lines_are_named(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.qrels:2: {message}"):
        read_qrels(write("a.qrels", f"1 0 a 1\n{line}\n"))


def test_a_file_without_judgments_is_an_error(write: Write) -> None:
    with pytest.raises(InputError, match="no judgments in it"):
        read_qrels(write("a.qrels", "25 0 a 1\n"), excluded_topics=["25"])


@pytest.mark.parametrize("part", ["arguments", "passages"])
def test_the_spot_check_is_judged_from_minus_two_to_two(part: str) -> None:
    qrels = read_qrels(ROOT / "qrels" / f"spot-check-{part}-relevance.qrels")
    for labels in qrels.values():
        assert {-2, 0, 1, 2} == set(labels.values())
