"""Each command prints the records that its function returns, in every format."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import touche as library
from conftest import Touche
from printed import rows_of
from spotcheck import run_text
from touche.io.formats import FORMATS

Runs = tuple[Path, Path]

TASK = "spot-check/passages"
TOY = "spot-check/arguments"
YEAR = "touche-2021-task-1"
CARDS = ["src/touche/tasks/touche-2020-task-1.toml", "no-such-card.toml"]
MARKUP = [name for name in FORMATS if name not in ("table", "csv", "json")]
STYLES = ("table", *MARKUP)
pytestmark = pytest.mark.filterwarnings("ignore")  # the runs are small, and lack stances


@dataclass(frozen=True)
class Case:
    """A command, the function whose result it prints, and what its tables show of each record.

    Attributes:
        command: the words of the command, with A and B for the files of two runs and OUT for a folder.
        call: calls the function with both files.
        rows: templates of the row of a record, of which one is printed: cells between bars, ^ and $ for the
            ends of the row, and dots for any text.
        lines: such templates for the style ``table``, if the command then prints lines.
        records: returns the records of a result.
        shown: returns the records that the tables show, if these are others.
        styles: the styles with ``rows``.
        varies: columns that differ from call to call.
    """

    command: str
    call: Callable[[Runs], Any]
    rows: tuple[str, ...]
    lines: tuple[str, ...] = ()
    records: Callable[[Any], Iterable[Any]] = iter
    shown: Callable[[Any], Iterable[Any]] | None = None
    styles: tuple[str, ...] = STYLES
    varies: frozenset[str] = frozenset()


SCORE = "^{name}|{label}|{evaluator}|{mean:.3f}|{low:.3f} to {high:.3f}|{judged:.2f}|{topics}$"
STANCE = "^{name}|stance|{mean:.3f}|{low:.3f} to {high:.3f}|{results}|{topics}$"
COMPARED = (
    "^{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{difference:+.3f}|{low:+.3f} to {high:+.3f}"
)
TESTED = "|{won}, {lost}, {tied}|{topics}$"
AGREEMENT = "{topics}|{overlap_5:.3f}|{overlap_100:.3f}|{tau:.3f}|{tau_union:.3f}|{rbo:.3f}$"
SETTING = "^{setting.swept[k1]}|{dimension}|{mean:.3f}...|{judged:.2f}$"
FINDING = "{severity}: {message}; {remedy} [{code}]"
SWEEP = f"sweep bm25 --k1 0.6,1.2 --task {TOY} -o OUT --overwrite --measure nDCG@5,AP"


def swept(cross_validation: str | None = None, output: Path | None = None) -> Any:
    options: dict[str, Any] = {"cross_validation": cross_validation, "output": output}
    return library.sweep("bm25", TOY, {"k1": [0.6, 1.2]}, measure=["nDCG@5", "AP"], **options)


def qrels_beside(runs: Runs) -> Path:
    return runs[0].with_name("relevance.qrels")


WIDE: dict[str, Callable[[Runs], Any]] = {
    f"evaluate A B --task {TASK}": lambda runs: library.wide(runs, TASK),
    "evaluate A B --qrels QRELS --measure AP --evaluator trec_eval": lambda runs: library.wide(
        runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)
    ),
    f"compare A B --task {TASK}": lambda runs: library.wide(runs, TASK, "trec_eval", every_two=True),
}
TOPIC_SCORE = "^{name}|{label}|{evaluator}|{topic}|{value:.3f}|{judged:.2f}|{title}$"
CASES = [
    Case(
        f"evaluate A B --task {TASK}",
        lambda runs: library.evaluate(runs, TASK),
        rows=(SCORE, STANCE, SCORE.replace("{evaluator}", "both")),
        styles=("table",),
    ),
    Case(
        "evaluate A B --qrels QRELS --measure AP --evaluator trec_eval",
        lambda runs: library.evaluate(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
        rows=(SCORE,),
        styles=("table",),
    ),
    Case(
        f"evaluate A B --task {TASK} --per-topic",
        lambda runs: library.evaluate(runs, TASK).per_topic,
        rows=(TOPIC_SCORE, TOPIC_SCORE.replace("{evaluator}", "both")),
        styles=("table",),
    ),
    Case(
        f"compare A B --task {TASK}",
        lambda runs: library.compare(runs, TASK),
        rows=(
            f"{COMPARED}|{{effect_size:+.2f}}|{{p_t_test:.4f}}|{{p_t_test_holm:.4f}}{TESTED}",
            f"{COMPARED}|{{effect_size:+.2f}}|{{p_t_test:.4f}}|{{p_t_test_holm:.4f}} *{TESTED}",
            f"{COMPARED}|{{results}}|{{topics}}$",
        ),
        styles=("table",),
    ),
    Case(
        f"compare A B --task {TASK} --per-topic",
        lambda runs: library.compare(runs, TASK).per_topic,
        rows=("^{run_a}|{run_b}|{dimension}|{topic}|{difference:+.3f}|{value_a:.3f}|{value_b:.3f}|{title}$",),
        styles=("table",),
    ),
    Case("overlap A B", library.overlap, rows=(f"^{{run_a}}|{{run_b}}|{AGREEMENT}",)),
    Case(
        f"overlap A B --task {TASK}",
        lambda runs: library.overlap(runs, TASK),
        rows=("^{run_a}|{run_b}|{dimension}|{mean_a:.3f}|{mean_b:.3f}|{rmse:.3f}|{p_t_test:.4f}$",),
    ),
    Case(
        f"lint A B --task {TASK}",
        lambda runs: library.lint(runs, TASK),
        rows=("^{run}|{line}|{severity}|{message}|{remedy}|{code}$",),
        lines=(f"^{{run}}:{{line}}: {FINDING}$", f"^{{run}}: {FINDING}$"),
    ),
    Case(
        "fuse A B -o OUT",
        library.fuse,
        rows=("^{topic}|{stance}|{document}|{rank}|{score:.6f}|{tag}$",),
        styles=(*MARKUP,),
    ),
    Case(SWEEP, lambda _: swept(), rows=(SETTING,), records=lambda sweep: sweep.scores),
    Case(
        f"{SWEEP} --cross-validation two-fold",
        lambda _: swept("two-fold"),
        rows=(SETTING,),
        records=lambda sweep: sweep.folds(),
        shown=lambda sweep: sweep.scores,
    ),
    Case(
        "tasks",
        lambda _: library.list_tasks(),
        rows=("^{id}|{title}|{unit}s|...|{published}$",),
    ),
    Case(
        "tasks --all",
        lambda _: library.published(),
        rows=(
            "^{rank}|...{row.name}|{row.tag}|{row.value:.3f}|",
            "^{row.team}|{row.tag}|{row.value:.3f}|{row.results}|",
        ),
    ),
    Case(
        f"tasks {YEAR}",
        lambda _: library.published(YEAR),
        rows=("^{rank}|...{row.name}|{row.tag}|{row.value:.3f}|",),
        shown=lambda results: [row for row in results if row.is_shortlisted],
    ),
    Case(
        "tasks touche-2021-task-2 --per-topic --all",
        lambda _: library.published_topics("touche-2021-task-2"),
        rows=("^{row.name}|{row.tag}|{row.dimension}|{topic}|{value:.3f}|{row.measure}",),
    ),
    Case(
        f"tasks {YEAR} --reproductions",
        lambda _: library.reproductions(YEAR),
        rows=(
            "^{expected.command}|{dataset}|{expected.dimension}|{expected.measure}|{expected.evaluator}|"
            "{expected.published:.3f}|{sample.pinned:.3f}|",
        ),
    ),
    Case(
        f"tasks check {' '.join(CARDS)}",
        lambda _: library.check_cards(CARDS),
        rows=("^{path}|{problem}",),
        lines=("^{problem}$", "^{path}: fine"),
    ),
    Case(
        f"data list {YEAR}",
        lambda _: library.list_data(YEAR),
        rows=("^{available}|...|{md5}...|{path}$",),
    ),
    Case(
        f"data verify {YEAR}",
        lambda _: library.verify(YEAR),
        rows=("^{word}|{path}",),
        lines=("^{path}: {word}$",),
    ),
    Case(
        f"regress bm25 --dataset {TOY} --twice",
        lambda _: library.regress("bm25", TOY, twice=True),
        rows=("^{expected.command}|{expected.dataset}|...|{expected.kind}|...|{verdict}$",),
        varies=frozenset({"wall", "memory"}),
    ),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs; one lacks topics, and has a document that is not in the collection."""
    folder = tmp_path_factory.mktemp("runs")
    paths = folder / "a.txt", folder / "b.txt"
    paths[0].write_text(run_text(tag="a_1"))
    paths[1].write_text(run_text(["11", "12"], tag="b", strangers=1))
    library.task(TASK).qrels["relevance"].write(qrels_beside(paths))
    return paths


def typed(command: str, runs: Runs) -> list[str]:
    files = {"A": runs[0], "B": runs[1], "QRELS": qrels_beside(runs), "OUT": runs[0].with_name("out")}
    return [str(files.get(word, word)) for word in command.split()]


@cache
def result_of(case: Case, runs: Runs) -> Any:
    return case.call(runs)


def label(value: Case | str) -> str:
    return value if isinstance(value, str) else value.command.replace("/", "-")[:60]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_json_and_csv_have_the_columns_of_the_frame(touche: Touche, runs: Runs, case: Case) -> None:
    def comparable(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: row[name] for name in row if name not in case.varies} for row in rows]

    rows = comparable(library.Table(object, (*case.records(result_of(case, runs)),)).rows)
    printed = json.loads(touche(*typed(case.command, runs), "--format", "json")[1])
    assert comparable(printed) == json.loads(json.dumps(rows)) != []
    lines = csv.DictReader(io.StringIO(touche(*typed(case.command, runs), "--format", "csv")[1]))
    names = dict.fromkeys(name for row in rows for name in row)
    assert comparable(lines) == [{name: as_cell(row.get(name)) for name in names} for row in rows]


PRINTED = [(case, style) for case in CASES for style in case.styles]


@pytest.mark.parametrize(("case", "style"), PRINTED, ids=label)
def test_tables_have_a_row_for_each_record(touche: Touche, runs: Runs, case: Case, style: str) -> None:
    _, out, err = touche(*typed(case.command, runs), "--format", style)
    rows = ["|".join(cells) for cells in rows_of(out, style)]
    templates = case.lines if style == "table" and case.lines else case.rows
    records = [*(case.shown or case.records)(result_of(case, runs))]
    assert records
    for record in records:
        patterns = [row_pattern(record, template) for template in templates]
        row = next((row for row in rows for pattern in patterns if re.search(pattern, row)), None)
        assert row is not None, (record, out, err)
        if "|both|" not in row:  # else the row is that of two records
            rows.remove(row)  # each record has a row of its own


@pytest.mark.parametrize("style", ["markdown", "latex", "html"])
@pytest.mark.parametrize("command", WIDE, ids=label)
def test_markup_has_a_row_for_each_run(touche: Touche, runs: Runs, command: str, style: str) -> None:
    table = WIDE[command](runs)
    assert touche(*typed(command, runs), "--format", style)[:2] == (0, f"{getattr(table, style)()}\n")


@pytest.mark.parametrize("case", CASES, ids=label)
def test_warnings_and_notes_are_those_of_the_result(touche: Touche, runs: Runs, case: Case) -> None:
    result = result_of(case, runs)
    _, out, err = touche(*typed(case.command, runs))
    said = [line.removeprefix("warning: ") for line in err.splitlines() if line.startswith("warning: ")]
    assert said == [*result.warnings]
    for note in getattr(result, "notes", ()) if not isinstance(result, library.Run) else ():
        assert note in (out + err).replace("note: ", "")


def test_a_fused_run_is_written_by_the_function_as_by_the_command(touche: Touche, runs: Runs) -> None:
    touche(*typed("fuse A B -o OUT --method combsum --weights 0.7,0.3", runs))
    folder = runs[0].with_name("python")
    fused = library.fuse(runs, "combsum", weights=[0.7, 0.3], output=folder, team="Mine")
    written = runs[0].with_name("out")
    assert fused.text() == (folder / "run.txt").read_text() == (written / "run.txt").read_text()
    metadata = (folder / "ir-metadata.yml").read_text()
    assert "cmd: touche.fuse" in metadata and "team: Mine" in metadata
    same = re.compile(r"^ +(start time|stop time|wallclock|cmd): .*\n|^actor:\n.*\n", re.M)
    assert same.sub("", metadata) == same.sub("", (written / "ir-metadata.yml").read_text())


def test_a_sweep_is_written_by_the_function_as_by_the_command(touche: Touche, tmp_path: Path) -> None:
    touche(*(word.replace("OUT", str(tmp_path / "a")) for word in SWEEP.split()))
    swept(output=tmp_path / "b")
    written = [{path.name for path in (tmp_path / name).glob("*.*")} for name in "ab"]
    assert written[0] == written[1] >= {"settings.csv", "heat-map-relevance%20AP.svg"}
    assert (tmp_path / "a" / "settings.csv").read_text() == (tmp_path / "b" / "settings.csv").read_text()


def test_fetching_prints_each_file_and_then_its_problem(touche: Touche, tmp_path: Path) -> None:
    statuses = library.fetch(YEAR, mirror=tmp_path, output=tmp_path / "data", no_corpora=True)
    code, out, err = touche(
        "data", "fetch", YEAR, "--from", tmp_path, "--to", tmp_path / "data", "--no-corpora"
    )
    assert code == 2
    assert out.splitlines() == [f"{status.path}: {status.word}" for status in statuses]
    *_, first, second, third, last = err.splitlines()
    assert [first, second, third] == [f"error: {status.problem}" for status in statuses]
    assert statuses.notes == () and last.startswith("touche: 3 files missing")


def as_cell(value: Any) -> str:
    parts = value if isinstance(value, tuple | list) else [value]
    if any(isinstance(part, dict) for part in parts):
        return json.dumps(value)
    return "; ".join("" if part is None else str(part) for part in parts)


class Cells(Formatter):
    """Formats None and booleans as tables show them."""

    def format_field(self, value: Any, format_spec: str) -> str:
        shown = {"None": "–", "": "–", "True": "yes", "False": "no"}
        return shown.get(str(value)) or format(value, format_spec)


def row_pattern(record: Any, template: str) -> str:
    """Returns the regular expression of a row; one of no row if the record lacks a template's attribute."""
    attributes = {name: getattr(record, name) for name in dir(record) if not name.startswith("_")}
    try:
        text = Cells().vformat(template.strip("^$"), (), attributes)
    except (KeyError, AttributeError):
        return "(?!)"
    pattern = ".*".join(re.escape(part) for part in text.split("..."))
    return f"{'^' * template.startswith('^')}{pattern}{'$' * template.endswith('$')}"
