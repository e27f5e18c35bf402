"""Each command prints the records that its function returns, in every format."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import touche as library
from conftest import Touche
from printed import rows_below
from spotcheck import run_text
from touche.io.formats import FORMATS
from touche.tasks import STANCE

Runs = tuple[Path, Path]

TASK = "spot-check/passages"
TOY = "spot-check/arguments"
YEAR = "touche-2021-task-1"
CARDS = ["src/touche/tasks/touche-2020-task-1.toml", "no-such-card.toml"]
MARKUP = tuple(name for name, format in FORMATS.items() if format.is_for_papers)
STYLES = ("table", *MARKUP)
pytestmark = pytest.mark.filterwarnings("ignore")  # the runs are small, and lack stances


Cells = dict[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """A command, the function whose result it prints, and what its tables show of each record.

    Attributes:
        command: the words of the command, with A and B for the files of two runs and OUT for a folder.
        call: calls the function with both files.
        cells: returns cells of a record's row by the heading of their column; a tuple lists all that a cell
            may be. The first column without a heading has the name "".
        line: returns the beginning of a record's line in the style ``table``, if the command prints lines.
        records: returns the records of a result.
        shown: returns the records that the tables show, if these are others.
        styles: the styles with a row for each record.
        varies: columns that differ from call to call.
    """

    command: str
    call: Callable[[Runs], Any]
    cells: Callable[[Any], Cells]
    line: Callable[[Any], str] | None = None
    records: Callable[[Any], Iterable[Any]] = iter
    shown: Callable[[Any], Iterable[Any]] | None = None
    styles: tuple[str, ...] = STYLES
    varies: frozenset[str] = frozenset()


def score_cells(score: Any) -> Cells:
    return {
        "run": score.name,
        "dimension": score.label,
        "evaluator": (score.evaluator, "both"),
        score.measure: f"{score.mean:.3f}",
        "95% interval": f"{score.low:.3f} to {score.high:.3f}",
        "Judged@5" if score.measure == "nDCG@5" else "Judged": f"{score.judged:.2f}",
        "topics": f"{score.topics}",
    }


def topic_cells(score: Any) -> Cells:
    return {
        "run": score.name,
        "dimension": score.label,
        "evaluator": (score.evaluator, "both"),
        "topic": score.topic,
        "nDCG@5": f"{score.value:.3f}",
        "Judged@5": "–" if score.judged is None else f"{score.judged:.2f}",
        "title": score.title,
    }


def comparison_cells(pair: Any) -> Cells:
    return {
        "A": pair.run_a,
        "B": pair.run_b,
        "dimension": pair.dimension,
        "mean A": f"{pair.mean_a:.3f}",
        "mean B": f"{pair.mean_b:.3f}",
        "A - B": f"{pair.difference:+.3f}",
        "95% interval": f"{pair.low:+.3f} to {pair.high:+.3f}",
        "d": f"{pair.effect_size:+.2f}",
        "p t": f"{pair.p_t_test:.4f}",
        "Holm t": f"{pair.p_t_test_holm:.4f}{' *' * pair.significant}",
        "won, lost, tied": f"{pair.won}, {pair.lost}, {pair.tied}",
        "topics": f"{pair.topics}",
    }


def agreement_cells(pair: Any) -> Cells:
    return {
        "A": pair.run_a,
        "B": pair.run_b,
        "topics": f"{pair.topics}",
        "overlap@5": f"{pair.overlap_5:.3f}",
        "overlap@100": f"{pair.overlap_100:.3f}",
        "Kendall's tau": f"{pair.tau:.3f}",
        "tau of union": f"{pair.tau_union:.3f}",
        "RBO": f"{pair.rbo:.3f}",
    }


def scored_agreement_cells(pair: Any) -> Cells:
    return {
        "A": pair.run_a,
        "B": pair.run_b,
        "dimension": pair.dimension,
        "mean A": f"{pair.mean_a:.3f}",
        "mean B": f"{pair.mean_b:.3f}",
        "RMSE": f"{pair.rmse:.3f}",
    }


def setting_cells(score: Any) -> Cells:
    mean = f"{score.mean:.3f}"
    return {
        "k1": f"{score.setting.swept['k1']}",
        "dimension": score.dimension,
        score.measure: (mean, f"{mean} *"),  # the highest has a star
        "judged": f"{score.judged:.2f}",
    }


def published_cells(result: Any) -> Cells:
    row = result.row
    if row.dimension == STANCE:
        return {"team": row.team, "tag": row.tag, "F1": f"{row.value:.3f}", "N": f"{row.results}"}
    return {"": f"{result.rank}", "team": row.name, "tag": row.tag or "–", row.measure: f"{row.value:.3f}"}


def reproduction_cells(record: Any) -> Cells:
    entry = record.expected
    return {
        "baseline": entry.command,
        "dataset": record.dataset,
        "dimension": entry.dimension,
        "measure": entry.measure,
        "evaluator": entry.evaluator,
        "published": three_decimals(entry.published),
        "on a sample": three_decimals(record.sample and record.sample.pinned),
    }


def outcome_cells(outcome: Any) -> Cells:
    return {
        "baseline": outcome.expected.command,
        "dataset": outcome.expected.dataset,
        "kind": outcome.expected.kind,
        "verdict": outcome.verdict,
    }


def three_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


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
CASES = [
    Case(
        f"evaluate A B --task {TASK}",
        lambda runs: library.evaluate(runs, TASK),
        score_cells,
        styles=("table",),
    ),
    Case(
        "evaluate A B --qrels QRELS --measure AP --evaluator trec_eval",
        lambda runs: library.evaluate(runs, None, "trec_eval", measure="AP", qrels=qrels_beside(runs)),
        score_cells,
        styles=("table",),
    ),
    Case(
        f"evaluate A B --task {TASK} --per-topic",
        lambda runs: library.evaluate(runs, TASK).per_topic,
        topic_cells,
        styles=("table",),
    ),
    Case(
        f"compare A B --task {TASK}",
        lambda runs: library.compare(runs, TASK),
        comparison_cells,
        styles=("table",),
    ),
    Case(
        f"compare A B --task {TASK} --per-topic",
        lambda runs: library.compare(runs, TASK).per_topic,
        lambda pair: {
            "dimension": pair.dimension,
            "topic": pair.topic,
            "A - B": f"{pair.difference:+.3f}",
            "A": pair.run_a,  # the first of two columns with this heading
            "B": pair.run_b,
            "title": pair.title,
        },
        styles=("table",),
    ),
    Case("overlap A B", library.overlap, agreement_cells),
    Case(f"overlap A B --task {TASK}", lambda runs: library.overlap(runs, TASK), scored_agreement_cells),
    Case(
        f"lint A B --task {TASK}",
        lambda runs: library.lint(runs, TASK),
        lambda finding: {
            "run": finding.run,
            "line": f"{finding.line}",
            "severity": finding.severity,
            "message": finding.message,
            "remedy": finding.remedy,
            "code": finding.code,
        },
        line=lambda finding: (
            f"{finding.run}:{finding.line}: {finding.severity}: {finding.message}; {finding.remedy} "
            f"[{finding.code}]"
        ),
    ),
    Case(
        "fuse A B -o OUT",
        library.fuse,
        lambda line: {
            "topic": line.topic,
            "stance": line.stance,
            "document": line.document,
            "rank": f"{line.rank}",
            "score": f"{line.score:.6f}",
            "tag": line.tag,
        },
        styles=MARKUP,
    ),
    Case(SWEEP, lambda _: swept(), setting_cells, records=lambda sweep: sweep.scores),
    Case(
        f"{SWEEP} --cross-validation two-fold",
        lambda _: swept("two-fold"),
        setting_cells,
        records=lambda sweep: sweep.folds(),
        shown=lambda sweep: sweep.scores,
    ),
    Case(
        "tasks",
        lambda _: library.list_tasks(),
        lambda task: {
            "task": task.id,
            "title": task.title,
            "ranked": f"{task.unit}s",
            "published values": f"{task.published}",
        },
    ),
    Case("tasks --all", lambda _: library.published(), published_cells),
    Case(
        f"tasks {YEAR}",
        lambda _: library.published(YEAR),
        published_cells,
        shown=lambda results: [row for row in results if row.is_shortlisted],
    ),
    Case(
        "tasks touche-2021-task-2 --per-topic --all",
        lambda _: library.published_topics("touche-2021-task-2"),
        lambda row: {
            "team": row.row.name,
            "tag": row.row.tag,
            "dimension": row.row.dimension,
            "topic": row.topic,
            "value": f"{row.value:.3f}",
            "measure": row.row.measure,
        },
    ),
    Case(f"tasks {YEAR} --reproductions", lambda _: library.reproductions(YEAR), reproduction_cells),
    Case(
        f"tasks check {' '.join(CARDS)}",
        lambda _: library.check_cards(CARDS),
        lambda card: {"card": f"{card.path}", "problem": card.problem or "–"},
        line=lambda card: card.problem or f"{card.path}: fine",
    ),
    Case(
        f"data list {YEAR}",
        lambda _: library.list_data(YEAR),
        lambda file: {
            "available": "yes" if file.available else "no",
            "md5 (* of the archive)": f"{file.md5}{'*' * file.in_archive}",
            "file": f"{file.path}",
        },
    ),
    Case(
        f"data verify {YEAR}",
        lambda _: library.verify(YEAR),
        lambda status: {"result": status.word, "file": f"{status.path}"},
        line=lambda status: f"{status.path}: {status.word}",
    ),
    Case(
        f"regress bm25 --dataset {TOY} --twice",
        lambda _: library.regress("bm25", TOY, twice=True),
        outcome_cells,
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
    records = [*(case.shown or case.records)(result_of(case, runs))]
    assert records
    if style == "table" and case.line:
        assert [line for line in map(case.line, records) if f"\n{line}" not in f"\n{out}"] == []
        return
    rows = {
        headings: rows_below(out, style, headings) for headings in {(*case.cells(each),) for each in records}
    }
    for record in records:
        cells = case.cells(record)
        own = rows[(*cells,)]
        row = next((row for row in own if is_row(row, cells)), None)
        assert row is not None, (record, out, err)
        if "both" not in row.values():  # else the row is that of two records
            own.remove(row)  # each record has a row of its own


def is_row(row: Mapping[str, str], cells: Cells) -> bool:
    return all(row[name] in (cell if isinstance(cell, tuple) else (cell,)) for name, cell in cells.items())


@pytest.mark.parametrize("style", MARKUP)
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
