from contextlib import suppress
from math import isfinite
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from touche.errors import InputError
from touche.formats.side_files import read_scores

WANTED = {"clueweb12-a", "clueweb12-b", "7"}


@pytest.mark.parametrize(
    "text",
    [
        "73 clueweb12-a\n0 clueweb12-x\n1.5e-09 clueweb12-b\n",
        "clueweb12-b\t1.5e-09\n\nclueweb12-x 0\nclueweb12-a  73\n",
        "0 clueweb12-x\n5 clueweb12-x\n73 clueweb12-a\r\nclueweb12-b 1.5e-09",
    ],
)
def test_numbers_and_ids_in_either_order(write: Write, text: str) -> None:
    expected = {"clueweb12-a": 73.0, "clueweb12-b": 1.5e-09}
    assert read_scores(write("spam-ranks.txt", text), WANTED) == expected
    assert read_scores(write("spam-ranks.txt.gz", text), WANTED) == expected


def test_an_id_that_is_a_number_comes_second(write: Write) -> None:
    assert read_scores(write("spam-ranks.txt", "73 7\n"), WANTED) == {"7": 73.0}


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
    | st.from_regex(r"\A[+-]?[0-9]{0,20}\.?[0-9]*([eE][0-9]{1,4})?\Z")
    | st.sampled_from(["1_0", "１", "nan", "ınf", "1e999", "9" * 5000, "٣.5"])
)
def test_a_number_is_a_finite_one_of_ascii_or_the_line_is_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "spam-ranks.txt"
    path.write_text(f"{text} clueweb12-a\n", encoding="utf-8", newline="")
    try:
        found = read_scores(path, WANTED)
    except InputError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 300
        found = {}
    good = set(text) <= set("0123456789+-.eE")
    with suppress(ValueError):
        good = good and isfinite(float(text))
        assert found == ({"clueweb12-a": float(text)} if good else {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("clueweb12-a,73", "'clueweb12-a,73' is no number and id"),
        ("clueweb12-x sixty", "'clueweb12-x sixty' is no number and id"),
        ("73", "'73' is no number and id"),
        ("73 clueweb12-a 5", "'73 clueweb12-a 5' is no number and id"),
        ("74 clueweb12-b", "page 'clueweb12-b' occurs a second time"),
    ],
)
def test_a_line_that_is_broken_is_named(write: Write, line: str, message: str) -> None:
    path: Path = write("spam-ranks.txt", f"73 clueweb12-b\n{line}\n")
    with pytest.raises(InputError, match=rf"spam-ranks\.txt:2: {message}; "):
        read_scores(path, WANTED)
