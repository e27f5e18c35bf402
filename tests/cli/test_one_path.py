"""Each command prints the records that its function returns, in every format."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import touche as library
from conftest import Touche, Write
from printed import rows_of
from spotcheck import run_text
from touche.cli.output import MARKUP

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore")  # the runs are small, and lack stances


@dataclass(frozen=True)
class Printed:
    """A command, and the call of the library whose result it prints.

    Attributes:
        command: the words of the command, with A and B for the files of two runs and OUT for a new folder.
        call: calls the function with both files.
        rows: templates of the cells of a record, of which one is printed.
        wide: calls ``touche.wide`` if the command prints its table in Markdown, LaTeX and HTML.
        records: returns the printed records of a result.
        in_lines: whether the command prints lines instead of a table, unless another format is chosen.
        is_silent: whether the command prints nothing, unless another format is chosen.
    """

    command: str
    call: Callable[[Sequence[Path]], Any]
    rows: tuple[str, ...]
    wide: Callable[[Sequence[Path]], Any] | None = None
    records: Callable[[Any], Iterable[Any]] = iter
    in_lines: bool = False
    is_silent: bool = False


SCORE = "{name}|{label}|{evaluator}|{mean:.3f}|{low:.3f} to {high:.3f}|{judged:.2f}|{topics}"
STANCE = "{name}|stance|{mean:.3f}|{low:.3f} to {high:.3f}|{results}|{topics}"
TEST = (
    "{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{difference:+.3f}|{low:+.3f} to {high:+.3f}"
    "|{effect_size:+.2f}|{p_t_test:.4f}|{p_t_test_holm:.4f}|{detectable:.3f}|{won}, {lost}, {tied}|{topics}"
)
STANCE_TEST = (
    "{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{difference:+.3f}|{low:+.3f} to {high:+.3f}"
    "|{results}|{topics}"
)
AGREEMENT = "{run_a}|{run_b}|{topics}|{overlap_5:.3f}|{overlap_100:.3f}|{tau:.3f}|{tau_union:.3f}|{rbo:.3f}"
PATHS = {
    "evaluate": Printed(
        command=f"evaluate A B --task {TASK}",
        call=lambda runs: library.evaluate(runs, TASK),
        rows=(SCORE, STANCE),
        wide=lambda runs: library.wide(runs, TASK),
    ),
    "evaluate with qrels": Printed(
        command="evaluate A B --qrels QRELS --measure AP --evaluator trec_eval",
        call=lambda runs: library.evaluate(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
        rows=(SCORE,),
        wide=lambda runs: library.wide(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
    ),
    "evaluate each topic": Printed(
        f"evaluate A B --task {TASK} --per-topic",
        lambda runs: library.evaluate(runs, TASK, per_topic=True),
        ("{name}|{label}|{evaluator}|{topic}|{value:.3f}|{judged:.2f}|{title}",),
    ),
    "compare": Printed(
        command=f"compare A B --task {TASK}",
        call=lambda runs: library.compare(runs, TASK),
        rows=(TEST, TEST.replace("{p_t_test_holm:.4f}", "{p_t_test_holm:.4f} *"), STANCE_TEST),
        wide=lambda runs: library.wide(runs, TASK, "trec_eval", every_two=True),
    ),
    "compare each topic": Printed(
        f"compare A B --task {TASK} --per-topic",
        lambda runs: library.compare(runs, TASK, per_topic=True),
        ("{run_a}|{run_b}|{dimension}|{topic}|{difference:+.3f}|{value_a:.3f}|{value_b:.3f}|{title}",),
    ),
    "overlap": Printed("overlap A B", library.overlap, (AGREEMENT,)),
    "overlap with a task": Printed(
        f"overlap A B --task {TASK}",
        lambda runs: library.overlap(runs, TASK),
        ("{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{rmse:.3f}|{p_t_test:.4f}",),
    ),
    "lint": Printed(
        f"lint A B --task {TASK}",
        lambda runs: library.lint(runs, TASK),
        ("{run}|{line}|{severity}|{message}|{remedy}|{code}",),
        in_lines=True,
    ),
    "fuse": Printed(
        command="fuse A B -o OUT",
        call=library.fuse,
        rows=("{topic}|{stance}|{document}|{rank}|{score:.6f}|{tag}",),
        is_silent=True,
    ),
    "fuse with tuning": Printed(
        f"fuse A B -o OUT --tune two-fold --task {TASK}",
        lambda runs: library.fuse(runs, tune="two-fold", task=TASK),
        ("{choice[0]},{choice[1]}|{folds}|{topics}|{mean:.3f}",),
        records=lambda fused: fused.tuning.cross_validation.choices,
    ),
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
    if style in MARKUP and path.wide:
        assert (code, out) == (0, f"{getattr(path.wide(runs), style)()}\n")
        return
    if style in MARKUP and "--per-topic" in path.command:
        assert code == 2 and "latex, markdown and html" in err
        return
    assert code in (0, 1), err
    if style == "table" and path.in_lines:
        for record in path.records(path.call(runs)):
            assert all(text in out for text in (record.run, record.message, record.remedy, record.code))
        return
    if style == "table" and path.is_silent:
        assert out == ""
        return
    printed = rows_of(out, style)
    for record in path.records(path.call(runs)):
        rows = [cells for template in path.rows if (cells := cells_of(record, template))]
        assert rows and any(row in printed for row in rows), (rows, printed)


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


def as_row(record: Any) -> dict[str, Any]:
    return library.Table(type(record), (record,)).rows[0]


def as_cell(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


class Dashes(Formatter):
    """Formats None as tables show it."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "–" if value is None else format(value, format_spec)


def cells_of(record: Any, template: str) -> list[str]:
    """Returns the cells of a record; none if it has other attributes than the template."""
    attributes = {name: getattr(record, name) for name in dir(record) if not name.startswith("_")}
    try:
        return [Dashes().vformat(cell, (), attributes) for cell in template.split("|")]
    except KeyError:
        return []
