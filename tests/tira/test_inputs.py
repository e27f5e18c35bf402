import json
from collections.abc import Callable
from pathlib import Path

import ir_datasets
import pytest

from conftest import Write
from touche.errors import InputError, ToucheError
from touche.formats.documents import Argument, Document, Sentence
from touche.formats.topics import Topic
from touche.tira import inputs
from touche.web.page import RawPage

TOPICS = "<topics><topic><number>1</number><title>One?</title></topic></topics>"
QUERIES = '{"qid": "2", "query": "Two?"}\n'
DOCUMENTS = '{"docno": "d", "text": "tira"}\n'
PASSAGES = '{"id": "p", "contents": "passage", "chatNoirUrl": ""}\n'
ARGUMENTS = '{"arguments": [{"id": "a", "conclusion": "c", "premises": []}]}'
PROCESSED = "id,conclusion,premises,context,sentences\nb,c,[],{},[]\n"


def ids(given: inputs.Input) -> list[str]:
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
    given = inputs.find(tmp_path)
    assert given.topics == (Topic("1", "One?"),)
    assert ids(given) == ids(given) == [expected]
    assert given.took == f"1 topics from topics.xml{suffix}, {noun} from {name}{suffix}"


def test_the_first_of_several_formats_is_taken_and_named(write: Write, tmp_path: Path) -> None:
    for name, content in (("topics.xml", TOPICS), ("queries.jsonl", QUERIES), ("documents.jsonl", DOCUMENTS)):
        write(name, content)
    write("passages.jsonl", PASSAGES)
    assert inputs.find(tmp_path).took == "1 topics from topics.xml, documents from documents.jsonl"


def test_the_files_of_args_me_are_one_collection(write: Write, tmp_path: Path) -> None:
    write("queries.jsonl", QUERIES)
    write("debateorg.json", ARGUMENTS)
    write("idebate.json.gz", ARGUMENTS.replace('"a"', '"b"'))
    assert ids(inputs.find(tmp_path)) == ["a", "b"]
    write("debatewise.json", ARGUMENTS)
    with pytest.raises(InputError, match=r"debatewise\.json:1: argument 'a' occurs a second time"):
        ids(inputs.find(tmp_path))


def test_reranking_input_gives_each_topic_its_candidates_and_each_document_once(
    write: Write, tmp_path: Path
) -> None:
    rows = [("1", "a"), ("1", "b"), ("2", "b"), ("2", "c")]
    lines = [json.dumps({"qid": q, "query": f"q{q}", "docno": d, "text": d * 3}) for q, d in rows]
    write("rerank.jsonl.gz", "\n".join(lines))
    write("documents.jsonl", DOCUMENTS)
    given = inputs.find(tmp_path)
    assert [(topic.number, topic.title, topic.candidates) for topic in given.topics] == [
        ("1", "q1", frozenset("ab")),
        ("2", "q2", frozenset("bc")),
    ]
    assert list(given.documents) == [Document(letter, letter * 3) for letter in "abc"]
    assert given.took == "2 topics and their 4 candidates from rerank.jsonl.gz"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "in: no topics in it; put topics.xml or queries.jsonl there"),
        (
            {"topics.xml": TOPICS},
            "in: no documents in it; put .* there, plain or .gz, or name .* with --corpus",
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
        ids(inputs.find(tmp_path / "in"))


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"in: cannot be read \(No such file or directory\); give a directory"
    ):
        inputs.find(tmp_path / "in")


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
    given = inputs.find(tmp_path, corpus="touche-test")
    assert list(given.documents) == [Document("d1", "one text"), Document("d2", "another")]
    assert given.took == "1 topics from topics.xml, documents from touche-test (ir_datasets)"


def test_an_unknown_or_empty_corpus_is_an_error(
    write: Write, tmp_path: Path, register: Callable[..., None]
) -> None:
    write("topics.xml", TOPICS)
    with pytest.raises(ToucheError, match="ir_datasets knows no 'args-me'"):
        ids(inputs.find(tmp_path, corpus="args-me"))
    register("touche-test", queries_tsv=write("queries.tsv", "1\tone\n"))
    with pytest.raises(ToucheError, match="'touche-test' of ir_datasets has no documents"):
        ids(inputs.find(tmp_path, corpus="touche-test"))


def test_a_corpus_that_cannot_be_read_is_an_error(
    write: Write, tmp_path: Path, register: Callable[..., None]
) -> None:
    write("topics.xml", TOPICS)
    register("touche-test", docs_tsv=tmp_path / "nowhere.tsv")
    with pytest.raises(ToucheError, match=r"cannot read 'touche-test' \(FileNotFoundError: .*\); see https"):
        ids(inputs.find(tmp_path, corpus="touche-test"))


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
    expected = Argument("S1-A1", "c", ("p q",), "CON")
    assert inputs.document_of_ir_dataset(record) == expected
    assert expected.text == record.default_text()
    processed = ArgsMeProcessedDoc(*record, sentences=[ArgsMeSentence("S1-A1__CONC__1", "c")])
    assert inputs.document_of_ir_dataset(processed).sentences == (Sentence("S1-A1__CONC__1", "c"),)  # type: ignore[union-attr]


def test_web_pages_of_ir_datasets_are_still_to_be_parsed() -> None:
    """The record class of ir_datasets for ClueWeb12."""
    from ir_datasets.formats import WarcDoc

    record = WarcDoc(
        "clueweb12-1", "http://a.example/b", "2012-02-10", b"HTTP/1.1 200 OK", b"<p>x", "text/html"
    )
    assert inputs.document_of_ir_dataset(record) == RawPage("clueweb12-1", "http://a.example/b", b"<p>x")
