import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

import touche as package
from conftest import ROOT, Touche, Write
from spotcheck import run_text
from touche.errors import ToucheError
from touche.trec.runs import read_run

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore:.*and count as wrong")  # runs without stances


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """Two runs."""
    return [write("a.txt", run_text(tag="a")), write("b.txt", run_text(["11", "12"], tag="b"))]


@pytest.mark.parametrize("options", [[], ["--per-topic"]])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_frames_hold_what_the_json_holds(
    touche: Touche, runs: list[Path], command: str, options: list[str]
) -> None:
    _, out, _ = touche(command, *runs, "--task", TASK, *options, "--format", "json")
    frame = getattr(package, command)(runs, TASK, per_topic=bool(options))
    records = json.loads(out)
    assert list(frame.columns) == list(records[0])
    assert json.loads(frame.to_json(orient="records")) == [
        {name: pytest.approx(value, nan_ok=True) for name, value in record.items()} for record in records
    ]


def test_what_puts_a_score_in_doubt_is_a_warning(write: Write) -> None:
    path = write("run.txt", run_text(strangers=2))
    with pytest.warns(UserWarning, match="t, relevance: less than 90% of the top 5 is judged"):
        frame = package.evaluate(str(path), TASK, "trec_eval", measure="nDCG@5")
    assert list(frame.evaluator) == ["trec_eval"]


def test_an_unknown_evaluator_is_an_error(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="no evaluator 'both'"):
        package.compare(runs, TASK, "both")
    with pytest.raises(ToucheError, match="no evaluator 'ndcg'"):
        package.evaluate(runs, TASK, "ndcg")


def test_a_baseline_runs_into_a_frame_that_is_its_run(touche: Touche, tmp_path: Path) -> None:
    touche("run", "bm25", "-i", TASK, "-o", tmp_path, "--k1", "1.2", "--depth", "7")
    frame = package.run("bm25", TASK, k1=1.2, depth=7)
    lines = [line.split() for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert list(frame.columns) == ["qid", "docno", "rank", "score", "stance"]
    assert frame.values.tolist() == [
        [topic, document, int(rank) - 1, float(score), stance]
        for topic, stance, document, rank, score, _ in lines
    ]
    assert frame.attrs == {"tag": lines[0][-1]} and frame["rank"].min() == 0  # PyTerrier's format


def test_a_function_runs_on_a_folder_and_says_what_it_did_not_find(write: Write) -> None:
    @package.baseline
    def mine(topics: Any, documents: Any, *, weight: float = 1.0) -> package.Rankings:
        yield topics[0], [(document.id, weight * len(document.text)) for document in documents]

    write("in/queries.jsonl", '{"qid": "1", "query": "a"}\n{"qid": "2", "query": "b"}\n')
    documents = '{"docno": "d1", "text": "a"}\n{"docno": "d2", "text": "aa"}\n'
    folder = write("in/documents.jsonl", documents).parent
    with pytest.warns(UserWarning, match="mine: nothing found for topic 2: b"):
        frame = package.run(mine, folder, weight=2)
    assert frame.values.tolist() == [["1", "d2", 0, 4.0], ["1", "d1", 1, 2.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k2": 1}, "no option 'k2'"),
        ({"k1": "high"}, "k1 = 'high'"),
        ({"depth": True}, "depth = True"),
        ({"depth": 0}, "choose a number from 1 to 1000"),
    ],
)
def test_options_that_there_are_not_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ToucheError, match=message):
        package.run("bm25", TASK, **options)


def test_frames_are_scored_as_their_files_are(runs: list[Path]) -> None:
    read = [read_run(path).frame() for path in runs]
    of_files = package.evaluate(runs, TASK).drop(columns="run")
    assert package.evaluate(read, TASK).drop(columns="run").equals(of_files)
    of_ir_measures = read[0].rename(columns={"qid": "query_id", "docno": "doc_id"}).drop(columns="rank")
    assert package.evaluate([of_ir_measures, runs[1]], TASK).drop(columns="run").equals(of_files)
    assert package.compare([read[0], read[0].copy()], TASK, measure="nDCG@5")["run_b"].tolist() == ["a (2)"]
    tagged = [read_run(runs[0]).called(tag).frame() for tag in ("a", "a (2)", "a", "./a")]
    scores = package.evaluate(tagged, TASK, "trec_eval", measure="nDCG@5")
    assert scores["run"].tolist() == ["a", "a (2)", "a (3)", "a (4)"]
    assert scores["tag"].tolist() == ["a", "a (2)", "a", "./a"]
    frame = package.run("bm25", TASK, depth=20)
    turned = frame.assign(rank=20 - frame["rank"])  # the script uses ranks
    assert package.evaluate(turned, TASK, measure="nDCG@5")["mean"].nunique() == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": float("nan")}, "a:1: score nan is not a finite"),
        ({"score": "1.5"}, "a:1: score '1.5' is not a finite"),
        ({"rank": -1}, "a:1: rank -1 is not a whole number"),
        ({"docno": "d"}, "a:2: document 'd' occurs a second time for topic 11"),
        ({"docno": "doc 3"}, "a:1: docno 'doc 3' is not an id"),
        ({"qid": 11.0}, "a:1: qid 11.0 is not an id"),
        ({"doc_id": "d"}, "a has 2 columns 'docno'"),
    ],
)
def test_odd_frames_are_refused(runs: list[Path], change: dict[str, Any], message: str) -> None:
    frame = read_run(runs[0]).frame()
    with pytest.raises(ToucheError, match=message):
        package.evaluate(frame.assign(**change), TASK)
    with pytest.raises(ToucheError, match="a has no column 'docno'"):
        package.evaluate(frame.drop(columns="docno"), TASK)


def test_measure_judgments_and_pairs_are_those_of_the_command(touche: Touche, runs: list[Path]) -> None:
    qrels = ROOT / "qrels" / "spot-check-passages-relevance.qrels"
    out = touche("evaluate", *runs, "--measure", "P@3", "--qrels", qrels, "--format", "json")[1]
    assert package.evaluate(runs, measure="P@3", qrels=qrels).to_dict("records") == json.loads(out)
    assert set(package.compare(runs, TASK, measure=ir_measures.P @ 3)["measure"]) == {"P@3"}
    for task, pairs, message in (
        (None, "exact", "neither task nor qrels"),
        (TASK, "any-order", "does not rank pairs"),
        (TASK, "any", "'any'"),
    ):
        with pytest.raises(ToucheError, match=message):
            package.evaluate(runs, task, pairs=pairs)


def test_without_pandas_the_error_says_what_to_install(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ToucheError, match=rf"get it with: pip install --editable '{ROOT}\[analysis\]'"):
        package.evaluate(runs, TASK).frame()
