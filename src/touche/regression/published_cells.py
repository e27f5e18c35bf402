"""Re-evaluates the public runs behind published results and compares every published value."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path

from touche import tasks
from touche.data.fetching import DIFFERS, verify
from touche.data.places import find
from touche.data.publishers import Source
from touche.data.sources import find_source, public_run_source
from touche.errors import ToucheError
from touche.evaluation.scoring import evaluate
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
from touche.trec.framed import Table, formatted
from touche.trec.runs import read_run

EQUAL = "equal"
NOT_HERE = "not here"


@dataclass(frozen=True)
class Cell:
    """A published value next to its run's value.

    Attributes:
        task, dimension, measure, team, tag: the published result.
        evaluator: ``touche`` or ``trec_eval``, whichever computed the published value.
        published: the published value.
        value: the public run's value, rounded like the published one; None if it wasn't evaluated.
        verdict: ``equal``, ``different``, ``not here`` (the run or the qrels) or ``run not public``.
        remark: why there is no value although the run is here; may be empty.
        url: the address of the run or its archive; empty if the run isn't public.
    """

    task: str
    dimension: str
    measure: str
    team: str
    tag: str
    evaluator: str
    published: float
    value: float | None
    verdict: str
    remark: str
    url: str

    @property
    def difference(self) -> str:
        """How a different value differs; empty for other verdicts."""
        if self.verdict != DIFFERENT:
            return ""
        remark = f": {self.remark}" if self.remark else ""
        return f"published {self.published}, re-evaluated {self.value}{remark}"


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
    json_file, junit_file = optional_path("output", output), optional_path("junit", junit)
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
        if ids and not any(cell.verdict in (EQUAL, DIFFERENT) for cell in of_task):
            problem = f"nothing was checked: no public run of {task_id} is here"
            raise ToucheError(f"{problem}; get them with: touche data fetch {task_id} --runs")
        cells += of_task
    table = Table(Cell, tuple(cells))
    if json_file:
        write_whole(json_file, formatted(table, "json"))
    if junit_file:
        cases = [
            (
                cell.task,
                f"{cell.team} {cell.tag} {cell.dimension} {cell.measure}",
                cell.verdict if cell.verdict in (NOT_HERE, NOT_PUBLIC) else "",
                cell.difference,
            )
            for cell in cells
        ]
        write_whole(junit_file, junit_xml("touche regress --official", cases))
    return table


def _cells(task: Task, *, is_named: bool, update: bool = False) -> Iterator[Cell]:
    """Yields a cell per published value of a task.

    Args:
        task: the task.
        is_named: whether the user named the task, so that missing qrels are an error.
        update: as for ``check_published``.
    """
    qrels_are_here = all(find("qrels", judgments.file) for judgments in task.qrels.values())
    urls = dict[Published, str]()
    values = dict[Published, float | str]()
    teams_with_missing_rows = set[str]()  # whose rows only the tag in a missing run would tell
    index = public_runs(task)
    for run in watched(index.runs, task.id, "runs", len(index.runs)):
        source = public_run_source(task.id, index, run)
        path = find_source(source)
        if not (run.tags or path):
            teams_with_missing_rows.add(run.team)
            continue
        rows = results_of(task, run, "" if run.tags or not path else read_run(path).tag)
        for row in urls.keys() & rows:
            raise ToucheError(f"{task.id} has two public runs of {row.team}, {row.tag}; remove one")
        urls |= dict.fromkeys(rows, source.url)
        if path and (qrels_are_here or is_named):
            problem = _differs(source, path, task)
            values |= dict.fromkeys(rows, problem) if problem else _values(task, path, rows)
            if update and not problem:
                _update_index(index_path(task), run, [row for row in rows if values[row] != row.value])
    for row in over_all_topics(task):
        if row in values:
            verdict = EQUAL if values[row] == row.value else DIFFERENT
        else:
            verdict = NOT_HERE if row in urls or row.team in teams_with_missing_rows else NOT_PUBLIC
        value = values.get(row)
        yield Cell(
            task=task.id,
            dimension=row.dimension,
            measure=row.measure,
            team=row.team,
            tag=row.tag,
            evaluator=_evaluator(row),
            published=row.value,
            value=None if isinstance(value, str) else value,
            verdict=verdict,
            remark=value if isinstance(value, str) else "",
            url=urls.get(row, ""),
        )


def _differs(source: Source, path: Path, task: Task) -> str:
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
