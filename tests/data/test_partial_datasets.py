"""Datasets of some topics are made from a publisher's file or the whole corpus."""

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_fetching import Publisher, home, publisher

from conftest import Touche, Write
from random_examples import given, st
from touche import Argument, tasks
from touche.data import remedies, sources
from touche.data.datasets import open_dataset
from touche.data.partial_datasets import read_judged_arguments, write_judged
from touche.data.publishers import sources_in
from touche.documents.argsme import _java_hash, is_altered
from touche.errors import InputError
from touche.trec.qrels import Qrels

__all__ = ["home", "publisher"]

DATASET = "own/two-topics"
CARD = """
id = "own"
title = "Own"
url = "https://example.org"
topics = "own.xml"
[qrels.relevance]
file = "own-relevance.qrels"
[qrels.quality]
file = "own-quality.qrels"
[corpora.full]
directory = "own"
[corpora.two-topics]
directory = "own-two-topics"
topics = ["1", "3"]
[rules]
unit = "argument"
"""
TOPICS = "".join(f"<topic><number>{n}</number><title>question {n}</title></topic>" for n in "123")
CONCLUSIONS = {"first": "Cats", "second": "Dogs", "third": "Birds\nor \U0001f426"}
HEADER = "q_id doc_id rel qual query concl prem stance query_clean query_clean_lem".split()


def checked(premise: str, conclusion: str) -> str:
    """The id of a text, computed character by character as Java does."""

    def java(text: str) -> int:
        raw = text.encode("utf-16-be")
        total = 0
        for column in range(0, len(raw), 2):
            total = (31 * total + int.from_bytes(raw[column : column + 2], "big")) % 2**32
        return total

    return f"S1-A{(31 * java(premise) + java(conclusion)) % 2**32:x}"


IDS = {word: checked(f"The {word} premise.", conclusion) for word, conclusion in CONCLUSIONS.items()}
JUDGED = [("1", "first", 2, 1), ("1", "second", 0, 2), ("2", "second", 1, 1), ("3", "third", -2, 0)]
ROWS = [
    [
        topic,
        IDS[word],
        str(grade),
        str(quality),
        "q",
        CONCLUSIONS[word],
        f"The {word} premise.",
        "PRO",
        "q",
        "q",
    ]
    for topic, word, grade, quality in JUDGED
    if topic != "2"
]


def table(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows([HEADER, *rows])
    return text.getvalue()


@pytest.fixture
def data(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The card, topics and qrels of a task with three topics."""
    folder = write("data/tasks/own.toml", CARD).parents[1]
    write("data/topics/own.xml", f"<topics>{TOPICS}</topics>")
    for name, column in (("relevance", 2), ("quality", 3)):
        lines = [f"{row[0]} 0 {IDS[row[1]]} {row[column]}\n" for row in JUDGED]
        write(f"data/qrels/own-{name}.qrels", "".join(lines))
    monkeypatch.setenv("TOUCHE_DATA", str(folder))
    return folder


@given(st.text(max_size=300))
def test_the_hash_is_that_of_java(text: str) -> None:
    assert f"S1-A{_java_hash(text):x}" == checked("", text)


def test_hashes_known_from_java() -> None:
    assert [_java_hash(text) for text in ("", "a", "hello", "\U0001f426")] == [
        0,
        97,
        99162322,
        55357 * 31 + 56358,
    ]
    assert not is_altered(Argument(IDS["first"], "Cats", ("The first premise.",)))
    assert is_altered(Argument(IDS["first"], "Cats", ("The first  premise.",)))
    assert is_altered(Argument(IDS["first"], "Cat", ("The first premise.",)))
    assert not is_altered(Argument("c67482ba-2019-04-18T13:32:05Z-00000-000", "Cats", ("x",)))


def published(monkeypatch: pytest.MonkeyPatch, content: str, address: str, md5: str = "") -> None:
    """Makes the server publish the dataset, by default with the md5 of its content."""
    digest = md5 or hashlib.md5(content.encode()).hexdigest()
    source = {"dataset": DATASET, "url": f"{address}/table.tsv", "md5": digest, "size": 1000}
    record = {"title": "t", "url": "https://example.org", "licence": "none stated"}
    record["files"] = {"corpora/own-two-topics": source}  # type: ignore[assignment]
    monkeypatch.setattr(Publisher, "content", content.encode())
    for module in (remedies, sources):
        monkeypatch.setattr(module, "all_sources", lambda: [*sources_in(record)])


def test_a_dataset_is_fetched_with_its_topics_and_judged_documents(
    data: Path, home: Path, publisher: str, monkeypatch: pytest.MonkeyPatch, touche: Touche
) -> None:
    published(monkeypatch, table([*ROWS, ROWS[0]]), publisher)
    code, out, err = touche("data", "fetch", DATASET)
    assert (code, out) == (0, "corpora/own-two-topics: fetched (3 judged documents from table.tsv)\n")
    assert "1 file, 1 of them to fetch (1 kB)" in err and "licence: none stated" in err
    source = open_dataset(DATASET)
    assert [(topic.number, topic.title) for topic in source.topics] == [
        ("1", "question 1"),
        ("3", "question 3"),
    ]
    arguments = {document.id: document for document in source.documents}
    assert arguments.keys() == set(IDS.values())
    assert arguments[IDS["third"]].conclusion == CONCLUSIONS["third"]
    assert not list((home / "downloads").iterdir())
    assert tasks.task(DATASET).only_topics == ("1", "3")
    code, out, _ = touche("data", "fetch", DATASET)
    assert code == 0 and "available" in out


WHOLE = table(ROWS)
BROKEN = {  # the published table, and what is wrong with it
    "columns": (WHOLE.replace("concl", "conclusion", 1), "other columns than q_id, doc_id"),
    "grade": (
        WHOLE.replace("\t2\t1\t", "\t1\t1\t", 1),
        f"relevance of {IDS['first']} for topic 1 is 1, but 2",
    ),
    "text": (
        WHOLE.replace("premise.", "premise. ", 1),
        f"the text of argument {IDS['first']} does not match the",
    ),
    "missing": (table(ROWS[:-1]), "1 of 3 judged documents are missing"),
    "unjudged": (WHOLE.replace("\n1\t", "\n7\t", 1), "for topic 7 is 2, but None in the qrels"),
}


@pytest.mark.parametrize("name", [*BROKEN, "md5"])
def test_what_contradicts_is_refused_and_leaves_nothing(
    data: Path, home: Path, publisher: str, monkeypatch: pytest.MonkeyPatch, touche: Touche, name: str
) -> None:
    content, problem = BROKEN.get(name, (WHOLE, "its md5 is"))
    published(monkeypatch, content, publisher, md5="" if name in BROKEN else 32 * "0")
    code, _, err = touche("data", "fetch", DATASET)
    assert code == 2 and problem in err and "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1
    assert not (home / "corpora").exists() or not list((home / "corpora").iterdir())


def test_the_line_of_a_broken_row_is_named(write: Write) -> None:
    judged = {"relevance": Qrels({"1": {IDS["first"]: 2}}), "quality": Qrels({"1": {IDS["first"]: 0}})}
    path = write("table.tsv", table(ROWS))
    with pytest.raises(InputError, match=r"table.tsv.*2: quality of .* is 1, but 0 in the qrels"):
        list(read_judged_arguments(path, judged))


@given(content=st.text(max_size=200))
def test_any_table_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = tmp_path_factory.mktemp("table") / "a.tsv"
    path.write_text(table([]) + content, encoding="utf-8", errors="surrogatepass", newline="")
    empty = {"relevance": Qrels(), "quality": Qrels()}
    with pytest.raises(InputError):
        list(read_judged_arguments(path, empty))
        raise InputError(path, "nothing was read", "")


@pytest.fixture
def whole(data: Path, write: Write) -> Path:
    """The whole corpus, with an argument that is not judged and one whose text was altered."""
    arguments: list[dict[str, Any]] = [
        {"id": id, "conclusion": CONCLUSIONS[word], "premises": [{"text": f"The {word} premise."}]}
        for word, id in IDS.items()
    ]
    arguments.append({"id": "S2-A2", "conclusion": "Other", "premises": [{"text": "other"}]})
    arguments[1]["premises"][0]["text"] = "The second, altered premise."
    return write("data/corpora/own/args-me.json", json.dumps({"arguments": arguments}))


def test_the_whole_corpus_needs_no_download_and_altered_texts_are_named(
    whole: Path, home: Path, publisher: str, monkeypatch: pytest.MonkeyPatch, touche: Touche
) -> None:
    published(monkeypatch, table(ROWS), publisher)
    code, out, err = touche("data", "fetch", DATASET)
    assert (code, out) == (0, "corpora/own-two-topics: fetched (3 judged documents from own)\n")
    assert f"the text of {IDS['second']} does not match the checksum in its id" in err
    assert Publisher.asked == [] and "none of them to fetch" in err
    assert {document.id for document in open_dataset(DATASET).documents} == set(IDS.values())


def test_verify_names_file_and_id_of_each_altered_text(
    write: Write, monkeypatch: pytest.MonkeyPatch, touche: Touche, tmp_path: Path
) -> None:
    arguments = [
        {"id": id, "conclusion": CONCLUSIONS[word], "premises": [{"text": f"The {word} premise."}]}
        for word, id in IDS.items()
    ]
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    path = "data/corpora/argsme-2020-04-01-sample/args-me.json"
    write(path, json.dumps({"arguments": arguments}))
    write("data/topics/touche-2021-task-1.xml", f"<topics>{TOPICS}</topics>")
    available = [
        source for source in sources.official(["touche-2021-task-1/sample"]) if sources.find_source(source)
    ]
    monkeypatch.setattr("touche.data.official.sources_of", lambda ids: available)  # missing files also fail
    code, out, _ = touche("data", "verify", "touche-2021-task-1/sample")
    assert code == 0 and "does not match" not in out
    arguments[2]["premises"] = [{"text": "The third  premise."}]
    write(path, json.dumps({"arguments": arguments}))
    code, out, _ = touche("data", "verify", "touche-2021-task-1/sample")
    assert code == 1
    assert f"{tmp_path / path}: the text of {IDS['third']} does not match the checksum in its id\n" in out


def test_a_mirror_with_the_folder_is_copied(
    data: Path, home: Path, write: Write, monkeypatch: pytest.MonkeyPatch, touche: Touche, publisher: str
) -> None:
    published(monkeypatch, table(ROWS), publisher)
    lines = [
        json.dumps({"_id": id, "title": CONCLUSIONS[word], "text": f"The {word} premise."})
        for word, id in IDS.items()
    ]
    line = "\n".join(lines)
    mirror = write("mirror/corpora/own-two-topics/corpus.jsonl", line).parents[2]
    code, _, _ = touche("data", "fetch", DATASET, "--from", mirror)
    assert code == 0 and (home / "corpora" / "own-two-topics" / "corpus.jsonl").read_text() == line
    assert Publisher.asked == []
    shutil.rmtree(home / "corpora")
    (home / "corpora" / "own-two-topics").mkdir(parents=True)  # an empty folder has no dataset
    write("mirror/corpora/own-two-topics/corpus.jsonl", "\n".join(lines[1:]))
    code, _, err = touche("data", "fetch", DATASET, "--from", mirror)
    assert code == 2 and f"1 of 3 judged documents are missing, such as {IDS['first']}; " in err
    assert not list((home / "corpora" / "own-two-topics").iterdir())
    write("mirror/corpora/own-two-topics/corpus.jsonl", line.replace("premise", "promise"))
    code, _, err = touche("data", "fetch", DATASET, "--from", mirror)
    assert code == 2 and f"the text of {IDS['first']} does not match the checksum in its id" in err
    assert not list((home / "corpora" / "own-two-topics").iterdir())


def test_passages_are_taken_from_the_published_collection(data: Path, write: Write, tmp_path: Path) -> None:
    card = CARD.replace('unit = "argument"', 'unit = "passage"')
    write("data/tasks/own.toml", card)
    tasks._read_once.cache_clear()
    lines = [json.dumps({"id": id, "contents": word}) for word, id in [*IDS.items(), ("other", "p9")]]
    source = write("passages.jsonl.gz", "\n".join(lines) + "\n")
    assert write_judged(DATASET, source, data, tmp_path / "made") == 3
    assert len((tmp_path / "made" / "corpus.jsonl").read_text().splitlines()) == 3
    assert replace(tasks.task(DATASET), only_topics=(), corpus="full") == tasks.task("own")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Cards of tests share their paths."""
    tasks._read_once.cache_clear()
    yield
    tasks._read_once.cache_clear()
