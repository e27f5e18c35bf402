import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from touche.errors import InputError
from touche.formats.qrels import read_qrels


def test_labels_are_whole_numbers_also_when_written_with_a_point(write: Write) -> None:
    path = write("a.qrels", "1 0 a 4.0\n1\t0\tb\t-2.0\n2 0 a 0\n")
    assert read_qrels(path) == {"1": {"a": 4, "b": -2}, "2": {"a": 0}}


def test_labels_that_the_card_does_not_know_are_refused(write: Write) -> None:
    path = write("a.qrels", "1 0 a 4.0\n1 0 b 3\n")
    assert read_qrels(path, labels={3, 4}) == {"1": {"a": 4, "b": 3}}
    with pytest.raises(InputError, match=r"a\.qrels:2: label 3 is unknown; .* 1, 4;"):
        read_qrels(path, labels={1, 4})


def test_excluded_topics_are_left_out(write: Write) -> None:
    path = write("a.qrels", "1 0 a 1\n25 0 a 2\n")
    assert read_qrels(path, excluded_topics=["25"]) == {"1": {"a": 1}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 b", "3 columns instead of 4"),
        ("1 0 b 1 2", "5 columns instead of 4"),
        ("1 0 b 2000000000", "label 2000000000 is beyond 1,000,000"),  # took 160 s
        ("1 0 b -1000001", "label -1000001 is beyond 1,000,000"),
        ("1 0 a 2", "document 'a' of topic 1 has two labels"),
    ],
)
def test_unusable_lines_are_named(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.qrels:2: {message}"):
        read_qrels(write("a.qrels", f"1 0 a 1\n{line}\n"))


LABELS = st.one_of(
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5),
    st.from_regex(r"\A[+-]?[0-9]{1,20}(\.[0-9]{0,3})?\Z"),
    st.sampled_from(["4.0", "4.", "-2.0", "1_0", "４", "٤.0", "nan", "1e0", "9" * 5000, "0." + "0" * 5000]),
)


@given(LABELS)
def test_a_label_is_a_whole_number_of_ascii_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.qrels"
    path.write_text(f"1 0 a 1\n1 0 b {text}\n", encoding="utf-8")
    whole, _, rest = text.partition(".")
    digits = whole.removeprefix("-" if whole[0:1] == "-" else "+")
    if (
        digits.isascii()
        and digits.isdigit()
        and len(digits) <= 18
        and int(digits) <= 10**6
        and rest == "0" * len(rest[:9])
    ):
        assert read_qrels(path) == {"1": {"a": 1, "b": int(whole)}}
    else:
        why = "(not a whole number|beyond 1,000,000)"
        with pytest.raises(InputError, match=rf"a\.qrels:2: label .{{1,70}} is {why}; write .*$"):
            read_qrels(path)


def test_a_file_without_judgments_is_an_error(write: Write) -> None:
    with pytest.raises(InputError, match="no judgments in it"):
        read_qrels(write("a.qrels", "25 0 a 1\n"), excluded_topics=["25"])
