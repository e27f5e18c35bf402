"""What one function returns, every other function takes, in each form in which Python passes it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import touche
from touche.errors import ToucheError
from touche.trec.run_forms import read_runs

TASK = "spot-check/arguments"
pytestmark = pytest.mark.filterwarnings("ignore")  # some runs have equal tags

SOURCES: dict[str, Callable[[], Any]] = {  # functions that return runs
    "run": lambda: touche.run("bm25", TASK, depth=20),
    "fuse": lambda: touche.fuse([touche.run("dph", TASK, depth=9), touche.run("tfidf", TASK, depth=9)]),
}
RUN_FORMS: dict[str, Callable[[touche.Run, Path], Any]] = {
    "Run": lambda run, folder: run,
    "pyterrier": lambda run, folder: run.frame(),
    "ir_measures": lambda run, folder: run.frame("ir_measures"),
    "dictionary": lambda run, folder: run.as_dict(),
    "frame of records": lambda run, folder: pandas.DataFrame(run.scored_docs()),
    "path": lambda run, folder: written(run, folder),
    "text": lambda run, folder: str(written(run, folder)),
}
QRELS_FORMS: dict[str, Callable[[touche.Qrels, Path], Any]] = {
    "Qrels": lambda qrels, folder: qrels,
    "pyterrier": lambda qrels, folder: qrels.frame(),
    "ir_measures": lambda qrels, folder: qrels.frame("ir_measures"),
    "dictionary": lambda qrels, folder: {topic: dict(grades) for topic, grades in qrels.items()},
    "frame of records": lambda qrels, folder: pandas.DataFrame(qrels.records()),
    "path": lambda qrels, folder: qrels.write(folder / "judged.qrels"),
}
TAKES_RUNS: dict[str, Callable[[Any, Any, Path], Any]] = {  # with a second run
    "evaluate": lambda run, other, folder: [score.mean for score in touche.evaluate(run, TASK)],
    "evaluate several": lambda run, other, folder: [row.mean for row in touche.evaluate([run, other], TASK)],
    "evaluate by name": lambda run, other, folder: [
        (score.name, score.mean) for score in touche.evaluate({"mine": run, "theirs": other}, TASK)
    ],
    "compare": lambda run, other, folder: [row.difference for row in touche.compare([run, other], TASK)],
    "compare by name": lambda run, other, folder: [
        (row.run_a, row.run_b, row.difference)
        for row in touche.compare({"mine": run, "theirs": other}, TASK, reference="theirs")
    ],
    "compare with it": lambda run, other, folder: [
        row.difference for row in touche.compare([other, run], TASK, reference=run)
    ],
    "wide": lambda run, other, folder: [
        [score.value for score in row.scores.values()] for row in touche.wide([run, other], TASK)
    ],
    "overlap": lambda run, other, folder: touche.overlap([run, other])[0].rbo,
    "overlap by name": lambda run, other, folder: touche.overlap({"mine": run, "theirs": other})[0],
    "fuse": lambda run, other, folder: touche.fuse([run, other]).as_dict(),
    "fuse by name": lambda run, other, folder: touche.fuse({"mine": run, "theirs": other}).as_dict(),
    "lint": lambda run, other, folder: [row.code for row in touche.lint(run, TASK)],
    "lint by name": lambda run, other, folder: [
        (row.run, row.line) for row in touche.lint({"mine": run, "theirs": other}, "spot-check/passages")
    ],
    "overlap with a baseline": lambda run, other, folder: (
        touche.overlap([other, run], TASK, baseline=(run, other))[0].effect_ratio
    ),
    "run_of": lambda run, other, folder: touche.run_of(run).as_dict(),
}
TAKES_QRELS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "evaluate": lambda qrels, run, other: [
        score.mean for score in touche.evaluate(run, qrels=qrels, measure="AP")
    ],
    "compare": lambda qrels, run, other: [
        row.difference for row in touche.compare([run, other], qrels=qrels, measure="AP")
    ],
    "wide": lambda qrels, run, other: [
        score.value for row in touche.wide(run, qrels=qrels, measure="AP") for score in row.scores.values()
    ],
    "sweep": lambda qrels, run, other: (
        touche.sweep("bm25", TASK, {"k1": [1.2]}, qrels=qrels, measure="AP").frame()["mean"].tolist()
    ),
    "qrels_of": lambda qrels, run, other: touche.qrels_of(qrels),
}
TOPIC_FORMS: dict[str, Callable[[touche.TaskData], Any]] = {
    "topics": lambda data: data.topics,
    "pyterrier": lambda data: data.topics.frame(),
    "ir_measures": lambda data: data.topics.frame("ir_measures"),
    "dictionary": lambda data: {topic.number: topic.title for topic in data.topics},
    "list": lambda data: [*data.topics],
}
DOCUMENT_FORMS: dict[str, Callable[[touche.TaskData], Any]] = {
    "Documents": lambda data: data.documents,
    "frame": lambda data: data.documents.frame(),
    "list": lambda data: [*data.documents],
    "iterator": lambda data: iter(data.documents),
}
TAKES_INPUT: dict[str, Callable[[Any, Any, Path], touche.Run]] = {
    "run": lambda topics, documents, folder: touche.run("bm25", topics=topics, documents=documents, depth=20),
    "write_run": lambda topics, documents, folder: touche.run_of(
        touche.write_run("bm25", None, folder, topics=topics, documents=documents, options={"depth": 20})
    ),
}


def written(run: touche.Run, folder: Path) -> Path:
    run.write(folder / "a run.txt")
    return folder / "a run.txt"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """The runs that the functions return, and a run to compare with them."""
    return {name: make() for name, make in SOURCES.items()} | {"other": touche.run("dirichletlm", TASK)}


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], Any]:
    """What functions return for the run itself, by the function that made it and the one that takes it."""
    return {}


@pytest.mark.parametrize("form", RUN_FORMS)
@pytest.mark.parametrize("taker", TAKES_RUNS)
@pytest.mark.parametrize("source", SOURCES)
def test_each_function_takes_the_runs_of_each_other(
    results: dict[str, Any],
    expected: dict[tuple[str, str], Any],
    tmp_path: Path,
    source: str,
    taker: str,
    form: str,
) -> None:
    run = results[source]
    other = results["other"]
    take = TAKES_RUNS[taker]
    if (source, taker) not in expected:
        expected[source, taker] = take(run, other, tmp_path)
    assert same(take(RUN_FORMS[form](run, tmp_path), other, tmp_path), expected[source, taker])


@pytest.mark.parametrize("documents", DOCUMENT_FORMS)
@pytest.mark.parametrize("topics", TOPIC_FORMS)
@pytest.mark.parametrize("taker", TAKES_INPUT)
def test_each_function_takes_the_topics_and_documents_of_a_task(
    results: dict[str, Any], tmp_path: Path, taker: str, topics: str, documents: str
) -> None:
    data = touche.task(TASK)
    source = TOPIC_FORMS[topics](data), DOCUMENT_FORMS[documents](data)
    assert TAKES_INPUT[taker](*source, tmp_path).as_dict() == results["run"].as_dict()


@pytest.mark.parametrize("form", RUN_FORMS)
def test_a_report_takes_runs_and_qrels_in_each_form(
    results: dict[str, Any], tmp_path: Path, form: str
) -> None:
    qrels = touche.task(TASK).qrels["relevance"]
    judged = QRELS_FORMS[form](qrels, tmp_path) if form in QRELS_FORMS else None
    run = RUN_FORMS[form](results["run"], tmp_path)
    assert touche.report(run, TASK, output=tmp_path / "page", qrels=judged).is_file()


@pytest.mark.parametrize("form", QRELS_FORMS)
@pytest.mark.parametrize("taker", TAKES_QRELS)
def test_each_function_takes_the_qrels_of_a_task(
    results: dict[str, Any], tmp_path: Path, taker: str, form: str
) -> None:
    qrels = touche.task(TASK).qrels["relevance"]
    runs = results["run"], results["other"]
    assert same(
        TAKES_QRELS[taker](QRELS_FORMS[form](qrels, tmp_path), *runs), TAKES_QRELS[taker](qrels, *runs)
    )


def same(one: Any, other: Any) -> bool:
    """Returns whether results are equal; the scores of fusions in another order of topics are close."""
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-6)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


SCORES = {"1": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        (SCORES, ["run"]),
        ({"mine": SCORES}, ["mine"]),
        ({"mine": SCORES, "their run": touche.run_of(SCORES)}, ["mine", "their run"]),
        ({1: pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})}, ["1"]),
        ([pandas.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})], ["run"]),
        (
            [pandas.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}), SCORES],
            ["run", "run (2)"],
        ),
    ],
)
def test_a_dictionary_is_a_run_or_runs_by_name(runs: Any, names: list[str]) -> None:
    assert [str(run.path) for run in read_runs(runs)] == names  # type: ignore[union-attr]


def test_names_of_runs_may_have_blanks(tmp_path: Path) -> None:
    frames = [touche.run(name, TASK).frame() for name in ("bm25", "dph")]
    runs = dict(zip(("my run", "their other run"), frames, strict=True))
    assert {row.run for row in touche.evaluate(runs, TASK)} == {*runs}
    (row,) = touche.compare(runs, TASK, reference="my run")
    assert (row.run_a, row.run_b) == ("their other run", "my run")
    assert [row.run for row in touche.wide(runs, TASK)] == [*runs]
    (row,) = touche.overlap(runs)
    assert (row.run_a, row.run_b) == tuple(runs)
    assert {(row.code, row.run) for row in touche.lint(runs, TASK)} == {("blank-in-tag", run) for run in runs}
    fused = touche.fuse(runs, output=tmp_path / "fused")
    assert touche.run_of(tmp_path / "fused" / "run.txt").as_dict().keys() == fused.as_dict().keys()
    metadata = (tmp_path / "fused" / "ir-metadata.yml").read_text(encoding="utf-8")
    page = touche.report(runs, TASK, output=tmp_path / "page").read_text(encoding="utf-8")
    assert all(f"    {run}:\n" in metadata and run in page for run in runs)


def test_named_files_have_the_name_everywhere(tmp_path: Path) -> None:
    path = written(touche.run("bm25", TASK), tmp_path)
    (score,) = touche.evaluate({"mine": path}, TASK, "trec_eval")
    assert (score.run, score.tag, score.name) == ("mine", "mine", "mine")
    path.write_text("1 Q0 a 1 1.0 t\n1 Q0\n")
    assert {(row.run, row.line) for row in touche.lint({"mine": path}, TASK) if row.code == "columns"} == {
        ("mine", 2)
    }
    with pytest.raises(ToucheError, match=r"a run\.txt:2"):
        touche.evaluate({"mine": path}, TASK)


def test_significant_is_a_boolean_in_every_row() -> None:
    runs = touche.run("bm25", "spot-check/passages"), touche.run("stance-lexicon", "spot-check/passages")
    table = touche.compare(runs, "spot-check/passages")
    assert {row.dimension for row in table} >= {"relevance", "stance"}
    frame = table.frame()
    assert frame["significant"].dtype == bool and len(frame[frame["significant"]]) < len(frame)
