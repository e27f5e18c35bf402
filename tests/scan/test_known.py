from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Write
from touche.documents.collection import Documents
from touche.documents.document_records import Document
from touche.documents.statistics_files import StatisticsFiles
from touche.errors import InputError, ParameterError, ToucheError
from touche.scan import Array, Statistics, Term, dph, rank
from touche.scan.counting import Vocabulary, whole_text
from touche.scan.known import _log_differences, known_or_counted
from touche.scan.written_statistics import KnownStatistics
from touche.trec.topics import Topic


def numbered(documents: list[Document], known: Path | None, saved: Path | None = None) -> Documents:
    return Documents.of(documents).with_statistics(StatisticsFiles(known, saved))


TOPICS = [Topic("1", "a b"), Topic("2", "c c d")]


@pytest.mark.parametrize(
    ("documents", "options", "problem"),
    [
        ("a b c d", {}, "no statistics of the term 'c' in the field 'text'"),
        ("a b", {"analysis": "plural"}, "of the field 'text' with the analysis 'plural'"),
        ("a b", {"fields": {"title": str}}, "of the field 'title'"),
        ("a a b", {}, "these documents have more of the term 'a' in the field 'text'"),
        ("x x x", {}, "these documents have more documents or tokens in the field 'text'"),
    ],
)
def test_what_is_known_has_to_be_of_these_terms_fields_analyses_and_documents(
    tmp_path: Path, documents: str, options: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "s.json"
    topics = TOPICS[: 2 if "d" in documents else 1]
    list(rank(TOPICS[:1], numbered([Document("d", "a b")], None, path), dph, analysis="standard"))
    known = numbered([Document("d", documents)], path)
    with pytest.raises(InputError, match=problem):
        list(rank(topics, known, dph, **{"analysis": "standard"} | options))


KNOWN = """{"fields": {
"text": {"analysis": "standard", "tokens": 50, "documents": 20, "terms": {"a": [4, null], "b": [null, 9]}},
"other": {"analysis": "standard", "tokens": 5, "terms": {}, "estimated": true}}}"""


def test_numbers_that_are_not_known_are_no_numbers_and_a_formula_that_needs_them_fails(write: Write) -> None:
    seen: list[Term] = []

    def model(tf: Array, length: Array, term: Term) -> Array:
        seen.append(term)
        return tf * 1.0

    documents = numbered([Document("d", "a b b x"), Document("e", "a")], write("known.json", KNOWN))
    list(rank(TOPICS[:1], documents, model, analysis="standard"))
    a, b = seen
    assert (a.df, b.ttf, a.documents, a.tokens) == (4, 9, 20, 50)
    assert isnan(a.ttf) and isnan(b.df)
    with pytest.raises(ToucheError, match=r"nan for a document.*statistics without gaps"):
        list(rank(TOPICS[:1], documents, dph, analysis="standard"))


NUMBERS = ["[30, null]", "[null, 51]", "[5, 4]", "[0, 3]"]  # that contradict the others


@pytest.mark.parametrize(
    "content",
    [
        *(KNOWN.replace("[4, null]", numbers) for numbers in NUMBERS),
        *('{"fields": {}, "fields"', '{"fields": {"text": {"tokens": -1}}}', "[]"),
    ],
)
def test_a_file_without_statistics_is_refused(write: Write, content: str) -> None:
    documents = numbered([Document("d", "a")], write("s.json", content))
    with pytest.raises(InputError, match="no statistics of a collection"):
        list(rank(TOPICS[:1], documents, dph, analysis="standard"))


WHOLE = """{"fields": {
"text": {"analysis": "standard", "tokens": 13, "documents": 4, "terms": {"a": [4, null], "b": [null, 9]}},
"other": {"analysis": "standard", "tokens": 500, "terms": {"a": [400, 400]}, "estimated": true}}}"""
EQUAL = "all 4 numbers in whole.json are those of this collection, within 1 or 0.01%"
FIELDS = {"text": whole_text, "other": whole_text}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b b b b b b b b b", EQUAL),
        ("a b b b b b b b b", EQUAL),  # one away
        (
            "a b b b b b b b",
            "2 of 4 numbers in whole.json are not those of this collection (b: 7 instead of 9, ",
        ),
    ],
)
def test_the_whole_collection_is_compared_and_ranked_by_its_own_numbers(
    write: Write, caplog: pytest.LogCaptureFixture, text: str, said: str
) -> None:
    documents = [Document("d", text), *(Document(f"e{number}", "a") for number in range(3))]
    caplog.set_level("INFO", "touche")
    files = StatisticsFiles(known=write("whole.json", WHOLE), is_whole=True)
    collection = Documents.of(documents).with_statistics(files)
    (ranking,) = rank(TOPICS[:1], collection, dph, analysis="standard", fields=FIELDS)
    assert said in caplog.text
    (own,) = rank(TOPICS[:1], documents, dph, analysis="standard", fields=FIELDS)
    assert ranking == own


@pytest.mark.parametrize(("count", "is_equal"), [(231_240, True), (231_210, True), (231_260, False)])
def test_large_frequencies_are_compared_as_exactly_as_scores_tell(
    caplog: pytest.LogCaptureFixture, count: int, is_equal: bool
) -> None:
    """Of 231,233, a hundredth of a percent is 23."""
    known = {"text": KnownStatistics(analysis="standard", tokens=900_000, terms={"a": (None, 231_233)})}
    own = Statistics(documents=3, tokens=900_000, df=np.array([1]), ttf=np.array([count]))
    caplog.set_level("INFO", "touche")
    _log_differences("f.json", known, {"text": Vocabulary("standard", {"a": 0})}, {"text": own})
    assert ("are not those" not in caplog.text) == is_equal and caplog.text


FIT = """{"fields": {"title": null, "text": {"analysis": "standard",
"documents": 2, "tokens": 8, "estimated": true, "terms": {"a": [1, null], "b": [2, null]}}}}"""


def vocabularies(*fields: str) -> dict[str, Vocabulary]:
    return dict.fromkeys(fields, Vocabulary.from_terms("ab", "standard"))


def counted(documents: int) -> Statistics:
    return Statistics(
        documents=documents, tokens=documents, df=np.array([documents, 0]), ttf=np.array([documents, 0])
    )


def test_estimates_may_be_lower_than_counts_and_an_unknown_field_has_its_own(write: Write) -> None:
    files = StatisticsFiles(write("fit.json", FIT))
    own = [counted(2), counted(2)]
    text, title = known_or_counted(files, vocabularies("text", "title"), own)
    assert (text.documents, text.tokens, text.df.tolist()) == (2, 8, [1, 2])
    assert title is own[1]
    with pytest.raises(InputError, match="no statistics of the field 'body'"):
        known_or_counted(files, vocabularies("text", "body"), own)
    known_or_counted(StatisticsFiles(write("fit.json", FIT), is_whole=True), vocabularies("title"), own[:1])


def test_statistics_are_not_both_used_and_written() -> None:
    with pytest.raises(ParameterError, match="exclude each other; omit one of them"):
        StatisticsFiles(Path("a.json"), Path("b.json"))
