"""Corpora of ir_datasets as collections."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_datasets
import pytest
from ir_datasets.datasets.beir import BeirTitleDoc, BeirToucheDoc
from ir_datasets.formats import GenericDoc

from archives import record
from conftest import Touche, Write, write_files
from touche.data.datasets import opened
from touche.documents.discovery import find
from touche.documents.document_records import Argument, Document, Sentence
from touche.documents.ir_datasets import IrDataset, convert_record
from touche.documents.pages import RawPage, Skipped
from touche.errors import ToucheError
from touche.trec.topics import Topic

TOPICS = "<topics><topic><number>1</number><title>One?</title></topic></topics>"
HTML = b"<title>Cats</title><p>Cats hunt birds."


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
    source = find(tmp_path, corpus="touche-test")
    assert list(source.documents) == [Document("d1", "one text"), Document("d2", "another")]
    assert source.description == "1 topic from topics.xml, documents from touche-test (ir_datasets)"


@pytest.mark.parametrize(
    ("id", "files", "problem"),
    [
        ("args-me", {}, "ir_datasets has no corpus 'args-me'"),
        ("touche-test", {"queries_tsv": "1\tone\n"}, "'touche-test' of ir_datasets has no documents"),
        ("touche-test", {"docs_tsv": None}, r"cannot read 'touche-test' \(FileNotFoundError: .*\); "),
        ("touche-test", {"docs_tsv": "d\tone\nd\ttwo\n"}, "touche-test: document 'd' occurs a second time"),
        ("car/v1.5", {}, r"ImportError: This dataset requires .* 'pip install ir_datasets\[car\]'"),
        ("irds:touche-none", {}, "ir_datasets has no corpus 'touche-none'"),
        ("irds:touche-test", {"docs_tsv": "d1\tt\n"}, "'touche-test' of ir_datasets has no topics"),
        ("irds:touche-test", {"queries_tsv": "q1\tx\n"}, "has no documents"),
        (
            "irds:touche-test",
            {"docs_tsv": "d1\tt\n", "queries_tsv": "q1\tx\nq1\ty\n"},
            "topic 'q1' occurs a second",
        ),
    ],
)
def test_a_corpus_or_a_dataset_that_cannot_be_read_is_an_error(
    tmp_path: Path,
    register: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    id: str,
    files: dict[str, str | None],
    problem: str,
) -> None:
    for module in ("trec_car", "trec_car.read_data"):  # its readers import this module lazily
        monkeypatch.setitem(sys.modules, module, None)
    write_files(tmp_path, {kind: text for kind, text in files.items() if text is not None})
    register("touche-test", **{kind: tmp_path / kind for kind in files})
    with pytest.raises(ToucheError, match=problem):
        list(opened(id).documents if id.startswith("irds:") else IrDataset(id))


def test_arguments_of_ir_datasets_keep_their_parts() -> None:
    """The record class of ir_datasets itself, filled from an argument in the format of the corpus."""
    from ir_datasets.formats.argsme import ArgsMeDoc, ArgsMeProcessedDoc, ArgsMeSentence

    premises = [{"text": "p q", "stance": "CON", "annotations": []}]
    time = {"acquisitionTime": "2019-01-01T00:00:00Z"}
    context = {"sourceId": "S1", "sourceTitle": "t", "topic": "t"} | time
    fields = {"id": "S1-A1", "conclusion": "c", "premises": premises, "context": context}
    record = ArgsMeDoc.from_json(fields)
    expected = Argument("S1-A1", "c", ("p q",), "CON", discussion="t")
    assert convert_record(record) == expected
    assert expected.text == record.default_text()
    processed = ArgsMeProcessedDoc(*record, sentences=[ArgsMeSentence("S1-A1__CONC__1", "c")])
    assert convert_record(processed).sentences == (Sentence("S1-A1__CONC__1", "c"),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (BeirToucheDoc("a", "x y", "t", "CON", ""), Argument("a", "t", ("x y",), "CON")),
        (BeirToucheDoc("a", "x y", "", "PRO", ""), Argument("a", "", ("x y",), "PRO")),
        (BeirToucheDoc("a", "x", "", "", ""), Document("a", "x")),
        (BeirTitleDoc("a", "x", "t"), Argument("a", "t", ("x",))),
        (GenericDoc("a", "x"), Document("a", "x")),
    ],
)
def test_titles_of_ir_datasets_are_fields(record: object, expected: Argument | Document) -> None:
    """As in BEIR's own files."""
    assert convert_record(record) == expected


def test_web_pages_of_ir_datasets_are_as_in_an_archive() -> None:
    """The record class of ir_datasets for web pages; those of .gov have headers as strings."""
    from ir_datasets.formats import WarcDoc

    def found(headers: bytes | str, body: bytes = b"<p>x") -> object:
        return convert_record(WarcDoc("a", "http://a.example/b", "2012", headers, body, ""))

    page = RawPage(id="a", url="http://a.example/b", content=b"<p>x", charset="iso-8859-1")
    html = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=ISO-8859-1"
    assert found(html.encode()) == found(html) == found(html.replace("\r\n", "\n") + "\n") == page
    assert found(html.replace("html", "css").encode()) == Skipped("a", "not of text")
    chunked = f"{html}\r\nTransfer-Encoding: chunked".encode()
    assert found(chunked, b"4\r\n<p>x\r\n0\r\n\r\n") == page


SCRIPT = """
import sys
from pathlib import Path
from touche.errors import ToucheError
from touche.documents.discovery import find

if __name__ == "__main__":
    documents = find(Path("in"), corpus=sys.argv[1]).documents
    try:
        print([each.id for each in documents], documents.side_file("spam-ranks.txt"))
    except ToucheError as error:
        print(error)
"""


def test_clueweb12_is_read_through_ir_datasets_with_spam_ranks_beside_the_topics(tmp_path: Path) -> None:
    """In another process, because ir_datasets reads its home when it is imported."""
    environment = os.environ | {"IR_DATASETS_HOME": str(tmp_path / "home")}
    spam_ranks = "73 clueweb12-0000tw-00-00000\n"
    write_files(tmp_path, {"script.py": SCRIPT, "in/topics.xml": TOPICS, "in/spam-ranks.txt": spam_ranks})

    def output(corpus: str) -> str:
        command = [sys.executable, "script.py", corpus]
        options: dict[str, Any] = {"text": True, "env": environment, "cwd": tmp_path}
        return subprocess.run(command, stdout=subprocess.PIPE, **options).stdout.strip()

    assert output("clueweb12") == (
        f"ir_datasets finds no archives of 'clueweb12' in {tmp_path}/home/clueweb12/corpus; "
        "get the corpus from its publisher, and link its folder there"
    )
    id = "clueweb12-0000tw-00-00000"
    archives = {
        "ClueWeb12_00/0000tw/0000tw-00.warc.gz": record(id, HTML),
        "ClueWeb12_00/0001wb/0001wb-00.warc.gz": b"broken",
        "ClueWeb12_19/1900tw/1900tw-00.warc.gz": record("clueweb12-1900tw-00-00000", HTML),
    }
    write_files(tmp_path / "home" / "clueweb12" / "corpus", archives)
    expected = f"['{id}', 'clueweb12-1900tw-00-00000'] in/spam-ranks.txt"
    assert output("clueweb12/touche-2021-task-2") == expected
    archives = {
        "ClueWeb09_English_1/en0000/00.warc.gz": record("e", HTML, version="0.18"),
        "ClueWeb09_German_1/de0000/00.warc.gz": record("d", HTML, version="0.18"),
    }
    write_files(tmp_path / "home" / "clueweb09" / "corpus", archives)
    assert output("clueweb09/en").startswith("['e']")


def test_a_dataset_of_ir_datasets_has_topics_and_documents(
    write: Write, register: Callable[..., None], tmp_path: Path, touche: Touche
) -> None:
    queries = write("queries.tsv", "q1\tDo cats  hunt?\nq2\tno hit\n")
    register(
        "touche-test/task", docs_tsv=write("docs.tsv", "d1\tcats hunt\nd2\tother\n"), queries_tsv=queries
    )
    source = opened("irds:touche-test/task")
    assert source.topics == (Topic("q1", "Do cats hunt?"), Topic("q2", "no hit"))
    assert [document.id for document in source.documents] == ["d1", "d2"]
    code, _, said = touche("run", "bm25", "-i", "irds:touche-test/task", "-o", tmp_path / "out")
    assert code == 0 and "2 topics and documents from touche-test/task (ir_datasets)" in said
    assert (tmp_path / "out" / "run.txt").read_text().startswith("q1 Q0 d1 1 ")


def test_a_container_is_without_ir_datasets(touche: Touche, tmp_path: Path) -> None:
    code, _, said = touche("run", "bm25", "-i", "irds:a/b", "-o", tmp_path / "out", "--runner", "docker")
    assert code == 2 and "irds:a/b: container images do not contain ir_datasets" in said


@pytest.mark.parametrize(("objects", "kept"), [(("a", "b"), ("a", "b")), (None, ()), ("car, bus", ())])
def test_a_query_of_touche_keeps_what_the_organizers_wrote(
    monkeypatch: pytest.MonkeyPatch, objects: object, kept: tuple[str, ...]
) -> None:
    fields = {"query_id": "1", "title": "A or\nB?", "objects": objects, "description": "One\n two."}
    query = SimpleNamespace(**fields, narrative=None)
    dataset = SimpleNamespace(has_docs=lambda: True, has_queries=lambda: True, queries_iter=lambda: [query])
    monkeypatch.setitem(ir_datasets.registry._registered, "touche-test", dataset)
    assert IrDataset("touche-test").topics() == [
        Topic(number="1", title="A or B?", objects=kept, description="One two.")
    ]
