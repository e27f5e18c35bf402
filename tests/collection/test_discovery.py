import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ir_datasets
import pytest

from archives import record, record_of_clueweb22
from conftest import ROOT, Touche, Write
from touche.collection.discovery import Input, find, find_documents
from touche.collection.documents import SPAM_RANKS
from touche.collection.ir_datasets import document_of
from touche.errors import InputError, ToucheError
from touche.formats.documents import Argument, Document, Sentence
from touche.formats.topics import Topic
from touche.web.page import Page, RawPage, Skipped

TOPICS = "<topics><topic><number>1</number><title>One?</title></topic></topics>"
QUERIES = '{"qid": "2", "query": "Two?"}\n'
DOCUMENTS = '{"docno": "d", "text": "tira"}\n'
PASSAGES = '{"id": "p", "contents": "passage", "chatNoirUrl": ""}\n'
ARGUMENTS = '{"arguments": [{"id": "a", "conclusion": "c", "premises": []}]}'
PROCESSED = "id,conclusion,premises,context,sentences\nb,c,[],{},[]\n"


def ids(given: Input) -> list[str]:
    return [document.id for document in given.documents]


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
    write: Write, tmp_path: Path, name: str, content: str, expected: str, noun: str, suffix: str
) -> None:
    write(f"topics.xml{suffix}", TOPICS)
    write(f"{name}{suffix}", content)
    write("metadata.json", "{}")
    given = find(tmp_path)
    assert given.topics == (Topic("1", "One?"),)
    assert ids(given) == ids(given) == [expected]
    assert given.took == f"1 topics from topics.xml{suffix}, {noun} from {name}{suffix}"


def test_the_first_of_several_formats_is_taken_and_named(write: Write, tmp_path: Path) -> None:
    for name, content in (("topics.xml", TOPICS), ("queries.jsonl", QUERIES), ("documents.jsonl", DOCUMENTS)):
        write(name, content)
    write("passages.jsonl", PASSAGES)
    assert find(tmp_path).took == "1 topics from topics.xml, documents from documents.jsonl"


def test_the_files_of_args_me_are_one_collection(write: Write, tmp_path: Path) -> None:
    write("queries.jsonl", QUERIES)
    write("debateorg.json", ARGUMENTS)
    write("idebate.json.gz", ARGUMENTS.replace('"a"', '"b"'))
    assert ids(find(tmp_path)) == ["a", "b"]
    write("debatewise.json", ARGUMENTS)
    with pytest.raises(InputError, match=r"debatewise\.json:1: argument 'a' occurs a second time"):
        ids(find(tmp_path))


def test_ids_of_archives_are_not_held_beyond_the_archive(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    write("topics.xml", TOPICS)
    for name in ("one", "other"):
        write(f"deep/{name}.warc", record("a", b"<p>One") + record(name, b"<p>Two") + record(name))
    found = find(tmp_path).documents
    assert [document.id for document in found] == ["a", "one", "a", "other"]
    _, _, said = touche("run", "bm25", "-i", tmp_path, "-o", tmp_path / "out")
    assert "document 'a' is ranked twice for one topic" in said


def test_reranking_input_gives_each_topic_its_candidates_and_each_document_once(
    write: Write, tmp_path: Path
) -> None:
    rows = [("1", "a"), ("1", "b"), ("2", "b"), ("2", "c")]
    lines = [json.dumps({"qid": q, "query": f"q{q}", "docno": d, "text": d * 3}) for q, d in rows]
    write("rerank.jsonl.gz", "\n".join(lines))
    write("documents.jsonl", DOCUMENTS)
    spam_ranks = write("spam-ranks.txt.gz", "10 a\n")
    given = find(tmp_path)
    assert given.documents.side_file(SPAM_RANKS) == spam_ranks
    assert given.files == (tmp_path / "rerank.jsonl.gz", spam_ranks)
    assert [(topic.number, topic.title, topic.candidates) for topic in given.topics] == [
        ("1", "q1", frozenset("ab")),
        ("2", "q2", frozenset("bc")),
    ]
    assert list(given.documents) == [Document(letter, letter * 3) for letter in "abc"]
    assert given.took == "2 topics and their 4 candidates from rerank.jsonl.gz"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "in: no topics in it"),
        (
            {"topics.xml": TOPICS},
            "in: no documents in it",
        ),
        ({"documents.jsonl": DOCUMENTS}, "in: no topics in it"),
        ({"queries.jsonl": "\n"}, r"queries\.jsonl: no topics in it"),
        ({"rerank.jsonl": ""}, r"rerank\.jsonl: no candidates in it"),
        ({"topics.xml": TOPICS, "documents.jsonl": ""}, r"documents\.jsonl: no documents in it"),
        ({"topics.xml": TOPICS, "a.json": '{"other": []}'}, r"a\.json: no documents in it"),
    ],
)
def test_what_is_missing_is_said(write: Write, tmp_path: Path, files: dict[str, str], message: str) -> None:
    (tmp_path / "in").mkdir()
    for name, content in files.items():
        write(f"in/{name}", content)
    with pytest.raises(InputError, match=message):
        ids(find(tmp_path / "in"))


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"in: cannot be read \(No such file or directory\); give a directory"
    ):
        find(tmp_path / "in")


HTML = b"<title>Cats</title><p>Cats hunt birds."
LINE = '{"URL": "", "Language": "en", "ClueWeb22-ID": "%s", "Clean-Text": "Cats"}\n'


def test_archives_are_found_at_any_depth_and_read_in_the_order_of_their_paths(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("in/topics.xml", TOPICS)
    write("in/spam-ranks.txt", "73 a\n")
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
    for name, id in names.items():
        write(f"in/{name}", record(id, HTML))
    given = find(tmp_path / "in")
    assert ids(given) == ids(given) == ["a", "b", "c", "d"]
    archives = "0000tw-00.warc.gz, 0000wb-00.warc, 0100tw-00.warc.gz, last.warc"
    assert given.took == f"1 topics from topics.xml, web pages from {archives}"
    assert [path.name for path in given.files] == ["topics.xml", *archives.split(", "), "spam-ranks.txt"]
    assert given.documents.side_file(SPAM_RANKS) == tmp_path / "in" / "spam-ranks.txt"
    assert not caplog.messages


def test_archives_of_one_name_are_told_by_their_folders(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("topics.xml", TOPICS)
    for folder in ("en0000", "en0001"):
        write(f"ClueWeb09_English_1/{folder}/00.warc.gz", record(folder, HTML))
    monkeypatch.chdir(tmp_path)
    given = find(Path())
    assert given.took == "1 topics from topics.xml, web pages from en0000/00.warc.gz, en0001/00.warc.gz"
    assert ids(given) == ["en0000", "en0001"]


def test_many_archives_are_told_in_one_short_line(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1234):
        write(f"ClueWeb12_00/{number % 7}/{number}.warc", b"")
    assert str(find_documents(tmp_path)) == "web pages from 1,234 archives below ClueWeb12_00"
    monkeypatch.chdir(tmp_path / "ClueWeb12_00" / "1")
    assert str(find_documents(Path())) == "web pages from 177 archives in 1"


def test_what_lies_in_the_directory_itself_goes_before_what_lies_below(write: Write, tmp_path: Path) -> None:
    write("in/ClueWeb12_00/0000tw/0000tw-00.warc.gz", record("b", HTML))
    write("in/txt/en/en00/en0000/en0000-00.json.gz", LINE % "c")
    assert [document.id for document in find_documents(tmp_path / "in")] == ["b"]
    write("in/args-me.json", ARGUMENTS)
    assert [document.id for document in find_documents(tmp_path / "in")] == ["a"]


def test_texts_of_clueweb22_are_told_from_arguments(write: Write, tmp_path: Path) -> None:
    write("below/txt/en/en00/en0000/en0000-01.json.gz", LINE % "b")
    write("below/txt/en/en00/en0000/en0000-00.json.gz", LINE % "a")
    write("below/txt/en/en00/en0000/en0000-00.offset", "0")
    write("below/inlink/en/en00/en0000/en0000-00.json.gz", '{"ClueWeb22-ID": "a", "anchors": []}')
    write("below/notes/args-me.json", ARGUMENTS)
    found = find_documents(tmp_path / "below")
    assert str(found) == "web pages from en0000-00.json.gz, en0000-01.json.gz"
    assert list(found) == [Page(id, body="Cats", language="en") for id in "ab"]
    write("same/some.json", LINE % "c")
    write("same/args-me.json", ARGUMENTS)
    assert str(find_documents(tmp_path / "same")) == "web pages from some.json"


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
    found = find_documents(tmp_path / "in")
    assert found.paths == (tmp_path / "in" / "a" / "c.warc", page)
    (said,) = caplog.messages
    assert said.endswith(" and 7 more: left out, for such links are not followed, or it cannot be read")


def test_folders_that_the_directory_itself_links_to_are_read_once(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As ClueWeb12_00 beside topics.xml; within it, links that stay in it are followed, too."""
    archive = record("clueweb12-0000tw-00-00000", HTML)
    write("disk/ClueWeb12_00/0000tw/0000tw-00.warc", archive)
    write("disk/ClueWeb12_00/.objects/1", record("b", HTML))
    (tmp_path / "disk/ClueWeb12_00/0000tw/0000tw-01.warc").symlink_to("../.objects/1")
    (tmp_path / "disk/ClueWeb12_00/0000tw/up").symlink_to("..")
    write("in/topics.xml", TOPICS)
    for link in ("ClueWeb12_00", "the same"):
        (tmp_path / "in" / link).symlink_to(tmp_path / "disk" / "ClueWeb12_00")
    given = find(tmp_path / "in")
    assert ids(given) == ["clueweb12-0000tw-00-00000", "b"]
    assert given.took == "1 topics from topics.xml, web pages from 0000tw-00.warc, 0000tw-01.warc"
    (said,) = caplog.messages
    assert " and 1 more: left out" in said


def test_nothing_is_told_twice_where_there_are_no_documents(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("a/notes.txt", "")
    (tmp_path / "a" / "up").symlink_to("..")
    with pytest.raises(InputError, match="no documents in it"):
        find_documents(tmp_path)
    assert len(caplog.messages) == 1


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


def test_one_bad_archive_among_good_ones_is_a_warning(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("x/a.warc.gz", record("a", HTML))
    write("x/b.warc", b"once upon a time")
    (tmp_path / "x" / "c.warc.gz").write_bytes(gzip.compress(record("c", HTML * 999))[:90])
    write("x/d.warc.gz", record("d", HTML))
    assert [document.id for document in find_documents(tmp_path)] == ["a", "d"]
    assert any(text.endswith("b.warc holds no record; is it a web archive?") for text in caplog.messages)
    assert any("c.warc.gz is " in text for text in caplog.messages)


def test_a_run_is_the_same_whatever_the_pages_lie_in(touche: Touche, write: Write, tmp_path: Path) -> None:
    """A third of the spot check in archives as those of ClueWeb12, ClueWeb09 and ClueWeb22 each."""
    corpus = ROOT / "corpora" / "spot-check-pages"
    rows = list(csv.DictReader((corpus / "pages.csv").open(encoding="utf-8")))
    pages = [(row["id"], (corpus / row["file"]).read_bytes(), row["url"]) for row in rows]
    made = {
        "ClueWeb12_00/0000tw/0000tw-00.warc.gz": [
            record(id, html, url=url, charset="") for id, html, url in pages[::3]
        ],
        "ClueWeb09_English_1/en0000/00.warc.gz": [
            record(id, html, url=url, charset="", version="0.18", newline="\n")
            for id, html, url in pages[1::3]
        ],
        "html/en/en00/en0000/en0000-00.warc.gz": [
            record_of_clueweb22(id, html, url=url) for id, html, url in pages[2::3]
        ],
    }
    for name, records in made.items():
        write(f"in/{name}", b"".join(records))
    for file in (ROOT / "topics" / "spot-check-pages.xml", corpus / "spam-ranks.txt"):
        write(f"in/{file.name.replace('spot-check-pages', 'topics')}", file.read_bytes())
    for given, output in ((tmp_path / "in", "archives"), ("spot-check/pages", "folder")):
        assert touche("run", "chatnoir-bm25f", "-i", given, "-o", tmp_path / output)[0] == 0
    expected = (tmp_path / "folder" / "run.txt").read_text()
    assert expected.count("\n") > 20
    assert (tmp_path / "archives" / "run.txt").read_text() == expected


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes local files known to ir_datasets under an id."""

    def register_files(id: str, **files: Path) -> None:
        dataset = ir_datasets.create_dataset(**{kind: str(path) for kind, path in files.items()})
        monkeypatch.setitem(ir_datasets.registry._registered, id, dataset)

    return register_files


def test_a_corpus_of_ir_datasets_stands_in_for_documents(
    write: Write, tmp_path: Path, register: Callable[..., None]
) -> None:
    write("topics.xml", TOPICS)
    register("touche-test", docs_tsv=write("docs.tsv", "d1\tone text\nd2\tanother\n"))
    given = find(tmp_path, corpus="touche-test")
    assert list(given.documents) == [Document("d1", "one text"), Document("d2", "another")]
    assert given.took == "1 topics from topics.xml, documents from touche-test (ir_datasets)"


def test_an_unknown_or_empty_corpus_is_an_error(
    write: Write, tmp_path: Path, register: Callable[..., None]
) -> None:
    write("topics.xml", TOPICS)
    with pytest.raises(ToucheError, match="ir_datasets knows no 'args-me'"):
        ids(find(tmp_path, corpus="args-me"))
    register("touche-test", queries_tsv=write("queries.tsv", "1\tone\n"))
    with pytest.raises(ToucheError, match="'touche-test' of ir_datasets has no documents"):
        ids(find(tmp_path, corpus="touche-test"))


def test_a_corpus_that_cannot_be_read_is_an_error(
    write: Write, tmp_path: Path, register: Callable[..., None]
) -> None:
    write("topics.xml", TOPICS)
    register("touche-test", docs_tsv=tmp_path / "nowhere.tsv")
    with pytest.raises(ToucheError, match=r"cannot read 'touche-test' \(FileNotFoundError: .*\); see https"):
        ids(find(tmp_path, corpus="touche-test"))


def test_arguments_of_ir_datasets_keep_their_parts() -> None:
    """The record class of ir_datasets itself, filled from an argument in the format of the corpus."""
    from ir_datasets.formats.argsme import ArgsMeDoc, ArgsMeProcessedDoc, ArgsMeSentence

    json_argument = {
        "id": "S1-A1",
        "conclusion": "c",
        "premises": [{"text": "p q", "stance": "CON", "annotations": []}],
        "context": {
            "sourceId": "S1",
            "sourceTitle": "t",
            "acquisitionTime": "2019-01-01T00:00:00Z",
            "topic": "t",
        },
    }
    record = ArgsMeDoc.from_json(json_argument)
    expected = Argument("S1-A1", "c", ("p q",), "CON", discussion="t")
    assert document_of(record) == expected
    assert expected.text == record.default_text()
    processed = ArgsMeProcessedDoc(*record, sentences=[ArgsMeSentence("S1-A1__CONC__1", "c")])
    assert document_of(processed).sentences == (Sentence("S1-A1__CONC__1", "c"),)  # type: ignore[union-attr]


def test_web_pages_of_ir_datasets_are_as_in_an_archive() -> None:
    """The record class of ir_datasets for web pages; those of .gov have texts as headers."""
    from ir_datasets.formats import WarcDoc

    def found(headers: bytes | str, body: bytes = b"<p>x") -> object:
        return document_of(WarcDoc("a", "http://a.example/b", "2012", headers, body, ""))

    page = RawPage("a", "http://a.example/b", b"<p>x", "iso-8859-1")
    html = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=ISO-8859-1"
    assert found(html.encode()) == found(html) == found(html.replace("\r\n", "\n") + "\n") == page
    assert found(html.replace("html", "css").encode()) == Skipped("a", "not of text")
    chunked = f"{html}\r\nTransfer-Encoding: chunked".encode()
    assert found(chunked, b"4\r\n<p>x\r\n0\r\n\r\n") == page


ASKED = """
import sys
from pathlib import Path
from touche.errors import ToucheError
from touche.collection.discovery import find

if __name__ == "__main__":
    given = find(Path(sys.argv[1]), corpus=sys.argv[2])
    try:
        print([each.id for each in given.documents], given.documents.side_file("spam-ranks.txt"))
    except ToucheError as error:
        print(error)
"""


@pytest.fixture
def asked(write: Write, tmp_path: Path) -> Callable[[str], str]:
    """What comes of a corpus of ir_datasets, which looks for its home as it is imported."""
    script = write("asked.py", ASKED)
    write("in/topics.xml", TOPICS)
    write("in/spam-ranks.txt", "73 clueweb12-0000tw-00-00000\n")

    def ask(corpus: str) -> str:
        command = [sys.executable, str(script), str(tmp_path / "in"), corpus]
        environment = os.environ | {"IR_DATASETS_HOME": str(tmp_path / "home")}
        return subprocess.run(command, capture_output=True, text=True, env=environment).stdout.strip()

    return ask


def test_clueweb12_is_read_through_ir_datasets_with_spam_ranks_beside_the_topics(
    write: Write, tmp_path: Path, asked: Callable[[str], str]
) -> None:
    missing = asked("clueweb12")
    assert missing == (
        f"ir_datasets finds no archives of 'clueweb12' in {tmp_path}/home/clueweb12/corpus; "
        "get the corpus from its publisher, and link its folder there"
    )
    corpus = "home/clueweb12/corpus"
    id = "clueweb12-0000tw-00-00000"
    write(f"{corpus}/ClueWeb12_00/0000tw/0000tw-00.warc.gz", record(id, HTML))
    write(f"{corpus}/ClueWeb12_00/0001wb/0001wb-00.warc.gz", b"broken")
    write(f"{corpus}/ClueWeb12_19/1900tw/1900tw-00.warc.gz", record("clueweb12-1900tw-00-00000", HTML))
    expected = f"['{id}', 'clueweb12-1900tw-00-00000'] {tmp_path}/in/spam-ranks.txt"
    assert asked("clueweb12/touche-2021-task-2") == expected
    write("home/clueweb09/corpus/ClueWeb09_English_1/en0000/00.warc.gz", record("e", HTML, version="0.18"))
    write("home/clueweb09/corpus/ClueWeb09_German_1/de0000/00.warc.gz", record("d", HTML, version="0.18"))
    assert asked("clueweb09/en").startswith("['e']")


def test_a_package_that_is_missing_is_one_line_with_what_installs_it(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of ir_datasets' own readers, which it calls lazily."""
    write("topics.xml", TOPICS)
    monkeypatch.setitem(sys.modules, "trec_car", None)
    monkeypatch.setitem(sys.modules, "trec_car.read_data", None)
    with pytest.raises(
        ToucheError, match=r"ImportError: This dataset requires .* 'pip install ir_datasets\[car\]'"
    ):
        ids(find(tmp_path, corpus="car/v1.5"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("documents.jsonl", '{"docno": "NAME", "text": ""}'),
        ("passages-NAME.jsonl.gz", '{"id": "NAME", "contents": ""}'),
        ("NAME.json", '{"arguments": [{"id": "NAME", "conclusion": "", "premises": []}]}'),
        ("args_processed-NAME.csv", "id,conclusion,premises,sentences\nNAME,c,[],[]\n"),
    ],
)
def test_files_that_can_be_split_have_the_same_documents_in_pieces(
    write: Write, name: str, text: str
) -> None:
    for each in "ab":
        path = write(name.replace("NAME", each), text.replace("NAME", each))
    files = find_documents(path.parent)
    found = files.pieces()
    assert found is not None
    assert [each for piece in found for each in piece.documents()] == list(files)


def test_web_archives_cannot_be_split(write: Write) -> None:
    assert find_documents(write("a.warc", b"").parent).pieces() is None
