"""Documents in JSON lines with any of the known field names, and formats to convert."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import write_files
from touche.documents.discovery import find
from touche.documents.document_records import Argument, Document
from touche.documents.pages import Page
from touche.errors import InputError

QUERIES = {"queries.jsonl": '{"qid": "1", "query": "cats"}'}


def in_folder(folder: Path, files: dict[str, str]) -> list[Any]:
    """Returns the documents in a folder that has queries and these files."""
    return [*find(write_files(folder, QUERIES | files)).documents]


def lines(*records: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("id_field", ["docno", "doc_id", "id", "_id"])
@pytest.mark.parametrize("text_field", ["text", "contents"])
@pytest.mark.parametrize("name", ["documents.jsonl", "corpus.jsonl", "passages.jsonl", "cats.jsonl"])
def test_fields_have_any_of_the_names(tmp_path: Path, name: str, id_field: str, text_field: str) -> None:
    record = {"number": "7", text_field: "cats", id_field: "a"}
    assert in_folder(tmp_path, {name: lines(record)}) == [Document("a", "cats")]


def test_the_first_name_counts_and_only_beir_has_titles(tmp_path: Path) -> None:
    records = [
        {"_id": "x", "id": "x", "doc_id": "x", "docno": "a", "title": "Cats?", "text": "Yes"},
        {"_id": "b", "title": "Cats?", "text": "Yes", "contents": "No"},
    ]
    expected = [Document("a", "Yes"), Argument("b", "Cats?", ("Yes",))]
    assert in_folder(tmp_path, {"cats.jsonl": lines(*records)}) == expected


def test_pages_and_texts_can_be_rows_of_one_frame(tmp_path: Path) -> None:
    """pandas writes a missing value as null."""
    records = [
        {
            "docno": "a",
            "text": None,
            "title": "Cats",
            "html": "<title>Dogs</title><p>Dogs bark.",
            "url": None,
        },
        {"docno": "b", "text": "cats", "title": None, "html": None, "url": None},
    ]
    page, text = in_folder(tmp_path, {"cats.jsonl": lines(*records)})
    assert isinstance(page, Page) and page.title == "Dogs" and text == Document("b", "cats")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"text": "x"}, 'no "docno" or "doc_id" or "id" or "_id"'),
        ({"doc_id": "b"}, 'no "text"'),
        ({"docno": "b", "text": None}, '"text" is not a text'),
        ({"id": "a", "contents": "x"}, "document 'a' occurs a second time"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, record: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=f"cats.jsonl:2: {problem}"):
        in_folder(tmp_path, {"cats.jsonl": lines({"docno": "a", "text": ""}, record)})


TEXT = 'He said: "1, 2,\nNA\t\\", and left'
RECORDS = [{"docno": "007", "text": TEXT}, {"docno": "8", "text": "NA"}, {"docno": "9", "text": ""}]


@pytest.mark.parametrize("name", ["my cats.csv", "CATS.TSV", "cats.csv.gz", "cats.json", "cats.parquet"])
def test_what_pandas_can_convert_is_refused_with_the_line_that_does_it(tmp_path: Path, name: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(RECORDS)
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="pandas needs pyarrow for Parquet")
        frame.to_parquet(tmp_path / name)
    elif name.endswith(".json"):
        frame.to_json(tmp_path / name, orient="records")
    else:
        frame.to_csv(tmp_path / name, sep="\t" if "TSV" in name else ",", index=False)
    with pytest.raises(
        InputError, match="documents in this format are not read; write JSON lines: "
    ) as error:
        in_folder(tmp_path, {"scores-per-query-and-topic.csv": "run,mean\nbm25,0.5\n"})
    exec(re.sub(".*write JSON lines: ", "", str(error.value)), {"pandas": pandas})
    assert in_folder(tmp_path, {}) == [Document(record["docno"], record["text"]) for record in RECORDS]


@pytest.mark.parametrize("name", ["topics-and-arguments.csv", "test-query.csv", "querylog.json"])
def test_files_of_queries_are_no_documents(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no documents in this folder; put documents\.jsonl, "):
        in_folder(tmp_path, {name: "[]" if name.endswith("json") else "qid,query\n1,cats\n"})
    assert in_folder(tmp_path, {"results-per-query.jsonl": '{"docno": "a", "text": ""}'}) == [
        Document("a", "")
    ]
