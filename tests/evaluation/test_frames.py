import json
from pathlib import Path

import pytest

import touche as package
from conftest import ROOT, Touche, Write
from spotcheck import run_text
from touche.errors import ToucheError

TASK = "spot-check/passages"


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


def test_published_results_are_a_frame(touche: Touche) -> None:
    frame = package.published("touche-2022-task-1")
    records = json.loads(touche("tasks", "touche-2022-task-1", "--format", "json")[1])
    assert list(frame.columns) == list(records[0])
    assert len(frame) == len(records) == 123
    best = frame[frame.dimension == "coherence"].iloc[0]
    assert (best.team, best.value, best.low, best.high) == ("Daario Naharis", 0.458, 0.389, 0.525)
    assert len(package.published()) == 447
    assert list(package.published("touche-2021-task-1").columns) == list(frame.columns)


def test_what_puts_a_score_in_doubt_is_a_warning(write: Write) -> None:
    path = write("run.txt", run_text(strangers=2))
    with pytest.warns(UserWarning, match="t, relevance: 40.0% of the top 5 is unjudged"):
        frame = package.evaluate(str(path), TASK, "trec_eval")
    assert list(frame.evaluator) == ["trec_eval"]


def test_several_sources_are_one_cell_of_csv_and_no_results_have_a_header(touche: Touche) -> None:
    assert (
        '"Task page (https://touche.webis.de/clef20/touche20-web/argument-retrieval-for-comparative-'
        "questions.html); Overview of Touché 2020 "
        in touche("tasks", "touche-2020-task-2", "--format", "csv")[1]
    )
    assert touche("tasks", "spot-check/pages", "--format", "csv")[1].startswith(
        "task,dimension,measure,team,run,tag,"
    )


def test_an_unknown_evaluator_is_an_error(runs: list[Path]) -> None:
    with pytest.raises(ToucheError, match="no evaluator 'both' here; choose among trec_eval, touche"):
        package.compare(runs, TASK, "both")
    with pytest.raises(ToucheError, match="no evaluator 'ndcg' here"):
        package.evaluate(runs, TASK, "ndcg")


def test_without_pandas_the_error_says_what_to_install(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ToucheError, match=rf"get it with: pip install --editable '{ROOT}\[analysis\]'"):
        package.evaluate(runs, TASK)
