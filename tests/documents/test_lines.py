"""Formats with a record on each line: contents, and the line numbers of errors."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Write
from reading import read_documents_jsonl
from touche.documents.clueweb22 import read_clueweb22_json
from touche.documents.jsonl import read_rerank_jsonl
from touche.documents.side_files import read_scores
from touche.errors import InputError
from touche.trec.qrels import read_qrels
from touche.trec.runs import read_run
from touche.trec.scores_files import read_scores as read_scores_of_run
from touche.trec.topics import Topic, read_topics

WANTED = {"clueweb12-a", "clueweb12-b", "7"}
PAGE = {"URL": "http://a/", "Language": "en", "ClueWeb22-ID": "p", "Clean-Text": "text"}
FORMATS: dict[str, tuple[Callable[[Path], Iterable[Any]], str]] = {  # readers, and a good line
    "a.run": (read_run, "1 Q0 c 1 0.7 t"),
    "scores.tsv": (read_scores_of_run, "1 a 0.5"),
    "a.qrels": (read_qrels, "1 0 a 1"),
    "spam-ranks.txt": (partial(read_scores, wanted=WANTED), "73 clueweb12-b"),
    "queries.jsonl": (read_topics, '{"qid": "1", "query": "q"}'),
    "rerank.jsonl": (read_rerank_jsonl, '{"qid": "1", "query": "q", "docno": "d", "text": "t"}'),
    "documents.jsonl": (read_documents_jsonl, '{"docno": "d", "text": "t"}'),
    "passages.jsonl": (read_documents_jsonl, '{"id": "d", "contents": "t"}'),
    "en0000-00.json": (lambda path: read_clueweb22_json(path, set()), json.dumps(PAGE)),
}
DEEP = "[" * 900 + "]" * 900
BROKEN = [
    ("a.run", "1 Q0 d 2 0.5", "5 columns instead of 6"),
    ("a.run", "1 Q0 d two 0.5 t", "rank 'two' is not a whole number"),
    ("a.run", f"1 Q0 d {'9' * 5000} 0.5 t", "rank '9{59} ... is not a whole number; "),
    ("a.run", "1 Q0 d -1 0.5 t", "rank '-1' is below 0; "),
    ("a.run", "1 Q0 d 1.5 0.5 t", "rank '1.5' is not a whole number; "),
    ("a.run", '"1" "Q0" "d" "2" "0.5" "t"', r"columns in quotes; .*QUOTE_NONE"),
    ("a.run", '"1" "Q0" "d" 2 0.5 "t"', "columns in quotes"),
    ("a.run", '1 Q0 "d" 2 0.5 t', "columns in quotes"),
    ("a.run", "'1' Q0 d 2 0.5 t", "columns in quotes"),
    ("a.qrels", '"1" 0 "b" 1', r"columns in quotes; .*QUOTE_NONE"),
    ("a.qrels", '1 0 "b" 1', "columns in quotes"),
    (
        "documents.jsonl",
        '{"docno": "e", "text": ""}\r{"docno": "f", "text": ""}',
        r"broken JSON \(a carriage return",
    ),
    (
        "queries.jsonl",
        '{"qid": "2", "query": "q"}\r{"qid": "3", "query": "q"}',
        r"broken JSON \(a carriage return",
    ),
    ("a.run", "1 Q0 d 2 high t", "score 'high' is not a finite number"),
    ("a.run", "1 Q0 c 2 0.6 t", "document 'c' occurs a second time for topic 1"),
    ("scores.tsv", "1 b", "2 columns instead of 3; write: topic document score"),
    ("scores.tsv", "1 b nan", "score 'nan' is not a finite number; write decimal numbers"),
    ("a.qrels", "1 0 b", "3 columns instead of 4"),
    ("a.qrels", "1 0 b 1 2", "5 columns instead of 4"),
    ("a.qrels", "1 0 b 1001", "grade '1001' is not a whole number up to 1,000;"),
    ("a.qrels", "1 0 b 4.5", "grade '4.5' is not a whole number"),
    ("a.qrels", "1 0 b \uff12", "grade '\uff12' is not a whole number"),
    ("a.qrels", f"1 0 b {'1' * 5000}", "grade '1{59} ... is not a whole number"),
    ("a.qrels", "1 0 a 2", "document 'a' of topic 1 has two grades"),
    ("spam-ranks.txt", "clueweb12-a,73", "'clueweb12-a,73' is not a number and an id; "),
    ("spam-ranks.txt", "clueweb12-x sixty", "'clueweb12-x sixty' is not a number and an id"),
    ("spam-ranks.txt", "73 clueweb12-a 5", "'73 clueweb12-a 5' is not a number and an id"),
    ("spam-ranks.txt", "74 clueweb12-b", "page 'clueweb12-b' occurs a second time"),
    ("queries.jsonl", '{"query": "q"}', 'no "qid"'),
    ("queries.jsonl", '{"qid": "2"}', 'no "query"'),
    ("queries.jsonl", '{"qid": "2", "query": ["q"]}', '"query" is not a text'),
    ("queries.jsonl", '{"qid": true, "query": "q"}', '"qid" is not a text'),
    ("queries.jsonl", '{"qid": 1.5, "query": "q"}', '"qid" is not a text'),
    ("queries.jsonl", '{"qid": 2, "query": "q", "original_query": {"objects": 5}}', '"objects" is neither'),
    (
        "queries.jsonl",
        '{"qid": 2, "query": "q", "original_query": {"objects": ["a", 5]}}',
        '"objects" is nei',
    ),
    (
        "queries.jsonl",
        f'{{"qid": 2, "query": "q", "original_query": {{"narrative": {DEEP}}}}}',
        '"narrative" is',
    ),
    ("queries.jsonl", '{"qid": "1", "query": "q"}', "topic '1' occurs a second time"),
    (
        "rerank.jsonl",
        '{"qid": 1, "query": "q", "docno": "d", "text": "t"}',
        "document 'd' occurs a second time",
    ),
    ("rerank.jsonl", '{"qid": 1, "query": "r", "docno": "e", "text": "t"}', "topic '1' has another text"),
    ("rerank.jsonl", '{"qid": 2, "query": "q", "docno": "d", "text": "u"}', "document 'd' has another text"),
    ("documents.jsonl", '{"docno": "d", "text": ""}', "document 'd' occurs a second time"),
    ("passages.jsonl", '{"id": "d", "contents": ""}', "document 'd' occurs a second time"),
    ("en0000-00.json", json.dumps(PAGE), "document 'p' occurs a second time"),
    ("en0000-00.json", '{"ClueWeb22-ID": "a", "url": "b", "anchors": []}', 'no "Clean-Text"'),
    ("en0000-00.json", json.dumps(PAGE | {"ClueWeb22-ID": "q", "URL": None}), '"URL" is not a text'),
    (
        "en0000-00.json",
        json.dumps(PAGE | {"ClueWeb22-ID": "a b"}),
        "document 'a b' is empty, too long, or has",
    ),
]


@pytest.mark.parametrize("name", FORMATS)
def test_a_byte_order_mark_alone_is_an_empty_file(write: Write, name: str) -> None:
    try:
        assert not [*FORMATS[name][0](write(name, b"\xef\xbb\xbf"))]
    except InputError as error:
        assert str(error).count("\n") == 0


@pytest.mark.parametrize(("name", "line", "message"), BROKEN)
def test_a_broken_line_is_named(write: Write, name: str, line: str, message: str) -> None:
    read, good = FORMATS[name]
    with pytest.raises(InputError, match=rf"{name}:2: {message}"):
        list(read(write(name, f"{good}\n{line}\n")))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.run", "the run is empty; check what wrote it"),
        ("scores.tsv", "the run is empty; write: topic document score"),
        ("a.qrels", "no judgments"),
        ("queries.jsonl", "no topics in this file; put one {"),
    ],
)
def test_a_file_without_a_record_is_an_error(write: Write, name: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: {message}"):
        FORMATS[name][0](write(name, "\n"))


def test_labels_are_whole_numbers_of_the_card_and_topics_may_be_left_out(write: Write) -> None:
    path = write("a.qrels", "1 0 a +4.0\n1\t0\tb\t-2.0\n25 0 a 0\n")
    assert read_qrels(path, labels={-2, 0, 4}) == {"1": {"a": 4, "b": -2}, "25": {"a": 0}}
    assert read_qrels(path, excluded_topics=["25"], labels={-2, 4}) == {"1": {"a": 4, "b": -2}}
    with pytest.raises(InputError, match=r"a\.qrels:2: grade -2.0 is unknown .* 0, 4"):
        read_qrels(path, labels={0, 4})


@pytest.mark.parametrize("name", ["spam-ranks.txt", "spam-ranks.txt.gz"])
@pytest.mark.parametrize(
    "text",
    [
        "73 clueweb12-a\n0 clueweb12-x\n1.5e-09 clueweb12-b\n",
        "clueweb12-b\t1.5e-09\n\nclueweb12-x 0\nclueweb12-a  73\n",
        "0 clueweb12-x\n5 clueweb12-x\n73 clueweb12-a\r\nclueweb12-b 1.5e-09",
    ],
)
def test_scores_of_pages_are_numbers_and_ids_in_either_order(write: Write, text: str, name: str) -> None:
    assert read_scores(write(name, text), WANTED) == {"clueweb12-a": 73.0, "clueweb12-b": 1.5e-09}
    assert read_scores(write("number", "73 7\n"), WANTED) == {"7": 73.0}, "of two numbers the id comes second"


def test_queries_take_the_details_of_the_original_query(write: Write) -> None:
    original = {"query_id": "3", "title": "t", "description": "d", "narrative": "n", "objects": ["a", "b"]}
    lines = [{"qid": "3", "query": "t", "original_query": original}, {"qid": 4, "query": "no details"}]
    path = write("queries.jsonl.gz", "\n".join(map(json.dumps, lines)))
    assert [*read_topics(path)] == [
        Topic(number="3", title="t", objects=("a", "b"), description="d", narrative="n"),
        Topic("4", "no details"),
    ]


@pytest.mark.parametrize("repeats", [2, 20_000])
@pytest.mark.parametrize(
    ("name", "line"), [("a.run", "1 Q0 d{} 1 0.7 t"), ("a.qrels", "1 0 d{} 1"), ("queries.tsv", "{}\tquery")]
)
def test_carriage_returns_as_line_ends_are_named_in_files_of_any_size(
    write: Write, name: str, line: str, repeats: int
) -> None:
    read = read_topics if name == "queries.tsv" else FORMATS[name][0]
    path = write(name, "\r".join(map(line.format, range(repeats))) + "\r")
    with pytest.raises(InputError, match=rf"{name}:1: a carriage return within the line; end lines with"):
        list(read(path))


def test_an_id_may_contain_quotes(write: Write) -> None:
    run = read_run(write("a.run", "1 Q0 a\"b' 1 0.7 t\n1 Q0 \" 2 0.5 't'\n"))
    assert [(line.document, line.tag) for line in run] == [("a\"b'", "t"), ('"', "'t'")]
