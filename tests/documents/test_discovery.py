import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from archives import record
from conftest import ROOT, Touche, Write, write_files
from touche.data.datasets import open_dataset
from touche.documents import discovery
from touche.documents.collection import Documents
from touche.documents.discovery import files_named, find, find_documents
from touche.documents.document_records import Argument, Document
from touche.documents.files import FileFormat
from touche.documents.pages import Page
from touche.documents.side_files import SPAM_RANKS
from touche.errors import InputError
from touche.trec.topics import TOPIC_FILES, Topic

TOPICS = "<topics><topic><number>1</number><title>One?</title></topic></topics>"
QUERIES = '{"qid": "2", "query": "Two?"}\n'
DOCUMENTS = '{"docno": "d", "text": "tira"}\n'
PASSAGES = '{"id": "p", "contents": "passage", "chatNoirUrl": ""}\n'
ARGUMENTS = '{"arguments": [{"id": "a", "conclusion": "c", "premises": []}]}'
PROCESSED = "id,conclusion,premises,context,sentences\nb,c,[],{},[]\n"


def ids(documents: Iterable[Any]) -> list[str]:
    return [document.id for document in documents]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "content", "expected", "noun"),
    [
        ("documents.jsonl", DOCUMENTS, "d", "documents"),
        ("passages.jsonl", PASSAGES, "p", "passages"),
        ("passages-version-002.jsonl", PASSAGES, "p", "passages"),
        ("args-me.json", ARGUMENTS, "a", "arguments"),
        ("args_processed.csv", PROCESSED, "b", "arguments in sentences"),
        ("args_processed_04_01.csv", PROCESSED, "b", "arguments in sentences"),
    ],
)
def test_topics_and_documents_are_found(
    tmp_path: Path, name: str, content: str, expected: str, noun: str, suffix: str
) -> None:
    write_files(tmp_path, {f"topics.xml{suffix}": TOPICS, f"{name}{suffix}": content, "metadata.json": "{}"})
    source = find(tmp_path)
    assert source.topics == (Topic("1", "One?"),)
    assert ids(source.documents) == ids(source.documents) == [expected]
    assert source.description == f"1 topic from topics.xml{suffix}, {noun} from {name}{suffix}"


def test_the_files_of_args_me_are_one_collection(write: Write, tmp_path: Path) -> None:
    write_files(tmp_path, {"debateorg.json": ARGUMENTS, "idebate.json.gz": ARGUMENTS.replace('"a"', '"b"')})
    assert ids(find_documents(tmp_path)) == ["a", "b"]
    write("debatewise.json", ARGUMENTS)
    with pytest.raises(InputError, match=r"debatewise\.json:1: argument 'a' occurs a second time"):
        ids(find_documents(tmp_path))


def test_ids_of_archives_are_not_held_beyond_the_archive(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    write("topics.xml", TOPICS)
    for name in ("one", "other"):
        write(f"deep/{name}.warc", record("a", b"<p>One") + record(name, b"<p>Two") + record(name))
    assert ids(find_documents(tmp_path)) == ["a", "one", "a", "other"]
    _, _, said = touche("run", "bm25", "-i", tmp_path, "-o", tmp_path / "out")
    assert "document 'a' is ranked twice for one topic" in said


def test_reranking_input_gives_each_topic_its_candidates_and_each_document_once(
    write: Write, tmp_path: Path
) -> None:
    rows = [("1", "a"), ("1", "b"), ("2", "b"), ("2", "c")]
    lines = [json.dumps({"qid": q, "query": f"q{q}", "docno": d, "text": d * 3}) for q, d in rows]
    write_files(tmp_path, {"rerank.jsonl.gz": "\n".join(lines), "documents.jsonl": DOCUMENTS})
    spam_ranks = write("spam-ranks.txt.gz", "10 a\n")
    source = find(tmp_path)
    assert source.documents.side_file(SPAM_RANKS) == spam_ranks
    assert source.files == (tmp_path / "rerank.jsonl.gz", spam_ranks)
    assert [(topic.number, topic.title, topic.candidates) for topic in source.topics] == [
        ("1", "q1", frozenset("ab")),
        ("2", "q2", frozenset("bc")),
    ]
    assert list(source.documents) == [Document(letter, letter * 3) for letter in "abc"]
    assert source.description == "2 topics and their 4 candidates from rerank.jsonl.gz"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "in: no topics in this"),
        ({"topics.xml": TOPICS}, "in: no documents in this"),
        ({"documents.jsonl": DOCUMENTS}, "in: no topics in this"),
        ({"queries.jsonl": "\n"}, r"queries\.jsonl: no topics in this"),
        ({"rerank.jsonl": ""}, r"rerank\.jsonl: no candidates in this"),
        ({"topics.xml": TOPICS, "documents.jsonl": ""}, r"documents\.jsonl: no documents in this"),
        ({"topics.xml": TOPICS, "args-me.json": '{"other": []}'}, r"args-me\.json: no documents in this"),
        ({"topics.xml": TOPICS, "a.json": '{"other": []}'}, r"in: no documents in this"),
        (None, r"in: cannot be read \(No such file or directory\)"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, files: dict[str, str] | None, message: str) -> None:
    if files is not None:
        (tmp_path / "in").mkdir()
    write_files(tmp_path / "in", files or {})
    with pytest.raises(InputError, match=message):
        ids(find(tmp_path / "in").documents)


@pytest.mark.parametrize(
    "record",
    [
        {"docno": "%", "text": "Cats"},
        {"_id": "%", "title": "", "text": "Cats"},
        {"id": "%", "contents": "Cats", "chatNoirUrl": ""},
    ],
)
def test_documents_in_any_jsonl_are_found_by_their_fields(tmp_path: Path, record: dict[str, str]) -> None:
    folder = write_files(
        tmp_path,
        {
            "part0.jsonl": json.dumps(record).replace("%", "d0"),
            "part1.jsonl.gz": json.dumps(record).replace("%", "d1"),
            "queries.jsonl": '{"qid": "1", "query": "Cats"}\n',
            "more-queries.jsonl": '{"qid": "2", "query": "Cats"}\n',
        },
    )
    source = find(folder)
    assert ids(source.documents) == ["d0", "d1"] and [topic.number for topic in source.topics] == ["1"]
    write_files(folder, {"topics.xml": TOPICS})
    assert ids(find(folder).documents) == ["d0", "d1"]  # queries.jsonl are no documents
    with pytest.raises(InputError, match="no documents in this folder"):
        files_named([folder / "part0.jsonl", folder / "queries.jsonl"], "in")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("part1.jsonl", b"{", r"part1\.jsonl:1: broken JSON"),
        ("part1.jsonl", b'{"docno": "d1", "text": "caf\xe9"}', r"part1\.jsonl:1: .*UTF-8"),
        (
            "part1.jsonl.gz",
            gzip.compress(b'{"docno": "d1"}')[:20],
            r"part1\.jsonl\.gz: the gzip stream is broken",
        ),
        ("part1.jsonl.gz", b"not packed", r"part1\.jsonl\.gz:1: broken JSON"),
        ("args-me.json.gz", gzip.compress(b'{"arguments": []}')[:20], r"args-me\.json\.gz: the gzip stream"),
    ],
)
@pytest.mark.parametrize("has_others", [True, False])
def test_an_unreadable_file_is_not_left_out_of_a_collection(
    tmp_path: Path, name: str, content: bytes, problem: str, has_others: bool
) -> None:
    """Without an error, a baseline would rank the other files' documents, and nobody would notice."""
    files = {"topics.xml": TOPICS} | (
        {"part0.jsonl": '{"docno": "d0", "text": "Cats"}'} if has_others else {}
    )
    folder = write_files(tmp_path, files)
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        find(folder)


PART = {"queries.jsonl": QUERIES, "part0.jsonl": DOCUMENTS}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"part1.jsonl": '{"_id": "b", "text": "x"}'}, r"in/part1\.jsonl: could be a part of"),
        ({"part1.jsonl": '{"id": "b", "text": "x"}'}, r"in/part1\.jsonl: could be a part of"),
        ({"part1.jsonl.gz": '\n{"key": "b", "body": "x"}'}, r"in/part1\.jsonl\.gz: could be a part of"),
        ({"part1.jsonl": '{"DOCNO": "b", "TEXT": "x"}'}, r"in/part1\.jsonl: could be a part of"),
        ({"x.jsonl": '{"qid": "1", "docno": "b", "text": "x"}'}, r"in/x\.jsonl: could be a part of"),
        ({"part1.json": '[{"docno": "b", "text": "x"}]'}, r"part1\.json: .* is a list instead of JSON lines"),
        ({"d1.json": '{"docno": "b", "text": "x"}'}, r"d1\.json: .* is an object instead of JSON lines"),
        (
            {"b.ndjson": DOCUMENTS, "c.jsonl.lz4": "", "d.jsonl.zip": "PK"},
            r"in: b\.ndjson, c\.jsonl\.lz4 and d\.jsonl\.zip could be a part of .*; unpack or convert",
        ),
        ({"part0.jsonl.zip": "PK"}, r"in: part0\.jsonl\.zip could be"),
        *(
            ({name: "x"}, rf"in: {re.escape(name)} could be a part of the collection, but cannot be read; .*")
            for name in (
                *("more.zip", "more.tar", "more.tar.gz", "more.TGZ", "more.7z", "more.7z.001", "more.rar"),
                *("part1.jsonl.br", "part1.jsonl.gzip", "part1.ndjson.gz", "part1.csv", "part1.tsv.gz"),
                *("part1.parquet", "part1.arrow", "corpus.TSV"),
            )
        ),
        ({"scores-of-people.jsonl": '{"id": "b", "text": "x"}'}, r"in/scores-of-people\.jsonl: could be a"),
        ({"run.jsonl": '{"id": "b", "text": "x"}'}, r"in/run\.jsonl: could be a part of"),
        ({"documents.jsonl.part": DOCUMENTS}, r"in/documents\.jsonl\.part: .* does not end with \.jsonl"),
        ({"part1.jsonl.1": DOCUMENTS}, r"in/part1\.jsonl\.1: .* does not end with \.jsonl"),
        ({"part1": DOCUMENTS}, r"in/part1: .* does not end with \.jsonl; rename it"),
        ({"more/part1.jsonl": '{"id": "b", "text": "x"}'}, r"in/more/part1\.jsonl: .* is in a subfolder"),
        ({"more/part1.jsonl": DOCUMENTS}, r"in/more/part1\.jsonl: .* is in a subfolder; move it into .*/in,"),
        ({"a/b/args-me.json": ARGUMENTS}, r"in/a/b/args-me\.json: .* is in a subfolder"),
    ],
)
def test_a_part_that_is_not_read_is_refused(tmp_path: Path, files: dict[str, str], named: str) -> None:
    folder = write_files(tmp_path / "in", PART | files)
    with pytest.raises(InputError, match=named):
        find_documents(folder)


@pytest.mark.parametrize("name", ["query-logs-documents.jsonl", "topics-of-debates.jsonl", "results.jsonl"])
@pytest.mark.parametrize("part", ['{"docno": "b", "text": "x"}', '{"id": "b", "contents": "x"}'])
def test_documents_are_read_whatever_their_name_is(tmp_path: Path, name: str, part: str) -> None:
    folder = write_files(tmp_path / "in", PART | {name: part})
    assert sorted(ids(find_documents(folder))) == ["b", "d"]


def test_other_files_next_to_documents_do_not_matter(tmp_path: Path) -> None:
    others = {
        **dict.fromkeys(
            (
                "README.md",
                "run.txt",
                "run.log",
                "LICENSE",
                "expected.toml",
                "ir-metadata.yml",
                "part0.jsonl.md5",
            ),
            "x",
        ),
        **dict.fromkeys(
            ("qrels.tsv", "queries.tsv", "topics.csv", "scores.csv", "runs.zip", "dev-queries.zip"), "x"
        ),
        "topics.xml": TOPICS,
        "more-queries.jsonl": '{"_id": "3", "text": "Cats"}',
        "train.jsonl": '{"query": "Cats", "positive": ["d"]}',
        "judged.jsonl": '{"query_id": "1", "doc_id": "d", "relevance": 1}',
        "qrels.jsonl": '{"topic": "1", "id": "d", "relevance": 1}',
        "log.jsonl": '{"time": 0, "message": "started"}',
        "empty.jsonl": "",
        "metadata.json": "{}",
        "settings.json": '{"k1": 1.2}',
        "qrels/test.tsv": "x",
        "out/run.txt": "x",
        "out/queries.jsonl": QUERIES,
        "out/notes.jsonl": '{"id": "1", "text": "x"}',
        "other/queries.jsonl": QUERIES,
        "other/documents.jsonl": DOCUMENTS,
        "other/deep/more.jsonl": DOCUMENTS,
        "broken/broken.jsonl": "{",
    }
    assert ids(find_documents(write_files(tmp_path / "in", PART | others))) == ["d"]


def test_an_archive_next_to_the_unpacked_images_does_not_matter(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"images/I05/I0538673fe011264e/image-url.txt": "", "images.zip": "PK"})
    assert ids(find_documents(folder)) == ["I0538673fe011264e"]
    write_files(tmp_path, {"more-images.zip": "PK"})
    with pytest.raises(InputError, match=r"more-images\.zip could be a part"):
        find_documents(folder)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "topics.xml",
            "queries.jsonl",
            "queries.tsv.gz",
            "rerank.jsonl",
            "documents.jsonl",
            "part1.jsonl.xz",
        ),
        *("passages-2.jsonl", "more.json", "args_processed.csv", "pages.csv", "page.warc", "images"),
        *("spam-ranks.txt", "page-ranks.txt.gz"),
    ],
)
def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    folder = write_files(tmp_path / "in", {"more.jsonl": DOCUMENTS})
    os.mkfifo(folder / name)
    os.mkfifo(folder / "other")  # doesn't matter
    for find_them in (find, find_documents):
        with pytest.raises(InputError, match=rf"in/{name}: neither a file nor a folder; replace it"):
            find_them(folder)


def test_devices_and_sockets_are_not_read_and_pipes_in_subfolders_are_left_out(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", PART | {"topics.xml": TOPICS})
    (folder / "below").mkdir()
    os.mkfifo(folder / "below" / "part1.jsonl")
    os.mkfifo(folder / "metadata.json")
    os.mkfifo(folder / "statistics-bm25.json")
    assert ids(find(folder).documents) == ["d"]
    (folder / "part1.jsonl").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"part1\.jsonl: neither a file"):
        find(folder)


def test_archives_among_many_are_refused_if_they_are_packed_otherwise(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"a/a.warc": record("a"), "b.warc.lz4": "x", "hosts.csv": "x"})
    for find_them in (find_documents, lambda folder: files_named(folder.rglob("*"), "hdfs://cluster/in")):
        with pytest.raises(InputError, match=r"in: b\.warc\.lz4 could be a part"):
            find_them(folder)


def test_documents_of_beir_need_no_title(tmp_path: Path) -> None:
    """Queries without a title differ only by their name."""
    names = ("queries", "dev-queries", "topics-2020", "query")
    query = '{"_id": "1", "text": "Cats", "metadata": {}}'
    write_files(tmp_path, {f"{name}.jsonl": query for name in names})
    with pytest.raises(InputError, match="no documents in this folder"):
        find(tmp_path)
    write_files(tmp_path, {f"part{n}.jsonl": f'{{"_id": "d{n}", "text": "Cats"}}' for n in (0, 1)})
    assert ids(find(tmp_path).documents) == ["d0", "d1"]


HTML = b"<title>Cats</title><p>Cats hunt birds."
LINE = '{"URL": "", "Language": "en", "ClueWeb22-ID": "%s", "Clean-Text": "Cats"}\n'


def test_archives_are_found_at_any_depth_and_read_in_the_order_of_their_paths(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = {
        "ClueWeb12_01/0100tw/0100tw-00.warc.gz": "c",
        "ClueWeb12_00/0000wb/0000wb-00.warc": "b",
        "ClueWeb12_00/0000tw/0000tw-00.warc.gz": "a",
        "last.warc": "d",
        "ClueWeb12_00/.hidden/x.warc": "x",
        "ClueWeb12_00/.x.warc": "x",
        "ClueWeb12_00/x.warc.gz.part": "x",
        "ClueWeb12_00/x.warc.md5": "x",
    }
    write_files(tmp_path / "in", {name: record(id, HTML) for name, id in names.items()})
    write_files(tmp_path / "in", {"topics.xml": TOPICS, "spam-ranks.txt": "73 a\n"})
    source = find(tmp_path / "in")
    assert ids(source.documents) == ids(source.documents) == ["a", "b", "c", "d"]
    archives = "0000tw-00.warc.gz, 0000wb-00.warc, 0100tw-00.warc.gz, last.warc"
    assert source.description == f"1 topic from topics.xml, web pages from {archives}"
    assert [path.name for path in source.files] == ["topics.xml", *archives.split(", "), "spam-ranks.txt"]
    assert source.documents.side_file(SPAM_RANKS) == tmp_path / "in" / "spam-ranks.txt"
    assert not caplog.messages


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"passages.jsonl": PASSAGES}, "two collections, args-me.json and passages.jsonl; keep one"),
        ({"passages.jsonl": ""}, "two collections, args-me.json and passages.jsonl"),
        ({"part0.jsonl": DOCUMENTS}, "two collections, args-me.json and part0.jsonl"),
        ({"ClueWeb12_00/0000tw-00.warc": record("b", HTML)}, "two collections, args-me.json and 0000tw-00"),
        ({"images/I05/I0538673fe011264e/image-url.txt": ""}, "two collections, args-me.json and images"),
        ({"args-me.json.gz": ARGUMENTS}, r"args-me.json.gz: the folder also contains args-me.json; remove"),
        (
            {
                "run.txt": "1 Q0 a 1 1 t",
                "notes.jsonl": '{"id": "1", "text": "x"}',
                "args-me.json.md5": "0",
                "i.json": "{}",
            },
            "",
        ),
    ],
)
def test_a_folder_has_one_collection(tmp_path: Path, second: dict[str, str | bytes], message: str) -> None:
    folder = write_files(tmp_path / "in", {"args-me.json": ARGUMENTS, **second})
    (folder / "link.json").symlink_to("args-me.json")
    if message:
        with pytest.raises(InputError, match=message):
            find_documents(folder)
    else:
        assert ids(find_documents(folder)) == ["a"]


ARGUMENT = '{"id": "a", "conclusion": "c", "premises": [{"text": "p", "stance": "PRO"}]}'


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"args-me.json": f"[{ARGUMENT}]"},
            r"args-me.json: a list of arguments .*; write {\"arguments\": before",
        ),
        ({"d1.json": '{"id": "d1", "contents": "Cats"}'}, "d1.json: a single document .*; write .* jq -c"),
        ({"images.zip": b"PK"}, "images.zip: an archive is not read; unpack it"),
        (
            {"main/images/I05/I0538673fe011264e/image-url.txt": ""},
            "no documents .*; move main/images there",
        ),
        ({"images/I05/I001/image-url.txt": ""}, "no images .* in folders such as I05/I0538673fe011264e"),
        ({"a.jsonl": '{"id": "a", "premises": []}'}, r"a.jsonl:1: not an argument \(.*`conclusion`"),
    ],
)
def test_documents_that_cannot_be_read_as_they_are(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        list(find_documents(write_files(tmp_path, files)))


@pytest.mark.parametrize(
    ("name", "content"),
    [("args-me.json", f'\ufeff{{"arguments": [{ARGUMENT}]}}'), ("args-me.jsonl", f"\ufeff{ARGUMENT}\n")],
)
def test_arguments_after_a_byte_order_mark_and_in_json_lines(write: Write, name: str, content: str) -> None:
    (argument,) = find_documents(write(name, content).parent)
    assert argument == Argument("a", "c", ("p",), stance="PRO")


def test_texts_of_clueweb22_are_told_from_arguments(tmp_path: Path) -> None:
    below = {
        "txt/en/en00/en0000/en0000-01.json.gz": LINE % "b",
        "txt/en/en00/en0000/en0000-00.json.gz": LINE % "a",
        "txt/en/en00/en0000/en0000-00.offset": "0",
        "inlink/en/en00/en0000/en0000-00.json.gz": '{"ClueWeb22-ID": "a", "anchors": []}',
        "notes/args-me.json": ARGUMENTS,
    }
    documents = find_documents(write_files(tmp_path / "below", below))
    assert str(documents) == "web pages from en0000-00.json.gz, en0000-01.json.gz"
    assert list(documents) == [Page(id, body="Cats", language="en") for id in "ab"]
    same = write_files(tmp_path / "same", {"some.json": LINE % "c"})
    assert str(find_documents(same)) == "web pages from some.json"


def test_links_lead_neither_out_of_the_directory_nor_round_in_circles(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("out/secret.warc", record("secret", HTML))
    page = write("in/a/page.warc", record("a", HTML))
    for link, target in {
        "in/a/loop": "..",
        "in/a/elsewhere": tmp_path / "out",
        "in/a/b.warc": tmp_path / "out" / "secret.warc",
        "in/a/itself.warc": "itself.warc",
        "in/a/nothing.warc": "nowhere",
        "in/a/out.txt": tmp_path / "out" / "secret.warc",
        "in/above": "..",
        "in/again": "a",
        "in/gone": "nowhere",
    }.items():
        (tmp_path / link).symlink_to(target)
    write("in/.git/annex/c", record("c", HTML))
    (tmp_path / "in" / "a" / "c.warc").symlink_to("../.git/annex/c")
    documents = find_documents(tmp_path / "in")
    assert documents.paths == (tmp_path / "in" / "a" / "c.warc", page)
    (said,) = caplog.messages
    assert said.endswith(" and 7 more: skipped, because it cannot be read, or is a link that is not followed")


def test_a_link_to_nothing_is_no_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"topics.xml": TOPICS, "passages.jsonl": PASSAGES})
    for name in ("rerank.jsonl", "documents.jsonl"):
        (tmp_path / name).symlink_to("nowhere")
    assert ids(find(tmp_path).documents) == ["p"]


def test_folders_that_the_directory_itself_links_to_are_read_once(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A link such as ClueWeb12_00 next to topics.xml; links within its target are also followed."""
    archive = record("clueweb12-0000tw-00-00000", HTML)
    write("disk/ClueWeb12_00/0000tw/0000tw-00.warc", archive)
    write("disk/ClueWeb12_00/.objects/1", record("b", HTML))
    (tmp_path / "disk/ClueWeb12_00/0000tw/0000tw-01.warc").symlink_to("../.objects/1")
    (tmp_path / "disk/ClueWeb12_00/0000tw/up").symlink_to("..")
    write("in/topics.xml", TOPICS)
    for link in ("ClueWeb12_00", "the same"):
        (tmp_path / "in" / link).symlink_to(tmp_path / "disk" / "ClueWeb12_00")
    source = find(tmp_path / "in")
    assert ids(source.documents) == ["clueweb12-0000tw-00-00000", "b"]
    assert source.description == "1 topic from topics.xml, web pages from 0000tw-00.warc, 0000tw-01.warc"
    (said,) = caplog.messages
    assert " and 1 more: skipped" in said


def test_folders_may_lie_deeper_than_python_can_call(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("a.warc", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    try:
        assert len(find_documents(tmp_path).paths) == 1
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # nor could pytest remove them


def test_a_number_that_only_reading_tells_is_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, {"queries.jsonl": QUERIES, "documents.jsonl": DOCUMENTS})
    documents = find(tmp_path).documents
    with pytest.raises(TypeError, match=r"documents.jsonl: the number of documents is not known; count them"):
        len(documents)
    assert documents and [*documents]
    images = open_dataset("spot-check/images").documents
    assert len(images) == len([*images]) > 1
    listed = Documents.of([Document("a", ""), Document("b", "")])
    assert (len(listed), listed[1]) == (2, Document("b", ""))


def test_the_page_on_files_lists_topics_in_the_order_of_the_code() -> None:
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^(?:\| topics \|.*\n)(?:\|.*\n)+", page, re.MULTILINE)
    rows = table.splitlines()[2:]
    topics = re.findall("`([^`]+)`", "".join(line.split("|")[1] for line in rows))
    assert topics == ["rerank.jsonl", *TOPIC_FILES]


def test_texts_next_to_images_may_be_queries(tmp_path: Path) -> None:
    files = {
        "images/I05/I0538673fe011264e/image-url.txt": "",
        "notes.jsonl": '{"id": "1", "text": "Should teachers get tenure?"}\n',
    }
    assert ids(find_documents(write_files(tmp_path / "in", files))) == ["I0538673fe011264e"]
    # A file with fields of documents is a second collection.
    write_files(tmp_path / "in", {"part.jsonl": DOCUMENTS})
    with pytest.raises(InputError, match=r"two collections, images and part\.jsonl"):
        find_documents(tmp_path / "in")


def read_markdown(path: Path, seen: set[str]) -> Iterator[Document]:
    yield Document(path.stem, path.read_text())


def test_a_format_needs_only_a_place_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"topics.xml": TOPICS, "one.md": "One", "two.md": "Two"})
    with pytest.raises(InputError, match="no documents in this folder"):
        find(tmp_path)
    markdown = FileFormat("*.md", "notes", "notes", whole_reader=read_markdown)
    monkeypatch.setattr(discovery, "FORMATS", (*discovery.FORMATS, markdown))
    assert ids(find(tmp_path).documents) == ["one", "two"]


def test_the_folder_of_images_may_be_a_link(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pictures/I05/I0538673fe011264e/image-url.txt": ""})
    (folder / "images").symlink_to("pictures")
    assert ids(find_documents(folder)) == ["I0538673fe011264e"]
