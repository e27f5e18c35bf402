from pathlib import Path
from typing import Any

import pytest

from touche.collection.documents import Documents
from touche.errors import InputError
from touche.formats.documents import Document
from touche.formats.statistics import StatisticsFiles
from touche.formats.topics import Topic
from touche.scan import Array, Term, dph, rank


def numbered(documents: list[Document], known: Path | None, kept: Path | None = None) -> Documents:
    return Documents.of(documents).with_statistics(StatisticsFiles(known, kept))


TOPICS = [Topic("1", "a b"), Topic("2", "c c d")]


@pytest.mark.parametrize(
    ("documents", "options", "problem"),
    [
        ("a b c d", {}, "no statistics of the term 'c' in the field 'text'"),
        ("a b", {"analysis": "plural"}, "of the field 'text' with the analysis 'plural'"),
        ("a b", {"fields": {"title": str}}, "of the field 'title'"),
        ("a a b", {}, "these documents have more of the term 'a' in the field 'text'"),
        ("x x x", {}, "these documents have more in the field 'text'"),
    ],
)
def test_what_is_known_has_to_be_of_these_terms_fields_analyses_and_documents(
    tmp_path: Path, documents: str, options: dict[str, Any], problem: str
) -> None:
    path, topics = tmp_path / "s.json", TOPICS[: 2 if "d" in documents else 1]
    list(rank(TOPICS[:1], numbered([Document("d", "a b")], None, path), dph, analysis="standard"))
    with pytest.raises(InputError, match=problem):
        known = numbered([Document("d", documents)], path)
        list(rank(topics, known, dph, **{"analysis": "standard"} | options))


KNOWN = """{"fields": {
"text": {"analysis": "standard", "tokens": 50, "documents": 20, "terms": {"a": [4, null], "b": [null, 9]}},
"other": {"analysis": "standard", "tokens": 5, "terms": {}, "estimated": true}}}"""


def test_numbers_that_are_not_known_stay_those_of_the_documents(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(KNOWN)
    seen: dict[float, Term] = {}

    def model(tf: Array, length: Array, term: Term) -> Array:
        seen[len(seen)] = term
        return tf * 1.0

    documents = numbered([Document("d", "a b b x"), Document("e", "a")], path)
    list(rank(TOPICS[:1], documents, model, analysis="standard"))
    a, b = seen.values()
    assert (a.df, a.ttf, b.df, b.ttf) == (4, 2, 1, 9)
    assert (a.documents, a.tokens) == (20, 50)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b b b b b b b b b", "all 2 frequencies in whole.json are those of this collection"),
        ("a b b b b b b b b", "all 2 frequencies in whole.json are those of this collection"),  # one away
        ("a b b b b b b b", "1 of 2 frequencies differ from those in whole.json (b 7 instead of 9)"),
    ],
)
def test_the_whole_collection_is_compared_and_ranked_by_its_own_numbers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, said: str
) -> None:
    path = tmp_path / "whole.json"
    path.write_text(KNOWN)
    documents = [Document("d", text), *(Document(f"e{number}", "a") for number in range(3))]
    caplog.set_level("INFO", "touche")
    files = StatisticsFiles(known=path, is_whole=True)
    (found,) = rank(TOPICS[:1], Documents.of(documents).with_statistics(files), dph, analysis="standard")
    assert said in caplog.text and "others" not in caplog.text
    (own,) = rank(TOPICS[:1], documents, dph, analysis="standard")
    assert found == own


@pytest.mark.parametrize("content", ['{"fields": {}, "fields"', '{"fields": {"text": {"tokens": -1}}}', "[]"])
def test_a_file_without_statistics_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content)
    with pytest.raises(InputError, match="no statistics of a collection"):
        list(rank(TOPICS, numbered([Document("d", "a")], path), dph, analysis="standard"))
