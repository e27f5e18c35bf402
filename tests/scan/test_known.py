from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touche.collection.documents import Documents
from touche.errors import InputError
from touche.formats.documents import Document
from touche.formats.statistics import StatisticsFiles
from touche.formats.topics import Topic
from touche.scan import Array, Term, rank


def numbered(documents: list[Document], known: Path | None, kept: Path | None = None) -> Documents:
    return Documents.of(documents).with_statistics(StatisticsFiles(known, kept))


def likelihood(tf: Array, length: Array, term: Term) -> Array:
    return tf * 1000 / (length + term.mean_length) * term.probability + term.df


TOPICS = [Topic("1", "a b"), Topic("2", "c c d")]
WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1).map(" ".join)


def hits(documents: Iterable[Document]) -> dict[str, list[tuple[str, float]]]:
    return {topic.number: found for topic, found in rank(TOPICS, documents, likelihood, analysis="standard")}


@given(texts=st.lists(WORDS, min_size=2, max_size=20), data=st.data())
def test_parts_ranked_by_the_numbers_of_the_whole_are_ranked_as_in_it(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    documents = [Document(f"d{number:02}", text) for number, text in enumerate(texts)]
    path = tmp_path_factory.mktemp("known") / "s.json"
    expected = hits(numbered(documents, None, path))
    assert expected == hits(documents)
    cut = data.draw(st.integers(1, len(documents) - 1))
    some, others = (hits(numbered(part, path)) for part in (documents[:cut], documents[cut:]))
    for number, best in expected.items():
        both = some[number] + others[number]
        assert sorted(both, key=lambda hit: (hit[1], hit[0]), reverse=True) == best


@pytest.mark.parametrize(
    ("documents", "options", "problem"),
    [
        ("a b c d", {}, "no statistics of the term 'c' in the field 'text'"),
        ("a b", {"analysis": "plural"}, "of the field 'text' with the analysis 'plural'"),
        ("a b", {"fields": {"title": str}}, "of the field 'title'"),
        ("a a b", {}, "the documents at hand have more of the term 'a' in the field 'text'"),
        ("x x x", {}, "the documents at hand have more in the field 'text'"),
    ],
)
def test_what_is_known_has_to_be_of_these_terms_fields_analyses_and_documents(
    tmp_path: Path, documents: str, options: dict[str, Any], problem: str
) -> None:
    path, topics = tmp_path / "s.json", TOPICS[: 2 if "d" in documents else 1]
    list(rank(TOPICS[:1], numbered([Document("d", "a b")], None, path), likelihood, analysis="standard"))
    with pytest.raises(InputError, match=problem):
        known = numbered([Document("d", documents)], path)
        list(rank(topics, known, likelihood, **{"analysis": "standard"} | options))
