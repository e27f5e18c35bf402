"""Runs and qrels in every form: each becomes each other one, and what cannot be one is refused."""

import io
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest

import touche
from conftest import Write
from random_examples import example, given, settings, st
from touche import scan
from touche.documents.document_records import Document
from touche.errors import ToucheError
from touche.io.identifiers import as_id
from touche.trec.columns import Run
from touche.trec.qrels import Qrels, read_qrels, read_stances
from touche.trec.run_forms import qrels_of, read_runs, run_of, run_sources
from touche.trec.runs import ranking
from touche.trec.topic_forms import topics_in
from touche.trec.topics import Topic

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)
SCORES = st.sampled_from([0.1, 0.1 + 2e-9, 3.0, -2.5, 1e-30, 16777217.0]) | st.floats(
    width=32, allow_nan=False, allow_infinity=False
)
RUNS = st.dictionaries(WORDS, st.dictionaries(WORDS, SCORES, min_size=1, max_size=4), min_size=1, max_size=3)
QRELS = st.dictionaries(
    WORDS, st.dictionaries(WORDS, st.integers(-2, 9), min_size=1, max_size=4), min_size=1, max_size=3
)


def written(run: Run, folder: Path) -> Path:
    run.write(folder / "run.txt")
    return folder / "run.txt"


FORMS: dict[str, Callable[[Run, Path], Any]] = {
    "path": written,
    "pyterrier": lambda run, folder: run.frame(),
    "without ranks": lambda run, folder: run.frame().drop(columns="rank"),
    "ir_measures": lambda run, folder: run.frame("ir_measures"),
    "dict": lambda run, folder: run.as_dict(),
    "frame of records": lambda run, folder: pandas.DataFrame(run.scored_docs()),
    "run": lambda run, folder: run,
}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=8)
@given(RUNS)
def test_a_run_of_any_form_becomes_any_other_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, form: str, scores: dict[str, dict[str, float]]
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    original = run_of(scores)
    source = run_of(FORMS[form](original, folder))
    for other in FORMS:
        for run in (source, run_of(FORMS[other](source, folder)), run_of(FORMS[form](source, folder))):
            assert run.as_dict() == scores
            assert run.documents_of(run.by_rank) == original.documents_of(original.by_score)


def test_ranks_survive_in_files_and_in_frames_of_pyterrier(write: Write) -> None:
    path = write("run.txt", "1 Q0 a 7 1.0 tag\n1 Q0 b 3 2.0 tag\n2 Q0 a 9 5 tag\n1 Q0 c 3 9.5 tag\n")
    run = run_of(path)
    assert run.documents_of(run.by_rank) == {"1": ["b", "c", "a"], "2": ["a"]}
    again = run_of(run.frame())
    assert again.documents_of(again.by_rank) == run.documents_of(run.by_rank)
    assert run.frame().values.tolist() == [
        ["1", "b", 0, 2.0],
        ["1", "c", 1, 9.5],
        ["1", "a", 2, 1.0],
        ["2", "a", 0, 5.0],
    ]
    run.write(path.with_name("again.txt"))
    assert run_of(path.with_name("again.txt")) == run
    derived = run_of(run.as_dict())
    assert derived.ranks.tolist() == [2, 1, 3, 1] and derived.tag == "run"


def test_stances_survive_in_frames(write: Write) -> None:
    path = write("run.txt", "1 PRO a 1 2.0 tag\n1 Q0 b 2 1.0 tag\n2 con a 1 5 tag\n")
    run = run_of(path)
    for names in ("pyterrier", "ir_measures"):
        again = run_of(run.frame(names))  # type: ignore[arg-type]
        assert list(again.stances) == ["PRO", "Q0", "con"] and again.as_dict() == run.as_dict()
    assert "stance" not in run_of(run.as_dict()).frame()
    frame = run.frame().assign(stance=["PRO", None, ""])
    assert list(run_of(frame).stances) == ["PRO", "Q0", "Q0"]
    with pytest.raises(ToucheError, match="tag:2: stance 'a b' is not an id"):
        run_of(frame.assign(stance=["PRO", "a b", math.nan]))


ROWS = {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.5, 2.0], "rank": [1, 0], "stance": ["PRO", None]}


class OtherFrame:
    """A frame of another library, such as polars: its columns are not those of pandas."""

    columns = ()

    def __init__(self, rows: dict[str, list[Any]]) -> None:
        self.rows = rows

    def to_pandas(self) -> pandas.DataFrame:
        return pandas.DataFrame(self.rows)


def test_frames_of_other_libraries_are_runs_and_qrels() -> None:
    run = run_of(OtherFrame(ROWS))
    assert run.documents_of(run.by_rank) == {"1": ["b", "a"]}
    assert [(line.document, line.stance) for line in run] == [("b", "Q0"), ("a", "PRO")]  # by rank
    assert run.as_dict() == {"1": {"b": 2.0, "a": 1.5}}
    assert qrels_of(OtherFrame({"query_id": [1], "doc_id": ["a"], "relevance": [2]})) == {"1": {"a": 2}}
    assert len(read_runs(OtherFrame(ROWS))) == 1
    with pytest.raises(ToucheError, match="run has no column 'docno'; it needs qid, docno, score"):
        run_of(OtherFrame({"qid": ["1"], "score": [1.0]}))


def test_a_frame_without_rows_is_refused() -> None:
    lazy = SimpleNamespace(columns=["qid", "docno", "score"], collect=None)  # as of Spark
    with pytest.raises(ToucheError, match=r"is not a run; pass a path, a Run, a frame with the columns"):
        run_of(lazy)


NO_IDS: list[Any] = ["a 0 b 1\n1", "a\n", "", "a b", "\x1b[31m", "\ud800", 5]


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        *(({id: {"a": 1}}, "topic .* is not an id") for id in NO_IDS),
        *(({"1": {id: 1}}, "document .* is not an id") for id in NO_IDS),
        ({"1": {"a": 1.5}}, "is not a whole number"),
    ],
)
def test_qrels_are_written_only_if_they_can_be_read_again(tmp_path: Path, labels: Any, problem: str) -> None:
    with pytest.raises(ToucheError, match=problem):
        Qrels(labels).write(tmp_path / "qrels.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("second", "is_merged"), [("2", True), ("1", False)])
def test_qrels_with_subtopics_are_merged_with_a_warning(
    write: Write, caplog: pytest.LogCaptureFixture, second: str, is_merged: bool
) -> None:
    path = write("q.qrels", f"1 1 a 1\n1 {second} a 1\n1 1 b 0\n")
    assert read_qrels(path) == {"1": {"a": 1, "b": 0}}
    assert (f"{path}: subtopics in column 2 are ignored; a document's" in caplog.text) == is_merged
    path = write("s.qrels", f"1 1 a PRO\n1 {second} a PRO\n")
    assert read_stances(path, ["CON", "PRO"]) == {"1": {"a": 1}}
    assert (f"{path}: subtopics in column 2 are ignored; a document's" in caplog.text) == is_merged


@pytest.mark.parametrize("collect", [deque, tuple, list])
def test_several_runs_come_in_any_sequence(collect: Callable[[Any], Any]) -> None:
    assert len(read_runs(collect([{"1": {"a": 1.0}}, {"1": {"b": 1.0}}]))) == 2


def test_ids_stay_texts_and_whole_numbers_become_texts() -> None:
    frame = pandas.DataFrame({"qid": [1, 1], "docno": ["007", 12], "score": np.float32([2, 1])})
    run = run_of(frame)
    assert run.as_dict() == {"1": {"007": 2.0, "12": 1.0}}
    assert qrels_of(pandas.DataFrame({"qid": ["01"], "docno": ["007"], "label": [2.0]})) == {"01": {"007": 2}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "the run is empty"),
        ([], "is not a run; pass a path"),
        ("no-such-file.txt", "cannot be read"),
        (b"1 Q0 a 1 1 t", r"is not a run; pass a path as os\.fsdecode\(path\)"),
        (
            5,
            "run: 5 is not a run; pass a path, a Run, a frame with the columns qid, docno and score, or",
        ),
        (None, "None is not a run; pass a path"),
        ({"1": ["a"]}, r"topic '1' has \['a'\]; write {topic: {document: score}}"),
        ({"1": {"a": True}}, "run:1: score True is not a finite number"),
        ({"1": {"a": "2"}}, "run:1: score '2' is not"),
        ({"1": {"a": 1e39}}, "run:1: score 1e[+]39 is not"),
        ({"1": {"a": math.nan}}, "run:1: score nan is not"),
        ({"1": {"a": 10**400}}, "run:1: score 10{59} ... is not"),
        ({"1": {"a b": 1.0}}, "run:1: docno 'a b' is not an id"),
        ({1.5: {"a": 1.0}}, "run:1: qid 1.5 is not an id; use a text"),
        ({2.0**53: {"a": 1.0}}, "is not an id"),
        ({True: {"a": 1.0}}, "run:1: qid True is not an id"),
        ({"1": {"a": 1.0, 7: 2.0, "7": 3.0}}, "run:3: document '7' occurs a second time for topic 1"),
        (
            [["1", "a", 1.0]],
            "is not a run; pass a path, a Run, a frame with the columns qid, docno",
        ),
        (pandas.DataFrame({"qid": ["1"], "docno": ["a"]}), "run has no column 'score'"),
        (
            pandas.DataFrame({"qid": ["1"], "docno": ["a"], "doc_id": ["a"], "score": [1.0]}),
            "2 columns 'docno'",
        ),
        (pandas.DataFrame({"qid": ["1"], "docno": [None], "score": [1.0]}), "docno .* is not an id"),
        (
            pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0], "rank": [0.5]}),
            "rank 0.5 is not a whole",
        ),
        (
            pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0], "rank": [10**19]}),
            "rank 1.* is not a wh",
        ),
    ],
)
def test_what_cannot_be_a_run_is_refused(source: Any, message: str) -> None:
    with pytest.raises(ToucheError, match=message):
        run_of(source)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2"]) | st.integers(1, 2) | st.floats(1, 2),
            st.text(max_size=3) | st.integers(-9, 9**20) | st.floats(),
            st.integers(-1, 9),
            st.floats() | st.integers(-(10**40), 10**40) | st.booleans() | st.text(max_size=2),
        ),
        min_size=1,
        max_size=4,
    )
)
@example([("1", "doc 3 0 9 x", 0, 1.0)])
@example([("1", "a", 0, 10**400)])
def test_a_frame_becomes_the_same_run_or_is_refused(rows: list[tuple[Any, ...]]) -> None:
    frame = pandas.DataFrame(rows, columns=["qid", "docno", "rank", "score"], dtype=object)
    try:
        run = run_of(frame)
    except ToucheError:
        return
    first = 1 if any(rank == 0 for _, _, rank, _ in rows) else 0  # ranks of files start at 1
    assert [(line.topic, line.document, line.rank, line.score) for line in run] == [
        (as_id(qid), as_id(docno), rank + first, float(score)) for qid, docno, rank, score in rows
    ]
    assert all(len(f"{line.topic} {line.document}".split()) == 2 for line in run)


QREL_FORMS: dict[str, Callable[[Qrels], Any]] = {
    "pyterrier": lambda qrels: qrels.frame(),
    "ir_measures": lambda qrels: qrels.frame("ir_measures"),
    "frame of records": lambda qrels: pandas.DataFrame(qrels.records()),
    "dict": lambda qrels: {topic: dict(labels) for topic, labels in qrels.items()},
}


@settings(max_examples=20)
@given(QRELS)
def test_qrels_of_any_form_become_any_other(labels: dict[str, dict[str, int]]) -> None:
    for make in QREL_FORMS.values():
        for other in QREL_FORMS.values():
            assert qrels_of(other(qrels_of(make(qrels_of(labels))))) == labels


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "no judgments in it"),
        ({"1": {"a": 0.5}}, "label 0.5 is not a whole number up to 1,000;"),
        ({"1": {"a": 1001}}, "label 1001 is not"),
        ({"1": {"a": True}}, "label True is not"),
        ({"1": {1: 0, "1": 1}}, "qrels:2: document '1' of topic 1 has two grades"),
        (pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1]}), "no column 'label'"),
        (
            3,
            "qrels: 3 is not qrels; pass a path, Qrels, a frame with the columns qid, docno and label",
        ),
    ],
)
def test_what_cannot_be_qrels_is_refused(source: Any, message: str) -> None:
    with pytest.raises(ToucheError, match=message):
        qrels_of(source)


def test_several_runs_of_one_name_are_numbered() -> None:
    run = run_of({"1": {"a": 1.0}})
    assert [str(entry.path) for entry in read_runs([run.as_dict(), run.frame(), {"1": {"b": 2}}])] == [
        "run",
        "run (2)",
        "run (3)",
    ]
    assert len(read_runs(run)) == len(read_runs(run.as_dict())) == 1
    assert [source.path for source in run_sources(["a", Path("b")])] == [Path("a"), Path("b")]


IDS = {"\ue000": True, "ü": True, "x" * 1000: True, "x" * 1001: False}
IDS |= dict.fromkeys(("a\x1fb", "a\x85b", "a\u00a0b", "a\u200bb"), False)


READERS: dict[str, Callable[[Write, str, str], object]] = {
    "run, frame": lambda _, topic, document: run_of(
        pandas.DataFrame({"query_id": [topic], "doc_id": [document], "score": [2.0]})
    ),
    "run, dict": lambda _, topic, document: run_of({topic: {document: 2.0}}),
    "run, file": lambda write, topic, document: run_of(write("r", f"{topic} Q0 {document} 1 2.0 tag\n")),
    "qrels, dict": lambda _, topic, document: qrels_of({topic: {document: 1}}),
    "qrels, file": lambda write, topic, document: qrels_of(write("q", f"{topic} 0 {document} 1\n")),
    "qrels, written": lambda write, topic, document: Qrels({topic: {document: 1}}).write(write("q", "")),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("is_topic", [False, True])
def test_files_and_memory_accept_the_same_ids(write: Write, reader: str, id: str, is_topic: bool) -> None:
    topic, document = (id, "d") if is_topic else ("1", id)
    refused = pytest.raises(ToucheError, match=r"\A.*is not an id.*\Z")
    with nullcontext() if IDS[id] else refused:
        READERS[reader](write, topic, document)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query_id\tQ0\tdoc_id\trelevance\n1\t0\td1\t2\n", ":1: line 1 is a header; delete it"),
        ("topic iteration document relevancy\n1 0 d1 2\n", ":1: line 1 is a header; delete it"),
        (
            "query_id\tdoc_id\trelevance\n1\td1\t2\n",
            "line 1 is a header; replace it with: query-id corpus-id score",
        ),
        ("query-id,corpus-id,score\n1,d1,1\n", ":1: commas between the columns"),
        ("1 0 a 1\r1 0 b 0\r", ":1: a carriage return within the line"),
        (
            '{"query_id": "1", "doc_id": "a", "relevance": 1}\n',
            ":1: this is JSON; read it with pandas.read_json",
        ),
        ("1 0 a 1\n".encode("utf-16"), ":1: not UTF-8"),
        ("1 0 a 1\n".encode("utf-16-le"), ":1: a null character, as in UTF-16"),
    ],
)
def test_qrels_in_another_format_are_named(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(ToucheError, match=rf"\A.*q\.txt.*{message}.*\Z"):
        qrels_of(write("q.txt", content))


ROW = {
    "doc_id": ["a", "b"],
    "docno": ["a", "b"],
    "query": ["cats", "dogs"],
    "score": [2.0, 1.0],
    "label": [1, 0],
}


@pytest.mark.parametrize(
    ("read", "column"),
    [(run_of, "docno"), (qrels_of, "docno"), (topics_in, "query")],
    ids=["run", "qrels", "topics"],
)
def test_ids_that_pandas_made_floats_are_whole_numbers_again(read: Any, column: str) -> None:
    frame = pandas.DataFrame({"qid": [1.0, 2.0]} | {name: ROW[name] for name in (column, "score", "label")})
    result = read(frame)
    topics = [topic.number for topic in result] if read is topics_in else list(qrels_or_dict(result))
    assert topics == ["1", "2"]
    for gap in (math.nan, None, 1.5):
        with pytest.raises(
            ToucheError, match=r"qid .* is not an id; use a text without white space, or a whole"
        ):
            read(frame.assign(qid=[1.0, gap]))


def qrels_or_dict(result: Any) -> dict[str, Any]:
    return result.as_dict() if isinstance(result, Run) else result


def used_up(items: list[Any]) -> Iterator[Any]:
    iterator = iter(items)
    assert list(iterator) == items
    return iterator


TOPICS = [Topic("1", "cats"), Topic("2", "dogs")]
DOCUMENTS = [Document("a", "cats"), Document("b", "dogs")]
bm25 = partial(scan.rank, model=scan.bm25(k1=0.9, b=0.4), analysis="standard")


@pytest.mark.parametrize(
    "use",
    [
        lambda: touche.run("bm25", topics=TOPICS, documents=used_up(DOCUMENTS)),
        lambda: list(bm25(TOPICS, used_up(DOCUMENTS))),
        lambda: list(touche.load("bm25")(TOPICS, used_up(DOCUMENTS))),
    ],
)
def test_an_iterator_of_documents_that_is_used_up_is_an_error(use: Callable[[], Any]) -> None:
    with pytest.raises(ToucheError, match="an iterator can be read only once; make it a list"):
        use()


def test_an_iterator_of_documents_can_be_read_once() -> None:
    expected = list(bm25(TOPICS, DOCUMENTS))
    assert [hits for _, hits in expected] == [
        hits for _, hits in touche.load("bm25")(TOPICS, iter(DOCUMENTS))
    ]
    assert list(bm25(TOPICS, iter(DOCUMENTS))) == expected


OPEN_FILE = io.StringIO("1 Q0 a 1 1.0 tag")
QUERY = SimpleNamespace(query_id="1", text="cats")
RESULT = SimpleNamespace(query_id="1", doc_id="a", score=1.0, relevance=1)
PASS_PATH = r"is not .*; pass its path instead of an open file$"
PASS_FRAME = r"pass a frame of the records, such as pandas\.DataFrame\(records\), or a path$"
MAKE_FRAME = r"make a frame of its records, such as pandas\.DataFrame\(records\)"


@pytest.mark.parametrize(
    ("read", "source", "message"),
    [
        (run_of, OPEN_FILE, PASS_PATH),
        (run_of, [RESULT], PASS_FRAME),
        (run_of, iter([RESULT]), f"{MAKE_FRAME}, or a list of its runs$"),
        (read_runs, OPEN_FILE, PASS_PATH),
        (read_runs, [RESULT, RESULT], PASS_FRAME),
        (read_runs, [[RESULT]], PASS_FRAME),
        (read_runs, iter(["run.txt"]), f"{MAKE_FRAME}, or a list of its runs$"),
        (read_runs, {"mine": [RESULT]}, f"topic 'mine' has .*; {PASS_FRAME}"),
        (read_runs, {"mine": OPEN_FILE}, "topic 'mine' has .*; pass its path"),
        (read_runs, {"mine": iter([RESULT])}, f"topic 'mine' has .*; {MAKE_FRAME}"),
        (read_runs, {"mine": {"1": {"a": 1.0}}, "theirs": OPEN_FILE}, PASS_PATH),
        (qrels_of, OPEN_FILE, PASS_PATH),
        (qrels_of, [RESULT], PASS_FRAME),
        (qrels_of, iter([RESULT]), f"{MAKE_FRAME}$"),
        (topics_in, OPEN_FILE, PASS_PATH),
        (topics_in, [QUERY], PASS_FRAME),
        (topics_in, [{"qid": "1", "query": "cats"}], PASS_FRAME),
        (topics_in, iter([QUERY]), f"{MAKE_FRAME}, or a list of Topic$"),
        (
            topics_in,
            [("1", "cats")],
            r"pass a path, a list of Topic, \{number: title\}, or a frame with",
        ),
        (topics_in, TOPICS[0], "pass a path, a list of Topic"),
    ],
)
def test_the_error_for_another_form_names_the_form_to_pass(
    read: Callable[[Any], Any], source: Any, message: str
) -> None:
    with pytest.raises(ToucheError, match=message):
        read(source)


def test_a_frame_of_records_of_ir_datasets_is_topics() -> None:
    class Query(NamedTuple):
        query_id: str
        text: str
        description: str

    frame = pandas.DataFrame([Query("1", "cats", "A cat owner."), Query("2", "dogs", "")])
    assert topics_in(frame) == (Topic("1", "cats", description="A cat owner."), Topic("2", "dogs"))


@pytest.mark.parametrize("number", [Decimal("1.5"), np.array(1.5), np.float32(1.5)])
def test_numbers_of_other_libraries_are_scores(number: Any) -> None:
    assert run_of({"1": {"a": number}})[0].score == 1.5
    assert ranking([("a", number)]) == [("a", np.float32(1.5))]


@pytest.mark.parametrize("score", [Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), np.array([1.5]), True])
def test_other_values_are_no_scores(score: Any) -> None:
    with pytest.raises(ToucheError, match="is not a finite number"):
        run_of({"1": {"a": score}})


@pytest.mark.parametrize("grade", [0.5, True, float("nan"), "1", None, 1001])
def test_qrels_in_memory_have_whole_grades(grade: Any) -> None:
    for qrels in (Qrels({"1": {"a": grade}}), {"1": {"a": grade}}):
        with pytest.raises(ToucheError, match="whole number"):
            qrels_of(qrels)


@pytest.mark.parametrize("grade", [2.0, np.int64(2), Decimal(2), np.array(2)])
def test_whole_grades_of_other_types_become_integers(grade: Any) -> None:
    for qrels in (Qrels({"1": {"a b": grade}}), {"1": {"a": grade}}):
        assert [type(value) for value in qrels_of(qrels)["1"].values()] == [int]
