"""Evaluates public runs again, and compares their values with the published ones."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from touche.errors import InputError, ToucheError
from touche.evaluation.scores import evaluate
from touche.io.formats import json_text
from touche.io.identifiers import optional_path
from touche.io.progress import watched
from touche.io.writing import write_whole
from touche.regression.outcomes import junit_xml
from touche.tasks import STANCE, Published, Task
from touche.tasks.per_topic import topic_values
from touche.tasks.public_runs import (
    DIFFERENT,
    NOT_LISTED,
    NOT_PUBLIC,
    Difference,
    PublicRun,
    index_path,
    over_all_topics,
    public_runs,
    remark,
    results_of,
    value_name,
)
from touche.tasks.task_records import rounded
from touche.trec.framed import Columns, Table
from touche.trec.runs import read_run

EQUAL = "equal"
OTHER_FILE = "not the published file"  # the file on this machine doesn't have the published run's md5
NOT_HERE = "not here"


@dataclass(frozen=True)
class Cell:
    """A published result, and the value that was computed with the public run.

    Attributes:
        row: the published result.
        verdict: ``equal``, ``different``, ``not the published file``, ``not here`` (the run or the qrels),
            ``run public, not listed yet`` or ``run not public``.
        value: the public run's value, rounded like the published one; None if it wasn't evaluated.
        remark: if the run is on this machine but couldn't be evaluated, the reason; if its value differs, the
            topics on which it does. May be empty.
        url: the address of the run or its archive; empty if the run isn't listed.
        topics: the topics whose values differ, where they are published.
        is_expected: whether the index of public runs lists this verdict, and the same difference, for the
            value. Without it, values are expected to be equal.
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
        "is_expected": attrgetter("is_expected"),
        "url": attrgetter("url"),
    }

    row: Published
    verdict: str
    value: float | None = None
    remark: str = ""
    url: str = ""
    topics: tuple[str, ...] = ()
    is_expected: bool = True

    @property
    def is_broken(self) -> bool:
        """Whether something is not as it should be: the run's file isn't the published one, or its value
        isn't as the index says.
        """
        return self.verdict == OTHER_FILE or not self.is_expected


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
        update: whether to write to the index of public runs which runs were checked and which values differ.

    Returns:
        A ``Cell`` per published value over all topics.

    Raises:
        ToucheError: if a named task has no public runs, or none of them is on this machine.
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
        if ids and all(cell.verdict in (NOT_LISTED, NOT_PUBLIC) for cell in of_task):
            raise ToucheError(f"{task_id} has no listed public run; choose another task")
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
    """Yields a cell for each published value of a task.

    Args:
        task: the task.
        is_named: whether the user named the task, so that missing qrels are an error.
        update: as for ``check_published``.
    """
    qrels_are_here = all(find("qrels", judgments.file) for judgments in task.qrels.values())
    cells = dict[Published, Cell]()  # the cells of results whose run is public
    # Teams with a run that is missing, whose results could only be told from the tag in its file.
    teams_with_missing_rows = set[str]()
    index = public_runs(task)
    for repository, run in watched(index.runs, task.id, "runs", len(index.runs)):
        source = public_run_source(task.id, repository, run)
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
            of_run = [_with_expectation(cell, run) for cell in cells_of_run(task, path, rows, source.url)]
            cells |= {cell.row: cell for cell in of_run}
            if update:
                _update_index(index_path(task), run, of_run)
    without_run = NOT_LISTED if index.unlisted else NOT_PUBLIC
    for row in over_all_topics(task):
        verdict = NOT_HERE if row.team in teams_with_missing_rows else without_run
        yield cells.get(row) or Cell(row, verdict)


def _with_expectation(cell: Cell, run: PublicRun) -> Cell:
    """Sets a cell's ``is_expected`` by comparing it with what the index of public runs says about the run."""
    expected = next((other for other in run.different if other.name == value_name(cell.row)), None)
    if expected is None:
        return replace(cell, is_expected=cell.verdict == EQUAL)
    if cell.verdict == EQUAL:
        problem = f"equal now, but listed as different: {remark(expected)}"
        return replace(cell, remark=problem, is_expected=False)
    if expected != _difference_of(cell):
        problem = f"{cell.remark}, but listed: {remark(expected)}"
        return replace(cell, remark=problem, is_expected=False)
    return replace(cell, remark=f"{cell.remark}, as listed")


def _difference(source: Source, path: Path, task: Task) -> str:
    """Returns a sentence if a run's file doesn't have the checksum in the index, with what to do; otherwise
    empty.
    """
    status = verify(source)
    remedy = f"delete {path}, and get it with: touche data fetch {task.id} --runs"
    return f"not evaluated, because {status.remark}; {remedy}" if status.word == DIFFERS else ""


def cells_of_run(task: Task, path: Path, rows: Sequence[Published], url: str) -> Iterator[Cell]:
    """Evaluates a run. Yields a cell for each of its published results, rounded like it."""
    measures = list(dict.fromkeys(row.measure for row in rows))
    with warnings.catch_warnings():
        # No warnings about ties and unjudged documents, because these runs won't be changed any more.
        warnings.simplefilter("ignore")
        scores = evaluate(path, task.id, measure=measures)
    # All values of a run are published with the same number of decimals, but trailing zeros aren't on the
    # card, so take the largest number. Values from BEIR's paper have up to five.
    most = max(len(f"{Decimal(repr(row.value)):f}".partition(".")[2]) for row in rows)
    decimals = task.decimals if most <= task.decimals[-1] else [most]
    by_name = {(score.dimension, score.measure, score.evaluator): score for score in scores}
    for row in rows:
        score = by_name.get((row.dimension, row.measure, _evaluator(row)))
        if score is None or score.mean is None:
            yield Cell(row, DIFFERENT, remark="the run has no such score", url=url)
            continue
        if score.results != row.results:
            problem = f"the run has {score.results} judged stances, the published result {row.results}"
            yield Cell(row, DIFFERENT, remark=problem, url=url)
            continue
        value = rounded(score.mean, decimals)
        if value == row.value:
            yield Cell(row, EQUAL, value, url=url)
            continue
        kind = (row.dimension, row.measure, _evaluator(row))
        values = {
            topic.topic: topic.value
            for topic in scores.per_topic
            if (topic.dimension, topic.measure, topic.evaluator) == kind
        }
        cell = Cell(row, DIFFERENT, value, url=url, topics=_different_topics(row, values))
        yield replace(cell, remark=remark(_difference_of(cell)))


def _different_topics(row: Published, values: Mapping[str, float]) -> tuple[str, ...]:
    """Returns the topics on which a run's value isn't the published one. Empty if values of topics aren't
    published.
    """
    published = topic_values(row)
    if isinstance(published, str):
        return ()
    return tuple(topic for topic, value in published.items() if rounded(values.get(topic, 0.0)) != value)


def _difference_of(cell: Cell) -> Difference:
    """Returns the record to write into the index of public runs for a value that differs."""
    return Difference(name=value_name(cell.row), got=cell.value, topics=cell.topics)


def _update_index(path: Path, run: PublicRun, cells: Sequence[Cell]) -> None:
    """Changes a run's line in the index: marks it as checked, and lists the values that differ.

    Raises:
        InputError: if the run isn't on a line of its own.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    beginning = f'{{ file = "{run.file}",'
    numbers = [number for number, line in enumerate(lines) if beginning in line and " }," in line]
    if len(numbers) != 1:
        problem = f"{run.file} can't be marked as checked, because it isn't on a line of its own"
        raise InputError(path, problem, f"write it in one line with single blanks: {beginning} ... }},")
    [number] = numbers
    line = re.sub(r", checked = true.*(?= },)", "", lines[number])
    marks = ", checked = true"
    different = [_as_toml(_difference_of(cell)) for cell in cells if cell.verdict == DIFFERENT]
    if different:
        marks += f", different = [{', '.join(different)}]"
    lines[number] = line.replace(" },", f"{marks} }},")
    write_whole(path, "\n".join(lines) + "\n")


def _as_toml(difference: Difference) -> str:
    """Returns a difference as an inline table in TOML."""
    keys = [f'name = "{difference.name}"']
    if difference.got is not None:
        keys.append(f"got = {difference.got}")
    if difference.topics:
        topics = ", ".join(f'"{topic}"' for topic in difference.topics)
        keys.append(f"topics = [{topics}]")
    return f"{{ {', '.join(keys)} }}"


def _evaluator(row: Published) -> str:
    """Returns the evaluator of a published value. If the table names none, as in 2020, it was trec_eval."""
    return row.evaluator or ("touche" if row.dimension == STANCE else "trec_eval")


def _junit_case(cell: Cell) -> tuple[str, str, str, str]:
    """Returns a cell as a test case for ``junit_xml``."""
    row = cell.row
    name = f"{row.team} {row.tag} {row.dimension} {row.measure}"
    if cell.is_broken:
        seen = "" if cell.value is None else f"published {row.value}, re-evaluated {cell.value}"
        return row.task, name, "", ": ".join(filter(None, [cell.verdict, seen, cell.remark]))
    return row.task, name, "" if cell.verdict in (EQUAL, DIFFERENT) else cell.verdict, ""
