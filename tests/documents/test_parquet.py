import shutil
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Touche, Write
from texts import BYTES, damaged, is_read_or_refused
from touche.baselines.loader import load
from touche.baselines.method import Ranking
from touche.data.datasets import open_dataset
from touche.data.places import locate
from touche.documents.discovery import find
from touche.documents.pages import Page, RawPage
from touche.documents.parquet import read_documents_parquet, saving_pages
from touche.documents.records import Document
from touche.errors import InputError, ToucheError
from touche.io import writing

pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'touche-baselines[parquet]'")
parquet = pytest.importorskip("pyarrow.parquet")


def written(path: Path, **columns: list[Any]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_rows_are_documents_by_their_columns(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.parquet",
        docno=[7, 8, 9],
        text=["one", None, None],
        html=[None, "<p>two", None],
        url=[None, "http://b/", None],
        title=[None, None, "three"],
        score=[1.0, 2.0, 3.0],  # a column of others
    )
    page = RawPage(id="8", url="http://b/", content=b"<p>two", charset="utf-8")
    assert list(read_documents_parquet(path, set())) == [Document("7", "one"), page, Page("9", title="three")]


WRONG = {"double": 7.0, "date32": date(2020, 1, 1), "list": ["t"], "bool": True, "binary": b"t"}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("column", ["docno", "text", "title", "html"])
def test_a_column_that_is_read_holds_texts(tmp_path: Path, kind: str, column: str) -> None:
    columns = {"docno": ["a"], "text": ["t"]} | {column: [WRONG[kind]]}
    with pytest.raises(InputError, match=rf"the column {column} contains {kind}.*; write it as strings"):
        list(read_documents_parquet(written(tmp_path / "n", **columns), set()))


def test_what_unpacks_to_the_same_over_and_over_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    parquet.write_table(pyarrow.table({"docno": ["a"], "text": ["a" * (1 << 25)]}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="decompresses to an implausible size"):
        list(read_documents_parquet(path, set()))


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"docno": ["a", "b", "a"], "text": ["", "", ""]}, "3: document 'a' occurs a second time"),
        ({"docno": ["a", "b"], "text": ["", None]}, '2: no "text"'),
        ({"text": ["x"]}, '1: no "docno"'),
    ],
)
def test_errors_name_the_row(tmp_path: Path, columns: dict[str, list[str | None]], problem: str) -> None:
    with pytest.raises(InputError, match=f"t:{problem}"):
        list(read_documents_parquet(written(tmp_path / "t", **columns), set()))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("parquet")
    return written(folder / "w", docno=["a", "b"], text=["one", "two"]).read_bytes()


@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, data: st.DataObject
) -> None:
    raw = data.draw(BYTES | damaged(whole))
    path = tmp_path_factory.mktemp("fuzz") / "file"
    assert is_read_or_refused(lambda path: read_documents_parquet(path, set()), path, raw)


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


@given(
    fields=st.lists(
        st.fixed_dictionaries({"title": TEXTS, "body": TEXTS, "host": TEXTS, "rules": TEXTS}), min_size=1
    )
)
def test_kept_pages_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, fields: list[dict[str, str | None]]
) -> None:
    pages = [Page(f"p{number}", **{"full_body": "f"} | values) for number, values in enumerate(fields)]
    path = tmp_path_factory.mktemp("kept") / "k.parquet"
    assert list(saving_pages([Document("d", "t"), *pages], writing.whole(path))) == [
        Document("d", "t"),
        *pages,
    ]
    back = list(read_documents_parquet(path, set()))
    assert back == pages
    assert [page.rules for page in back if isinstance(page, Page)] == [page.rules for page in pages]


def test_pages_are_kept_once_all_were_taken_and_not_before(tmp_path: Path) -> None:
    taken = saving_pages([Page("a", title="t"), Page("b", title="t")], writing.whole(tmp_path / "k.parquet"))
    next(taken)
    taken.close()  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


def test_kept_pages_are_ranked_as_the_pages_are_and_not_by_other_rules(tmp_path: Path) -> None:
    folder = tmp_path / "fields"
    folder.mkdir()
    shutil.copy(locate("topics", "spot-check-pages.xml"), folder / "topics.xml")
    shutil.copy(locate("corpora", "spot-check-pages") / "spam-ranks.txt", folder)
    ranker = load("chatnoir-bm25f")
    pages = open_dataset("spot-check/pages")
    keeping = pages.documents.keeping_fields(str(folder))
    expected = ranked(ranker(pages.topics, keeping))
    fields = find(folder)
    assert ranked(ranker(fields.topics, fields.documents)) == expected
    with pytest.raises(ToucheError, match=r"another parser .* \(parse_as_in_2020, not parse\)"):
        ranked(ranker(fields.topics, fields.documents, year="today"))


def ranked(rankings: Iterable[Ranking]) -> list[tuple[str, list[Any]]]:
    return [(topic.number, list(hits)) for topic, hits in rankings]


def test_only_what_may_hold_web_pages_keeps_them(touche: Touche, tmp_path: Path) -> None:
    for dataset in ("arguments", "passages", "pairs"):
        out = ("-o", tmp_path / "out", "--keep-fields", tmp_path / "fields")
        code, _, error = touche("run", "bm25", "-i", f"spot-check/{dataset}", *out)
        assert (code, "saves only web pages" in error) == (2, True)
    assert not (tmp_path / "fields").exists()


def test_the_number_of_rows_is_known(tmp_path: Path, write: Write) -> None:
    write("in/queries.jsonl", '{"qid": "1", "query": "cats"}')
    for part in "ab":
        written(tmp_path / "in" / f"{part}.parquet", docno=[f"{part}1", f"{part}2"], text=["one", "two"])
    documents = find(tmp_path / "in").documents
    assert len(documents) == len([*documents]) == 4
    write("in/b.parquet", "no table")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        len(documents)
