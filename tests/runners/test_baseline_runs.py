"""Runs on topics and documents in the forms that Python users have."""

import re
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest

import touche as package
from conftest import Touche, Write
from touche.errors import ToucheError
from touche.runners.limits import RUNNER_NAMES, Limits
from touche.tira import outputs, provenance
from touche.trec.runs import read_run

TASK = "spot-check/arguments"
TEXTS = {"d1": "Coal is cheap, but dirty.", "d2": "Wind is clean.", "d3": "Coal and wind"}
QUERIES = {"1": "Is coal cheap?", "2": "clean wind"}
COLUMNS = {"qid": "query_id", "query": "text", "docno": "doc_id"}  # PyTerrier's, and those of ir_datasets


Query = namedtuple("Query", "query_id text")
Doc = namedtuple("Doc", "doc_id text")


def topics_frame() -> pandas.DataFrame:
    return pandas.DataFrame({"qid": QUERIES.keys(), "query": QUERIES.values()})


def documents_frame() -> pandas.DataFrame:
    return pandas.DataFrame({"docno": TEXTS.keys(), "text": TEXTS.values()})


FORMS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "PyTerrier": (topics_frame, documents_frame),
    "ir_datasets": (
        lambda: pandas.DataFrame([Query(*pair) for pair in QUERIES.items()]),
        lambda: (Doc(*pair) for pair in TEXTS.items()),
    ),
    "frames of ir_datasets": (
        lambda: topics_frame().rename(columns=COLUMNS),
        lambda: documents_frame().rename(columns=COLUMNS),
    ),
    "dictionaries": (
        lambda: QUERIES,
        lambda: iter([{"id": id, "contents": text} for id, text in TEXTS.items()]),
    ),
    "pairs": (lambda: QUERIES, lambda: iter(TEXTS.items())),
    "records of touche": (
        lambda: [package.Topic(*pair) for pair in QUERIES.items()],
        lambda: (package.Document(*pair) for pair in TEXTS.items()),
    ),
    "frames of other libraries": (
        lambda: SimpleNamespace(to_pandas=topics_frame),
        lambda: SimpleNamespace(to_pandas=documents_frame),
    ),
    "numbers as ids": (lambda: {int(number): title for number, title in QUERIES.items()}, lambda: TEXTS),
}


@pytest.mark.parametrize("form", FORMS)
def test_topics_and_documents_have_any_form(form: str) -> None:
    topics, documents = FORMS[form]
    run = package.run("bm25", topics=topics(), documents=documents())
    assert run == package.run("bm25", topics=QUERIES, documents=TEXTS)
    assert {(hit.topic, hit.document) for hit in run} == {
        ("1", "d1"),
        ("1", "d3"),
        ("2", "d2"),
        ("2", "d3"),
    }


@pytest.mark.parametrize("dataset", [TASK, "spot-check/pages", "spot-check/passages"])
def test_the_data_of_a_task_gives_the_run_of_its_dataset(dataset: str) -> None:
    """Topics and documents also survive a frame: arguments and pages stay what they are."""
    data = package.task(dataset)
    expected = package.run("bm25", dataset)
    assert package.run("bm25", topics=data.topics, documents=data.documents).text() == expected.text()
    frames = {"topics": data.topics.frame(), "documents": data.documents.frame()}
    assert package.run("bm25", **frames).text() == expected.text()


def test_a_topic_without_hits_is_a_warning_also_if_there_are_no_others(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="bm25: nothing found for topic 1"):
        assert len(package.run("bm25", topics={"1": "nuclear"}, documents=TEXTS)) == 0
    with pytest.warns(package.ToucheWarning) as caught:
        written = package.write_run("bm25", None, tmp_path, topics={"1": "nuclear"}, documents=TEXTS)
    assert [str(warning.message) for warning in caught] == [f"bm25: {text}" for text in written.warnings]
    topics = write(
        "input/topics.xml", "<topics><topic><number>1</number><title>nuclear</title></topic></topics>"
    )
    write("input/documents.jsonl", '{"docno": "d1", "text": "Coal is cheap."}\n')
    _, out, err = touche("run", "bm25", "-i", topics.parent, "-o", tmp_path / "out")
    assert (out + err).count("nothing found for topic 1") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": QUERIES}, "or both `topics` and `documents`"),
        ({"documents": TEXTS}, "or both `topics` and `documents`"),
        ({"dataset": TASK, "topics": QUERIES, "documents": TEXTS}, "or both `topics` and `documents`"),
        ({}, "dataset = None"),
        ({"topics": {}, "documents": TEXTS}, "topics: no topics"),
        ({"topics": QUERIES, "documents": []}, "documents: no documents"),
        ({"topics": QUERIES, "documents": [{"docno": "d1"}]}, "documents:1: the record has no text"),
        ({"topics": QUERIES, "documents": [{"text": "Coal"}]}, "documents:1: the record has no docno"),
        ({"topics": QUERIES, "documents": [("d1", 5)]}, "documents:1: 5 is not a text"),
        ({"topics": QUERIES, "documents": [("d 1", "a")]}, "documents:1: document 'd 1' is empty, too long"),
        ({"topics": QUERIES, "documents": [("d", "a"), ("d", "b")]}, "documents:2: document 'd' occurs a"),
        ({"topics": [package.Topic("1", "a")] * 2, "documents": TEXTS}, "topics:2: topic '1' occurs a"),
        ({"topics": 5, "documents": TEXTS}, "topics: 5 is not a list of topics; pass a path, "),
        ({"topics": QUERIES, "documents": [5]}, "documents:1: 5 has no fields"),
        ({"topics": topics_frame().assign(query=None), "documents": TEXTS}, "topics:1: None is not a text"),
    ],
)
def test_unusable_topics_and_documents_are_an_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToucheError, match=message):
        package.run("bm25", **arguments)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"conclusion": None, "premises": "p"}, "Object missing required field `conclusion`; pass texts"),
        ({"conclusion": "c", "premises": float("nan")}, "Object missing required field `premises`; pass"),
        ({"conclusion": "c", "premises": ["p", 5]}, "premises[1]: Expected `str`, got `int`; pass texts"),
        ({"conclusion": "c", "premises": {"p": "p"}}, "premises: Expected `array`, got `object`; pass texts"),
        ({"conclusion": "c", "premises": [], "sentences": ["s"]}, "sentences[0]: Expected `object`, got"),
        ({"headings": None, "body": 5}, "body: Expected `str | null`, got `int`; pass texts"),
    ],
)
def test_values_of_arguments_and_pages_have_their_types(record: dict[str, Any], message: str) -> None:
    with pytest.raises(ToucheError, match=re.escape(f"documents:1: {message}")):
        package.run("bm25", topics=QUERIES, documents=[{"docno": "d1"} | record])


def test_cells_without_a_value_are_missing_in_arguments_and_pages() -> None:
    argument = {"docno": "d1", "conclusion": "coal", "premises": "p", "stance": float("nan"), "page": None}
    page = {"docno": "d2", "headings": "", "body": "coal", "title": float("nan")}
    found = package.run("bm25", topics={"1": "coal"}, documents=[argument, page])
    assert {*found.documents} == {"d1", "d2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"topics": QUERIES},
            "the dataset spot-check/arguments has its own topics; pass `topics` and `documents`",
        ),
        ({"topics": QUERIES, "runner": "docker"}, "has its own topics"),
        ({"dataset": "s3a://bucket/corpus"}, "only Spark opens addresses"),
        ({"limits": Limits(cpus=2)}, "`limits` has no effect on the runner local; omit it"),
        ({"runner": "spark"}, f"there is no runner 'spark'; choose among {', '.join(RUNNER_NAMES)}"),
        ({"statistics": "all.json", "runner": "docker"}, "have no effect on the runner docker; omit them"),
        ({"runner": "dokcer"}, "there is no runner 'dokcer'; did you mean docker"),
    ],
)
def test_arguments_without_effect_are_refused(
    arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ToucheError, match=message):
        package.write_run("bm25", **{"dataset": TASK, "output": tmp_path / "out"} | arguments)
    assert not (tmp_path / "out").exists()


def test_a_function_has_no_image(tmp_path: Path) -> None:
    @package.baseline
    def mine(topics: package.Topics, documents: package.Documents, *, boost: float = 1) -> package.Rankings:
        yield from ((topic, [("d1", boost)]) for topic in topics)

    assert package.run(mine, topics=QUERIES, documents=TEXTS, boost=2.5).scores.tolist() == [2.5, 2.5]
    with pytest.raises(ToucheError, match="mine is a function without an image"):
        package.write_run(mine, TASK, tmp_path, runner="docker")


def test_the_run_that_is_returned_is_that_of_its_file_and_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_files = package.run("bm25-images", "spot-check/images", output=tmp_path)
    assert with_files == read_run(tmp_path / "run.txt") and str(with_files.path) == with_files.tag
    assert (tmp_path / "ir-metadata.yml").exists()
    monkeypatch.delattr(outputs, "write_whole")
    monkeypatch.delattr(provenance, "metadata")
    assert package.run("bm25-images", "spot-check/images") == with_files
