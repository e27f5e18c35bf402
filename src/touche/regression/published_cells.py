"""Re-evaluates the public runs behind published results and compares every published value."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import ClassVar

from touche import tasks
from touche.data.places import find
from touche.data.public_run_sources import public_run_source
from touche.data.publishers import Source
from touche.data.sources import find_source
from touche.data.verifying import DIFFERS, verify
from touche.errors import ToucheError
from touche.evaluation.scores import evaluate
from touche.io.formats import json_text
from touche.io.identifiers import optional_path
from touche.io.progress import watched
from touche.io.writing import write_whole
from touche.regression.outcomes import junit_xml
from touche.tasks import STANCE, Published, Task
from touche.tasks.public_runs import (
    DIFFERENT,
    NOT_PUBLIC,
    PublicRun,
    index_path,
    over_all_topics,
    public_runs,
    results_of,
    value_name,
)
from touche.tasks.task_records import rounded
from touche.trec.framed import Columns, Table
from touche.trec.runs import read_run

EQUAL = "equal"
OTHER_FILE = "not the published file"  # its MD5 is another one
NOT_HERE = "not here"


@dataclass(frozen=True)
class Cell:
    """A published result next to its run's value.

    Attributes:
        row: the published result.
        verdict: ``equal``, ``different``, ``not the published file``, ``not here`` (the run or the qrels) or
            ``run not public``.
        value: the public run's value, rounded like the published one; None if it wasn't evaluated.
        remark: why there is no value although the run is here; may be empty.
        url: the address of the run or its archive; empty if the run isn't public.
    """

    COLUMNS: ClassVar[Columns] = {
        "task": attrgetter("row.task"),
        "dimension": attrgetter("row.dimension"),
        "measure": attrgetter("row.measure"),
        "team": attrgetter("row.team"),
        "tag": attrgetter("row.tag"),
        "evaluator": lambda cell: _evaluator(cell.row),
        "published": attrgetter("row.value"),
        "value": attrgetter("value"),
        "verdict": attrgetter("verdict"),
        "remark": attrgetter("remark"),
        "url": attrgetter("url"),
    }

    row: Published
    verdict: str
    value: float | None = None
    remark: str = ""
    url: str = ""


def check_published(
    datasets: str | Sequence[str] = (),
    *,
    output: str | PathLike[str] | None = None,
    junit: str | PathLike[str] | None = None,
    update: bool = False,
) -> Table[Cell]:
    """Re-evaluates all public runs that are on this machine and compares them with their published values.

    Args:
        datasets: task ids; if empty, all tasks.
        output: a JSON file for the cells; None for no file.
        junit: a JUnit XML file; None for no file.
        update: write to the index of public runs which runs were checked, and which values differ.

    Returns:
        A ``Cell`` per published value over all topics.

    Raises:
        ToucheError: if a named task has no public run or none that is here.
    """
    ids = list(dict.fromkeys([datasets] if isinstance(datasets, str) else datasets))
    json_file = optional_path("output", output)
    junit_file = optional_path("junit", junit)
    cells = list[Cell]()
    for task_id in ids or tasks.ids():
        task = tasks.task(task_id)
        if task.id != task_id:
            raise ToucheError(
                f"{task_id} is a part of a task, whose published values need the whole: {task.id}"
            )
        of_task = list(_cells(task, is_named=bool(ids), update=update))
        if ids and not any(cell.url for cell in of_task):
            raise ToucheError(f"{task_id} has no public run; choose another task")
        if ids and not any(cell.verdict in (EQUAL, DIFFERENT, OTHER_FILE) for cell in of_task):
            problem = f"nothing was checked: no public run of {task_id} is here"
            raise ToucheError(f"{problem}; get them with: touche data fetch {task_id} --runs")
        cells += of_task
    table = Table(Cell, tuple(cells))
    if json_file:
        write_whole(json_file, json_text(table))
    if junit_file:
        write_whole(junit_file, junit_xml("touche regress --official", [_junit_case(cell) for cell in cells]))
    return table


def _cells(task: Task, *, is_named: bool, update: bool = False) -> Iterator[Cell]:
    """Yields a cell per published value of a task.

    Args:
        task: the task.
        is_named: whether the user named the task, so that missing qrels are an error.
        update: as for ``check_published``.
    """
    qrels_are_here = all(find("qrels", judgments.file) for judgments in task.qrels.values())
    cells = dict[Published, Cell]()  # of results whose run is public
    teams_with_missing_rows = set[str]()  # whose rows only the tag in a missing run would tell
    index = public_runs(task)
    for run in watched(index.runs, task.id, "runs", len(index.runs)):
        source = public_run_source(task.id, index, run)
        path = find_source(source)
        if not (run.tags or path):
            teams_with_missing_rows.add(run.team)
            continue
        rows = results_of(task, run, "" if run.tags or not path else read_run(path).tag)
        for row in cells.keys() & rows:
            raise ToucheError(f"{task.id} has two public runs of {row.team}, {row.tag}; remove one")
        cells |= {row: Cell(row, NOT_HERE, url=source.url) for row in rows}
        if path and (qrels_are_here or is_named):
            problem = _difference(source, path, task)
            if problem:
                cells |= {row: Cell(row, OTHER_FILE, remark=problem, url=source.url) for row in rows}
                continue
            values = _values(task, path, rows)
            cells |= {row: _compared(row, values[row], source.url) for row in rows}
            if update:
                _update_index(index_path(task), run, [row for row in rows if values[row] != row.value])
    for row in over_all_topics(task):
        verdict = NOT_HERE if row.team in teams_with_missing_rows else NOT_PUBLIC
        yield cells.get(row) or Cell(row, verdict)


def _compared(row: Published, value: float | str, url: str) -> Cell:
    """Returns the cell for a run's value, or for the reason why there is none."""
    if isinstance(value, str):
        return Cell(row, DIFFERENT, remark=value, url=url)
    return Cell(row, EQUAL if value == row.value else DIFFERENT, value, url=url)


def _difference(source: Source, path: Path, task: Task) -> str:
    """Returns how a run differs from the index and what to do; empty if it doesn't."""
    status = verify(source)
    remedy = f"delete {path}, and get it with: touche data fetch {task.id} --runs"
    return f"not evaluated, because {status.remark}; {remedy}" if status.word == DIFFERS else ""


def _values(task: Task, path: Path, rows: Sequence[Published]) -> dict[Published, float | str]:
    """Evaluates a run. Returns its value for each published result, rounded like it, or why there is none."""
    measures = list(dict.fromkeys(row.measure for row in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody can change the ties and unjudged documents of these runs
        scores = evaluate(path, task.id, measure=measures)
    # A run's values are printed alike, but cards drop trailing zeros. BEIR's have up to five decimals.
    most = max(len(f"{Decimal(repr(row.value)):f}".partition(".")[2]) for row in rows)
    decimals = task.decimals if most <= task.decimals[-1] else [most]
    by_name = {(score.dimension, score.measure, score.evaluator): score for score in scores}
    values = dict[Published, float | str]()
    for row in rows:
        score = by_name.get((row.dimension, row.measure, _evaluator(row)))
        if score is None or score.mean is None:
            values[row] = "the run has no such score"
        elif score.results != row.results:
            values[row] = f"the run has {score.results} judged stances, the published result {row.results}"
        else:
            values[row] = rounded(score.mean, decimals)
    return values


def _update_index(path: Path, run: PublicRun, different: Sequence[Published]) -> None:
    """Marks a run as checked in its index, which lists one run per line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines) if f'{{ file = "{run.file}",' in line)
    line = re.sub(r", (checked = true|different = \[.*?\])", "", lines[number])
    marks = ", checked = true"
    if different:
        names = ", ".join(f'"{value_name(row)}"' for row in different)
        marks += f", different = [{names}]"
    lines[number] = line.replace(" },", f"{marks} }},")
    write_whole(path, "\n".join(lines) + "\n")


def _evaluator(row: Published) -> str:
    """Returns the evaluator of a published value; in 2020, whose tables name none, it was trec_eval."""
    return row.evaluator or ("touche" if row.dimension == STANCE else "trec_eval")


def _junit_case(cell: Cell) -> tuple[str, str, str, str]:
    """Returns a cell as a test case for ``junit_xml``."""
    row = cell.row
    name = f"{row.team} {row.tag} {row.dimension} {row.measure}"
    if cell.verdict == OTHER_FILE:
        return row.task, name, "", f"{cell.verdict}: {cell.remark}"
    if cell.verdict != DIFFERENT:
        return row.task, name, "" if cell.verdict == EQUAL else cell.verdict, ""
    remark = f": {cell.remark}" if cell.remark else ""
    return row.task, name, "", f"published {row.value}, re-evaluated {cell.value}{remark}"
