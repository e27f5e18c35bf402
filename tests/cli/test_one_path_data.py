"""Commands about tasks, data, baselines and images print the records that their functions return."""

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import touche as package
from conftest import Touche
from printed import rows_of
from touche.cli.output import MARKUP

pytestmark = pytest.mark.filterwarnings("ignore:.* is not in |nothing was verified")
CARDS = ["src/touche/tasks/touche-2020-task-1.toml", "no-such-card.toml"]
TOY = "spot-check/arguments"
TASK = "touche-2021-task-1"


@dataclass(frozen=True)
class Case:
    """A command, the function that it calls, and what its table shows of each record.

    Attributes:
        command: the words of the command.
        records: calls the function.
        cells: the texts of a record in a line of the table, in their order; None for a record that the table
            omits.
        marked_up: the same texts in Markdown, LaTeX and HTML, if the table has lines instead.
        differs: columns that differ from call to call.
    """

    command: str
    records: Callable[[], Iterable[Any]]
    cells: Callable[[Any], list[str] | None]
    marked_up: Callable[[Any], list[str]] | None = None
    differs: frozenset[str] = frozenset()


def published_cells(row: Any) -> list[str] | None:
    return [str(row.rank), row.name, row.tag, f"{row.value:.3f}"] if row.is_shortlisted else None


CASES = [
    Case("tasks", package.list_tasks, lambda row: [row.id, row.title, f"{row.unit}s", str(row.published)]),
    Case("tasks --all", package.published, lambda row: [f"{row.value:.3f}"]),
    Case(f"tasks {TASK}", lambda: package.published(TASK), published_cells),
    Case(
        f"tasks {TASK} --per-topic --all",
        lambda: package.published_topics(TASK),
        lambda row: [row.team, row.dimension, row.topic, f"{row.value:.3f}"],
    ),
    Case(
        f"tasks {TASK} --reproductions",
        lambda: package.reproductions(TASK),
        lambda row: [row.baseline, row.dimension, "–" if row.published is None else f"{row.published:.3f}"],
    ),
    Case(
        f"tasks check {' '.join(CARDS)}",
        lambda: package.check_cards(CARDS),
        lambda row: [row.problem or f"{row.path}: fine"],
        lambda row: [row.path, row.problem],
    ),
    Case(
        f"data list {TASK}",
        lambda: package.list_data(TASK),
        lambda file: ["yes" if file.available else "no", file.md5, file.path],
    ),
    Case(
        f"data verify {TASK}",
        lambda: package.verify(TASK).files,
        lambda status: [f"{status.path}: {status.word}"],
        lambda status: [status.word, status.path],
    ),
    Case(
        f"regress bm25 --dataset {TOY} --twice",
        lambda: package.regress("bm25", TOY, twice=True),
        lambda outcome: [outcome.expected.command, TOY, outcome.expected.kind, outcome.verdict],
        differs=frozenset({"wall", "cpu", "memory"}),
    ),
]
BY_COMMAND = [pytest.param(case, id=case.command.replace("/", "-")[:40]) for case in CASES]


@pytest.mark.parametrize("case", BY_COMMAND)
def test_the_table_has_a_line_for_each_record(touche: Touche, case: Case) -> None:
    lines = touche(*case.command.split())[1].splitlines()
    shown = [cells for record in case.records() if (cells := case.cells(record)) is not None]
    assert shown
    for cells in shown:
        line = next((line for line in lines if holds(line, cells)), None)
        assert line is not None, cells
        lines.remove(line)


def holds(line: str, cells: list[str]) -> bool:
    """Returns whether a line has these texts in this order."""
    for cell in cells:
        _, present, line = line.partition(cell or " ")
        if not present:
            return False
    return True


@pytest.mark.parametrize("case", BY_COMMAND)
def test_json_and_csv_are_the_records(touche: Touche, case: Case) -> None:
    rows = [alike(row, case) for row in case.records().rows]  # type: ignore[attr-defined]
    out = touche(*case.command.split(), "--format", "json")[1]
    assert [alike(row, case) for row in json.loads(out)] == json.loads(json.dumps(rows)) != []
    lines = csv.DictReader(StringIO(touche(*case.command.split(), "--format", "csv")[1]))
    names = [*dict.fromkeys(name for row in rows for name in row)]
    expected = [{name: as_cell(row.get(name)) for name in names} for row in rows]
    assert [alike(line, case) for line in lines] == expected


@pytest.mark.parametrize("style", MARKUP)
@pytest.mark.parametrize("case", BY_COMMAND)
def test_markup_has_a_row_for_each_record(touche: Touche, case: Case, style: str) -> None:
    printed = rows_of(touche(*case.command.split(), "--format", style)[1], style)
    for record in case.records():
        cells = (case.marked_up or case.cells)(record)
        if cells is not None:
            assert any(holds(" ".join(row), cells) for row in printed), cells


def alike(row: dict[str, Any], case: Case) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in case.differs}


def as_cell(value: Any) -> str:
    parts = value if isinstance(value, tuple | list) else [value]
    if any(isinstance(part, dict) for part in parts):
        return json.dumps(value)
    return "; ".join("" if part is None else str(part) for part in parts)


def test_fetching_prints_each_file_and_then_its_problem(touche: Touche, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    folder = tmp_path / "data"
    mirror.mkdir()
    statuses = package.fetch(TASK, mirror=mirror, output=folder, no_corpora=True)
    options = [TASK, "--from", mirror, "--to", folder, "--no-corpora"]
    code, out, err = touche("data", "fetch", *options)
    assert code == 2
    assert out.splitlines() == [f"{status.path}: {status.word}" for status in statuses]
    *_, advice, first, second, third, last = err.splitlines()
    assert [first, second, third] == [f"error: {status.problem}" for status in statuses]
    assert advice in statuses.notes and last.startswith("touche: 3 files missing")
    with pytest.warns(UserWarning, match="is not in"):
        package.fetch(TASK, mirror=mirror, output=folder, no_corpora=True)


@pytest.mark.parametrize("cross_validation", ["none", "two-fold"])
def test_a_sweep_prints_the_scores_or_folds_of_several_measures(
    touche: Touche, tmp_path: Path, cross_validation: str
) -> None:
    measures = ["--measure", "nDCG@5,AP", "--cross-validation", cross_validation]
    command = ["sweep", "bm25", "--k1", "0.6,1.2", "--task", TOY, "-o", tmp_path / "a", *measures]
    sweep = package.sweep(
        "bm25",
        TOY,
        {"k1": [0.6, 1.2]},
        measure=["nDCG@5", "AP"],
        output=tmp_path / "b",
        cross_validation=None if cross_validation == "none" else cross_validation,
    )
    assert [*sweep.by_dimension] == ["relevance nDCG@5", "relevance AP"]
    table = sweep.scores if cross_validation == "none" else sweep.folds()
    assert json.loads(touche(*command, "--format", "json")[1]) == json.loads(json.dumps(table.rows)) != []
    header, *lines = csv.reader(StringIO(touche(*command, "--format", "csv")[1]))
    assert header == [*table.rows[0]]
    assert lines == [[as_cell(value) for value in row.values()] for row in table.rows]
    out = touche(*command)[1].splitlines()
    for style in MARKUP:
        printed = rows_of(touche(*command, "--format", style)[1], style)
        for score in sweep.scores:
            cells = [str(score.setting.swept["k1"]), score.dimension, f"{score.mean:.3f}"]
            assert any(holds(" ".join(row), cells) for row in printed), (style, cells)
    for score in sweep.scores:
        cells = [str(score.setting.swept["k1"]), score.dimension, f"{score.mean:.3f}", f"{score.judged:.2f}"]
        assert any(holds(line, cells) for line in out), cells
    written = [{path.name for path in (tmp_path / name).glob("*.*")} for name in "ab"]
    assert written[0] == written[1] >= {"settings.csv", "heat-map-relevance%20AP.svg"}
    assert (tmp_path / "a" / "settings.csv").read_text() == (tmp_path / "b" / "settings.csv").read_text()
