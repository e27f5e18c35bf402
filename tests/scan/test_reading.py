"""Collections that are read by several processes, beside the same that are read by one."""

import os
import re
import signal
from multiprocessing import parent_process
from operator import add
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import orjson
import pytest

from conftest import Write
from random_examples import given, st
from touche import scan
from touche.documents import pieces
from touche.documents.discovery import find_documents
from touche.documents.document_records import AnyDocument, Document
from touche.documents.files import Files
from touche.documents.pages import Page
from touche.errors import InputError
from touche.io.processes import CannotStartError, Pool
from touche.scan import reading
from touche.scan.counting import ONE_FIELD, Counting, Part, Vocabulary, join_parts, whole_text
from touche.trec.topics import Topic

TOPICS = [Topic("1", "cats and dogs"), Topic("2", "a cat", candidates=frozenset({"d3", "d9"}))]
TEXTS = ["cats and dogs", "a cat", "", "cats cats", "dogs, café", "a a a", "mice"]
LINES = [{"docno": f"d{n}", "text": TEXTS[n % len(TEXTS)] * (n % 5)} for n in range(40)]


def model(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
    scores: scan.Array = tf / (tf + length / term.mean_length) / term.df
    return scores


def length_of(document: AnyDocument) -> str:
    return "cat " * len(document.text)


def dies(document: AnyDocument) -> str:
    """In any process but the first."""
    if parent_process():
        os.kill(os.getpid(), signal.SIGKILL)
    return document.text


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, and two processes, however many processors there are."""
    monkeypatch.setattr(pieces, "SIZE", 100)
    monkeypatch.setattr(reading, "processors", lambda: 2)
    monkeypatch.setattr(reading, "_MIN_PIECES", 4)


@pytest.fixture
def collection(write: Write, tmp_path: Path) -> Files:
    return written(write, tmp_path, LINES)


def written(write: Write, folder: Path, lines: list[Any]) -> Files:
    write("documents.jsonl", b"\n".join(map(orjson.dumps, lines)).decode())
    return find_documents(folder)


def ranked(documents: Any, **options: Any) -> list[Any]:
    return list(scan.rank(TOPICS, documents, model, analysis="english", **options))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("fields", [{}, {"fields": {"one": length_of, "other": whole_text}}])
def test_several_processes_find_what_one_does(collection: Files, fields: Any) -> None:
    assert len(list(collection.pieces() or ())) > 10
    alone = ranked(list(collection), **fields)
    assert ranked(collection, **fields) == alone
    assert all(hits for _, hits in alone)


@pytest.mark.usefixtures("many")
def test_they_find_the_same_in_a_compressed_file(collection: Files, tmp_path: Path, write: Write) -> None:
    alone = ranked(list(collection))
    content = collection.paths[0].read_text()
    collection.paths[0].unlink()
    write("documents.jsonl.gz", content)
    packed = find_documents(tmp_path)
    assert len(list(packed.pieces() or ())) > 10
    assert ranked(packed) == alone


@pytest.mark.usefixtures("many")
def test_they_read_the_file_once_and_not_this_process(
    collection: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Files, "__iter__", lambda self: pytest.fail("it was read again"))
    assert [document.id for document in scan.picked(collection, {"d3", "d9", "d0", "x"})] == [
        "d0",
        "d3",
        "d9",
    ]
    parts = scan.Collection.of([Topic("1", "a")], collection, "standard").parts
    assert parts.combined(lambda part: part.documents, add) == 40


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("number", "line", "error"),
    [
        (3, {"docno": "d3"}, r'documents\.jsonl:4: no "text"'),
        (30, {"docno": "d30"}, r'documents\.jsonl:31: no "text"'),
        (30, {"docno": "d2", "text": "again"}, r"documents\.jsonl:31: document 'd2' occurs a second time"),
        (30, {"docno": "d29", "text": "again"}, r"documents\.jsonl:31: document 'd29' occurs a second time"),
    ],
)
def test_what_is_wrong_is_said_as_by_one_process(
    write: Write, tmp_path: Path, number: int, line: Any, error: str
) -> None:
    collection = written(write, tmp_path, [*LINES[:number], line, *LINES[number:35]])
    for documents in (collection, iter(collection)):
        with pytest.raises(InputError, match=error):
            ranked(documents)
    with pytest.raises(InputError, match=r"documents\.jsonl:41: "):  # of one that is not wanted
        scan.picked(written(write, tmp_path, [*LINES, {}]), {"d0"})


@pytest.mark.usefixtures("many")
def test_a_line_without_an_end_is_refused_where_one_process_refuses_it(
    collection: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "LONGEST_LINE", 60)
    with pytest.raises(InputError) as alone:
        list(collection)
    with pytest.raises(InputError, match=f"^{re.escape(str(alone.value))}$"):
        ranked(collection)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("text_of", "reason"),
    [(lambda document: document.text, ""), (dies, "a process died"), (whole_text, "no memory")],
    ids=["lambda", "dies", "no memory"],
)
def test_what_other_processes_cannot_do_this_one_does(
    collection: Files,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    text_of: Any,
    reason: str,
) -> None:
    if reason == "no memory":
        monkeypatch.setattr(Pool, "check", Mock(side_effect=CannotStartError("no memory")))
    assert ranked(collection, fields={"text": text_of}) == ranked(list(collection))
    warning = f"only one process reads the collection, which takes longer: {reason}"
    assert [record.getMessage() for record in caplog.records] == ([warning] if reason else [])


@pytest.mark.usefixtures("many")
def test_a_collection_of_blank_lines_is_empty_for_any_number_of_processes(
    write: Write, tmp_path: Path
) -> None:
    write("documents.jsonl", "\n" * 5000)
    with pytest.raises(InputError, match="no documents in this"):
        ranked(find_documents(tmp_path))


@pytest.mark.usefixtures("many")
def test_pages_that_are_still_to_be_parsed_are_parsed(write: Write, tmp_path: Path) -> None:
    page = {"docno": "page", "html": "<html><body><p>Cats and dogs, dogs and cats.</p></body></html>"}
    collection = written(write, tmp_path, [*LINES, page])
    (_, hits), _ = ranked(collection)
    assert "page" in [id for id, _ in hits]
    (parsed,) = scan.picked(collection, {"page"})
    assert isinstance(parsed, Page)


@given(st.lists(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5), min_size=1, max_size=5))
def test_joined_parts_are_what_is_counted_at_once(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary.from_terms(["cat", "dog"], "english")

    def part(part_texts: list[str], first: int) -> Part:
        documents = [Document(f"d{n}", text) for n, text in enumerate(part_texts, first)]
        return Counting(vocabulary, ONE_FIELD, with_positions=True)(documents)

    begins = [sum(map(len, texts[:n])) for n in range(len(texts))]
    whole = join_parts([part(part_texts, begin) for part_texts, begin in zip(texts, begins, strict=True)])
    expected = part([text for part_texts in texts for text in part_texts], 0)
    assert (whole.documents, whole.ids) == (expected.documents, expected.ids)
    for ours, theirs in zip(
        [*whole.statistics, *whole.fields], [*expected.statistics, *expected.fields], strict=True
    ):
        for name, value in vars(ours).items():
            assert np.array_equal(value, getattr(theirs, name)), name


def test_large_parts_are_scored_one_after_the_other(
    collection: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = ranked(list(collection), depth=7)
    monkeypatch.setattr(reading, "_MERGED_DOCUMENTS", 3)
    monkeypatch.setattr(reading, "_BATCH_DOCUMENTS", 2)
    assert ranked(list(collection), depth=7) == together
