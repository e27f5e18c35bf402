"""Each command prints the records that its function returns, in every format."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import touche as library
from conftest import Touche, Write
from spotcheck import run_text
from touche.cli.output import FORMATS, MARKUP

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore")  # the runs are small, and lack stances


@dataclass(frozen=True)
class Printed:
    """A command, and the call of the library whose result it prints.

    Attributes:
        command: the words of the command, with A and B for the files of two runs and OUT for a new folder.
        call: calls the function with both files.
        attributes: attributes of the records that the printed table shows.
        wide: calls ``touche.wide`` if the command prints its table in Markdown, LaTeX and HTML.
        records: returns the printed records of a result.
    """

    command: str
    call: Callable[[Sequence[Path]], Any]
    attributes: tuple[str, ...]
    wide: Callable[[Sequence[Path]], Any] | None = None
    records: Callable[[Any], Iterable[Any]] = iter


PATHS = {
    "evaluate": Printed(
        f"evaluate A B --task {TASK}",
        lambda runs: library.evaluate(runs, TASK),
        ("name", "label", "mean", "topics"),
        lambda runs: library.wide(runs, TASK),
    ),
    "evaluate with qrels": Printed(
        "evaluate A B --qrels QRELS --measure AP --evaluator trec_eval",
        lambda runs: library.evaluate(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
        ("name", "dimension", "evaluator", "mean", "low", "high", "topics"),
        lambda runs: library.wide(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
    ),
    "compare": Printed(
        f"compare A B --task {TASK} --measure nDCG@5",
        lambda runs: library.compare(runs, TASK, measure="nDCG@5"),
        ("run_a", "run_b", "mean_a", "mean_b", "difference", "won", "topics"),
        lambda runs: library.wide(runs, TASK, "trec_eval", measure="nDCG@5", every_two=True),
    ),
    "overlap": Printed(
        "overlap A B",
        library.overlap,
        ("run_a", "run_b", "topics", "overlap_5", "overlap_100", "tau", "rbo"),
    ),
    "overlap with a task": Printed(
        f"overlap A B --task {TASK}",
        lambda runs: library.overlap(runs, TASK),
        ("run_a", "dimension", "mean_a", "mean_b", "rmse", "p_t_test"),
    ),
    "lint": Printed(
        f"lint A B --task {TASK}",
        lambda runs: library.lint(runs, TASK),
        ("run", "severity", "message", "remedy", "code"),
    ),
    "fuse": Printed(
        f"fuse A B -o OUT --tune two-fold --task {TASK}",
        lambda runs: library.fuse(runs, tune="two-fold", task=TASK),
        ("folds", "topics", "mean"),
        records=lambda fused: fused.tuning.cross_validation.choices,
    ),
}
ROWS_PER_TOPIC = {  # commands that also print topic scores
    "evaluate": ("name", "topic", "value", "title"),
    "compare": ("run_a", "topic", "difference", "value_a", "title"),
}


def qrels_beside(runs: Sequence[Path]) -> Path:
    return runs[0].with_name("relevance.qrels")


@pytest.fixture
def runs(write: Write) -> list[Path]:
    """Two runs; one lacks topics, and has a document that is not in the collection."""
    qrels = library.task(TASK).qrels["relevance"]
    qrels.write(qrels_beside([write("a.txt", run_text(tag="a_1"))]))
    return [write("a.txt", run_text(tag="a_1")), write("b.txt", run_text(["11", "12"], tag="b", strangers=1))]


def typed(command: str, runs: Sequence[Path]) -> list[str]:
    files = {"A": runs[0], "B": runs[1], "QRELS": qrels_beside(runs), "OUT": runs[0].with_name("out")}
    return [str(files.get(word, word)) for word in command.split()]


def test_all_formats_are_tested() -> None:
    assert set(FORMATS) == {"table", "csv", "json", "markdown", "latex", "html"}


@pytest.mark.parametrize("name", PATHS)
def test_json_and_csv_have_the_columns_of_the_frame(touche: Touche, runs: list[Path], name: str) -> None:
    path = PATHS[name]
    rows = [as_row(record) for record in path.records(path.call(runs))]
    assert rows
    out = touche(*typed(path.command, runs), "--format", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(rows))
    printed = [*csv.DictReader(io.StringIO(touche(*typed(path.command, runs), "--format", "csv")[1]))]
    assert printed == [{column: as_cell(value) for column, value in row.items()} for row in rows]


@pytest.mark.parametrize("style", ["table", *MARKUP])
@pytest.mark.parametrize("name", PATHS)
def test_tables_have_a_row_for_each_record(touche: Touche, runs: list[Path], name: str, style: str) -> None:
    path = PATHS[name]
    code, out, err = touche(*typed(path.command, runs), "--format", style)
    assert code in (0, 1), err
    if style in MARKUP and path.wide:
        assert out == f"{getattr(path.wide(runs), style)()}\n"
        return
    printed = rows_of(out, style)
    for record in path.records(path.call(runs)):
        wanted = [shown(getattr(record, attribute)) for attribute in path.attributes]
        assert any(all(cell in row for cell in wanted) for row in printed), (wanted, printed)


@pytest.mark.parametrize("name", ROWS_PER_TOPIC)
def test_topics_are_those_of_the_function(touche: Touche, runs: list[Path], name: str) -> None:
    function = getattr(library, name)
    records = function(runs, TASK, per_topic=True)
    out = touche(name, *runs, "--task", TASK, "--per-topic", "--format", "json")[1]
    assert json.loads(out) == records.rows
    printed = touche(name, *runs, "--task", TASK, "--per-topic")[1].splitlines()
    for record in records:
        wanted = [shown(getattr(record, attribute)) for attribute in ROWS_PER_TOPIC[name]]
        assert any(all(cell in line for cell in wanted) for line in printed), wanted


@pytest.mark.parametrize("name", PATHS)
def test_warnings_and_notes_are_those_of_the_result(touche: Touche, runs: list[Path], name: str) -> None:
    path = PATHS[name]
    result = path.call(runs)
    _, out, err = touche(*typed(path.command, runs))
    said = [line.removeprefix("warning: ") for line in err.splitlines() if line.startswith("warning: ")]
    assert said == [*result.warnings]
    for note in getattr(result, "notes", ()) if not isinstance(result, library.Run) else ():
        assert note in (out + err).replace("note: ", "")


def test_a_fused_run_is_written_by_the_function_as_by_the_command(touche: Touche, runs: list[Path]) -> None:
    touche(*typed("fuse A B -o OUT --method combsum --weights 0.7,0.3", runs))
    folder = runs[0].with_name("python")
    fused = library.fuse(runs, "combsum", weights=[0.7, 0.3], output=folder, team="Mine")
    written = runs[0].with_name("out")
    assert fused.text() == (folder / "run.txt").read_text() == (written / "run.txt").read_text()
    metadata = (folder / "ir-metadata.yml").read_text()
    assert "cmd: touche.fuse" in metadata and "team: Mine" in metadata
    same = re.compile(r"^ +(start time|stop time|wallclock|cmd): .*\n|^actor:\n.*\n", re.M)
    assert same.sub("", metadata) == same.sub("", (written / "ir-metadata.yml").read_text())


@pytest.mark.parametrize("command", ["evaluate - -", "overlap - -", "lint - - --task spot-check/passages"])
def test_standard_input_is_one_run(touche: Touche, command: str) -> None:
    assert touche(*command.split())[2].splitlines()[-1].startswith("touche: -: standard input, passed twice")


def as_row(record: Any) -> dict[str, Any]:
    return library.Table(type(record), (record,)).rows[0]


def as_cell(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def shown(value: Any) -> str:
    """Returns a value as tables show it."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "–" if value is None else str(value)


def rows_of(out: str, style: str) -> list[str]:
    """Returns the rows of printed tables without their markup."""
    if style == "html":
        tree = ET.fromstring(f"<div>{out}</div>")
        return [" ".join("".join(cell.itertext()) for cell in row) for row in tree.iter("tr")]
    unescaped = re.sub(r"\\([^a-zA-Z\\])", r"\1", out) if style in ("markdown", "latex") else out
    if style == "latex":
        unescaped = unescaped.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">").replace("--", "–")
    return unescaped.splitlines()
