"""Conversion of datasets to the format of BEIR: the files that are written, and what is left of an error."""

import json
from pathlib import Path

import pytest

from conftest import Touche, Write
from touche import tasks
from touche.containers.runs import input_directory
from touche.data.convert import write_beir
from touche.data.judgments import topic_titles
from touche.documents.discovery import find
from touche.errors import ToucheError
from touche.trec.qrels import read_qrels

TASK = "touche-2022-task-2"
PASSAGES = [
    {"id": "a", "contents": "tea", "chatNoirUrl": ""},
    {"id": "b", "contents": "milk", "chatNoirUrl": ""},
]


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path) -> str:
    """The sample of a task with three dimensions, with topics and documents but without qrels."""
    task, corpus = tasks.dataset(f"{TASK}/sample")
    topic = "<topic><number>1</number><title>t</title></topic>"
    write(f"data/topics/{task.topics}", f"<topics>{topic}</topics>")
    lines = "".join(f"{json.dumps(passage)}\n" for passage in PASSAGES)
    write(f"data/corpora/{corpus.directory}/{corpus.files[0] if corpus.files else 'passages.jsonl'}", lines)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    return f"{TASK}/sample"


def test_another_dimension_is_not_the_test_file(
    dataset: str, touche: Touche, write: Write, tmp_path: Path
) -> None:
    qrels = tasks.task(TASK).qrels
    write(f"data/qrels/{qrels['quality'].file}", "1 0 a 2\n")
    write(f"data/qrels/{qrels['stance'].file}", "1 0 a FIRST\n")
    code, _, err = touche("data", "convert", dataset, "-o", tmp_path / "beir")
    assert code == 0
    assert [path.name for path in (tmp_path / "beir" / "qrels").iterdir()] == ["quality.tsv"]
    assert f"test.tsv is not written: qrels/{qrels['relevance'].file} is missing" in err
    assert "stance.tsv is not written" in err
    write(f"data/qrels/{qrels['relevance'].file}", "1 0 b 1\n")
    write_beir(dataset, tmp_path / "all")
    judged = {path.stem: read_qrels(path) for path in (tmp_path / "all" / "qrels").iterdir()}
    assert judged == {"test": {"1": {"b": 1}}, "quality": {"1": {"a": 2}}}


def test_an_aborted_conversion_leaves_nothing(dataset: str, write: Write, tmp_path: Path) -> None:
    (corpus,) = (tmp_path / "data" / "corpora").glob("*/*")
    complete = corpus.read_text()
    target = tmp_path / "out" / "beir"
    corpus.write_text(complete + "{\n")
    with pytest.raises(ToucheError, match="JSON"):
        write_beir(dataset, target)
    assert not target.parent.exists()
    corpus.write_text(complete)
    target.mkdir(parents=True)  # an empty folder is as good as a new one
    (tmp_path / "link").symlink_to(target)
    assert {path.name for path in write_beir(dataset, tmp_path / "link")} == {"queries.jsonl", "corpus.jsonl"}
    assert len((target / "corpus.jsonl").read_text().splitlines()) == len(PASSAGES)
    assert list(target.parent.iterdir()) == [target]


def test_a_data_set_of_beir_is_an_input_of_containers_and_has_titles(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "beir-webis-touche2020-v2"
    corpus = tmp_path / "data" / "corpora" / name
    assert touche("data", "convert", "spot-check/arguments", "-o", corpus)[0] == 0
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    topics = find(corpus).topics
    with input_directory(name) as folder:
        assert find(folder).topics == topics and topics
        assert len([*folder.glob("queries.jsonl*")]) == 1
    assert topic_titles(tasks.task(name)) == {topic.number: topic.title for topic in topics}
