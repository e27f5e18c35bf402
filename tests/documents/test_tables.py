"""Documents in CSV, TSV and one JSON array, as users have them."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Touche, write_files
from texts import IDS, TEXTS
from touche.documents import pieces
from touche.documents.discovery import find
from touche.documents.pages import Page
from touche.documents.records import Argument, Document
from touche.errors import InputError

Records = Sequence[dict[str, str]]


def _table(records: Records, delimiter: str) -> str:
    file = io.StringIO()
    table = csv.DictWriter(file, [*records[0]], delimiter=delimiter, lineterminator="\n")
    table.writeheader()
    table.writerows(records)
    return file.getvalue()


FORMATS: dict[str, Callable[[Records], str]] = {
    "jsonl": lambda records: "".join(f"{json.dumps(record)}\n" for record in records),
    "csv": lambda records: f"\ufeff{_table(records, ',')}",
    "tsv": lambda records: f"\ufeff{_table(records, chr(9))}",
    "json": lambda records: f"\ufeff{json.dumps(records, indent=1, ensure_ascii=False)}",
}
HARD = 'He said: "1, 2,\n[3] },\t{ \\" \u2028", and left'


def in_folder(folder: Path, files: Mapping[str, str | bytes]) -> list[object]:
    """Returns the documents in a folder that has queries and these files."""
    write_files(folder, {"queries.jsonl": '{"qid": "1", "query": "cats"}', **files})
    return [*find(folder).documents]


def documents_of(folder: Path, suffix: str, records: Records) -> list[object]:
    return in_folder(folder, {f"cats.{suffix}": FORMATS[suffix](records)})


@pytest.mark.parametrize("size", [7, 1 << 20])
@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_has_the_same_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    records = [{"docno": str(number), "text": text} for number, text in enumerate(["", HARD, "cats"])]
    expected = [Document(record["docno"], record["text"]) for record in records]
    assert documents_of(tmp_path / "in", suffix, records) == expected


@pytest.mark.parametrize(
    ("suffix", "id_field"),
    [("jsonl", "_id"), *product(["csv", "tsv", "json"], ["docno", "doc_id", "id", "_id"])],
)
def test_titles_are_conclusions_whatever_the_id_is_called(tmp_path: Path, suffix: str, id_field: str) -> None:
    records = [{id_field: "a", "title": "Cats?", "text": "Yes"}, {id_field: "b", "title": "", "text": "No"}]
    expected = [Argument("a", "Cats?", ("Yes",)), Document("b", "No")]
    assert documents_of(tmp_path / "in", suffix, records) == expected


def test_web_pages_in_a_table_keep_their_fields(tmp_path: Path) -> None:
    records = [
        {
            "docno": "a",
            "url": "",
            "title": "Cats",
            "html": "<title>Dogs</title><p>Dogs bark.",
            "text": "Birds",
        }
    ]
    (page,) = documents_of(tmp_path / "in", "csv", records)
    assert isinstance(page, Page) and page.title == "Dogs"


def test_a_null_is_an_empty_cell(tmp_path: Path) -> None:
    """pandas writes a missing text as null in JSON, and as an empty cell in CSV."""
    records = [
        {"docno": "a", "text": None},
        {"docno": "b", "text": None, "contents": "cats"},
        {"docno": "c", "html": None, "text": "cats"},
        {"docno": None, "id": "d", "text": "cats"},
    ]
    expected = [Document("a", ""), *(Document(id, "cats") for id in "bcd")]
    assert documents_of(tmp_path / "in", "json", records) == expected
    assert documents_of(tmp_path / "table", "csv", [{"docno": "c", "html": "", "text": "cats"}]) == [
        Document("c", "cats")
    ]


@pytest.mark.parametrize(
    ("rows", "is_swallowed"),
    [
        ('d1\t"Legal\nd2\tschool uniforms"\n', True),
        ('d1\t"Legal\nd2 school uniforms"\n', False),
        ('d1\t"Legal\nand cheap\tschool uniforms"\n', False),
    ],
)
def test_swallowed_rows_of_tsv_are_reported(
    tmp_path: Path, touche: Touche, rows: str, is_swallowed: bool
) -> None:
    queries = '{"qid": "1", "query": "cats uniforms"}'
    write_files(tmp_path, {"queries.jsonl": queries, "a.tsv": f"docno\ttext\n{rows}d3\tcats\n"})
    code, _, err = touche("run", "bm25", "-i", tmp_path, "-o", tmp_path / "out")
    assert code == 0 and ("a.tsv:3: a quoted cell contains lines that look like rows" in err) == is_swallowed
    assert "d2" not in (tmp_path / "out" / "run.txt").read_text()


@pytest.mark.parametrize("name", ["arguments-by-topic.csv", "results-per-query.csv", "DOCS.CSV"])
def test_names_of_tables(tmp_path: Path, name: str) -> None:
    assert in_folder(tmp_path, {name: "docno,text\nd1,cats\n"}) == [Document("d1", "cats")]


@pytest.mark.parametrize(
    "name", ["topics-and-arguments.csv", "test-query.csv", "querylog.csv", "TopicsA.CSV"]
)
def test_a_file_with_a_name_of_queries_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"no documents in this folder; .*, or rename {name}, which"):
        in_folder(tmp_path, {name: "docno,text\nd1,cats\n"})
    with pytest.raises(InputError, match=r"^((?!rename).)*$"):  # another name makes it no file of documents
        in_folder(tmp_path, {name: "qid,query\n1,cats\n"})


@pytest.mark.parametrize("id_field", ["docno", "doc_id", "id", "_id"])
@pytest.mark.parametrize("text_field", ["text", "contents"])
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_fields_have_the_names_of_any_format(
    tmp_path: Path, suffix: str, id_field: str, text_field: str
) -> None:
    records = [{"number": "7", text_field: "cats", id_field: "a"}]
    assert documents_of(tmp_path / "in", suffix, records) == [Document("a", "cats")]


BROKEN = {
    'docno,text\na,"one\ntwo"\nb,1,2\n': r":4: 3 fields, but the header has 2; put a cell with quotes",
    "docno,text\na\n": r":2: 1 fields, but the header has 2",
    'docno,text\na,"one\ntwo"\n\na,3\n': r":5: document 'a' occurs a second time",
    "docno,text\n,one\n": r":2: document '' is empty",
    'docno,text\na,"one\n': r":2: broken CSV \(unexpected end of data\)",
    'docno,text\na,"one" two\n': r":2: broken CSV",
    "a,one\nb,two\n": r":1: the header names no id or no text; name a column docno",
    "docno,text,docno\na,one,b\n": r":1: two columns have the same name",
    "docno,text\na,caf\udce9\n": r":2: not UTF-8 \(byte 0xe9\); save the file in UTF-8",
    '[{"docno": "a", "text": ""},\n{"docno": "a", "text": ""}]': r":2: document 'a' occurs a second time",
    '[{"docno": "a", "text": ""},\n{"text": ""}]': r":2: no id \(docno, doc_id, id, _id\)",
    '[{"docno": "a"}]': r':1: no "text"',
    '[{"_id": "a", "title": "T"}]': r':1: no "text"',
    "docno;text\na;one\n": r":1: cells are separated by semicolons; separate them by commas",
    '[{"docno": "a", "text": ["b"]}]': r':1: "text" is not a text',
    "[\n7]": r":2: not a JSON object",
    '[\n{"docno": "a", "text": ""},\n': r":2: broken JSON \(the array has no end\)",
    '[\n{"docno": "a", "te': r":2: broken JSON",
    '[{"docno": "a", "text": ""}]\n, 7': r":2: broken JSON",
    '[{"docno": "a", "text": ""}}': r":1: broken JSON",
    '\n[\n{"docno": "a",\n"text": "caf\udce9"}]': r":4: not UTF-8",
    "[" * 2000: r":1: broken JSON \(nested deeper than 100 levels\)",
    "[]": r": no documents in this file",
}


@pytest.mark.parametrize("content", BROKEN)
def test_an_error_names_file_and_line(tmp_path: Path, content: str) -> None:
    name = "cats.json" if "[" in content else "cats.csv"
    with pytest.raises(InputError, match=f"/{name}{BROKEN[content]}"):
        in_folder(tmp_path, {name: content.encode(errors="surrogateescape")})


@pytest.mark.parametrize(
    "name, content", [("a.tsv", "id\ttext\nd\tcats\n"), ("a.json", '[{"id": "d", "text": ""}]')]
)
def test_other_files_are_no_documents(tmp_path: Path, name: str, content: str) -> None:
    others = {f"queries-{name}": content, "scores.csv": "run,mean\nbm25,0.5\n"}
    (document,) = in_folder(tmp_path, {name: content, **others})
    assert isinstance(document, Document) and document.id == "d"


@given(texts=st.dictionaries(IDS, TEXTS.filter(lambda text: "\r" not in text), min_size=1))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]
) -> None:
    records = [{"docno": id, "text": text} for id, text in texts.items()]
    folder = tmp_path_factory.mktemp("fuzz")
    for suffix in FORMATS:
        expected = [Document(id, text) for id, text in texts.items()]
        assert documents_of(folder / suffix, suffix, records) == expected
