import json
import re

import pytest

from conftest import ROOT, Write
from touche.errors import InputError
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Document
from touche.formats.jsonl import read_documents_jsonl, read_passages_jsonl, read_rerank_jsonl


def test_documents_of_tira(write: Write) -> None:
    path = write(
        "documents.jsonl.gz",
        '{"docno": "d1", "text": "one", "original_document": {}}\n{"docno": 2, "text": ""}\n',
    )
    assert list(read_documents_jsonl(path)) == [Document("d1", "one"), Document("2", "")]


def test_passages_of_2022(write: Write) -> None:
    path = write("passages.jsonl", '{"id": "clueweb12-x___1", "contents": "text", "chatNoirUrl": ""}')
    assert list(read_passages_jsonl(path)) == [Document("clueweb12-x___1", "text")]


def test_candidates_keep_their_topic(write: Write) -> None:
    line = {"qid": 1, "query": "q?", "docno": "d", "text": "t", "rank": 1, "score": 3.2}
    (read,) = read_rerank_jsonl(write("rerank.jsonl.gz", json.dumps(line)))
    assert (read.topic.number, read.topic.title, read.document) == ("1", "q?", Document("d", "t"))


def test_ids_are_checked_across_the_files_of_a_collection(write: Write) -> None:
    seen: set[str] = set()
    first = write("a.jsonl", '{"docno": "d", "text": ""}')
    assert len(list(read_documents_jsonl(first, seen))) == 1
    with pytest.raises(InputError, match=r"b\.jsonl:1: document 'd' occurs a second time"):
        list(read_documents_jsonl(write("b.jsonl", '{"docno": "d", "text": ""}'), seen))


def test_a_document_may_be_a_candidate_of_two_topics_but_of_one_only_once(write: Write) -> None:
    line = '{{"qid": "{}", "query": "q", "docno": "d", "text": "t"}}\n'
    assert len(list(read_rerank_jsonl(write("a.jsonl", line.format(1) + line.format(2))))) == 2
    with pytest.raises(InputError, match=r"b\.jsonl:2: document 'd' occurs a second time"):
        list(read_rerank_jsonl(write("b.jsonl", line.format(1) * 2)))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            '{"qid": "1", "query": "other", "docno": "e", "text": "t"}',
            "topic '1' has another text than before",
        ),
        (
            '{"qid": "2", "query": "q", "docno": "d", "text": "u"}',
            "document 'd' has another text than before",
        ),
    ],
)
def test_a_topic_and_a_document_have_one_text_throughout(write: Write, second: str, message: str) -> None:
    first = '{"qid": "1", "query": "q", "docno": "d", "text": "t"}\n'
    with pytest.raises(InputError, match=rf"r\.jsonl:2: {message}"):
        list(read_rerank_jsonl(write("r.jsonl", first + second)))


def test_the_texts_of_the_spot_check_are_short_enough_to_be_read() -> None:
    """One to twelve sentences; mashed keys and two-word premises count as one."""
    arguments = read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json")
    passages = read_passages_jsonl(ROOT / "corpora" / "spot-check-passages" / "passages.jsonl")
    texts = [each.premises[0] for each in arguments] + [each.text for each in passages]
    lengths = [
        len([part for part in re.split(r"[.!?][\"')]*\s+|\n+", text) if part.strip()]) for text in texts
    ]
    assert (min(lengths), max(lengths)) == (1, 12)
    assert len(set(texts)) == len(texts)
