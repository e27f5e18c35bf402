from pathlib import Path
from typing import Any

import pytest

from touche.collection.documents import Documents
from touche.errors import InputError
from touche.formats.documents import Document
from touche.formats.statistics import StatisticsFiles
from touche.formats.topics import Topic
from touche.scan import dph, rank


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
