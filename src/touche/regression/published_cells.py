"""Re-evaluates the public runs behind published results and compares every published value."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from touche import tasks
from touche.data.fetching import DIFFERS, verify
from touche.data.places import is_available
from touche.data.sources import run_sources
from touche.errors import InputError, ToucheError
from touche.evaluation.scoring import evaluate
from touche.io.identifiers import optional_path
from touche.io.progress import watched
from touche.io.writing import write_whole
from touche.regression.outcomes import junit_xml
from touche.tasks import STANCE, Published, Task
from touche.tasks.public_runs import public_runs, results_of
from touche.tasks.task_records import rounded
from touche.trec.framed import Table, formatted
from touche.trec.runs import read_run

EQUAL = "equal"
DIFFERENT = "different"
NOT_HERE = "not here"
NOT_PUBLIC = "run not public"


@dataclass(frozen=True)
class Cell:
    """A published value next to its run's value.

    Attributes:
        task, dimension, measure, team, tag: the published result.
        evaluator: ``touche`` or ``trec_eval``, whichever computed the published value.
        published: the published value.
        value: the public run's value, rounded like the published one; None if it wasn't evaluated.
        verdict: ``equal``, ``different``, ``not here`` (the run or the qrels) or ``run not public``.
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
    url: str


def check_published(
    datasets: str | Sequence[str] = (),
    *,
    output: str | PathLike[str] | None = None,
    junit: str | PathLike[str] | None = None,
) -> Table[Cell]:
    """Re-evaluates all public runs that are on this machine and compares them with their published values.

    Args:
        datasets: task ids; if empty, all tasks.
        output: a JSON file for the cells; None for no file.
        junit: a JUnit XML file; None for no file.

    Returns:
        A ``Cell`` per published value over all topics.

    Raises:
        ToucheError: if a run differs from the index, its published result is unknown, or there is nothing
            here to check.
    """
    ids = [datasets] if isinstance(datasets, str) else [*datasets]
    json_file, junit_file = optional_path("output", output), optional_path("junit", junit)
    chosen = [tasks.task(id) for id in ids or tasks.ids()]
    cells = [cell for task in chosen for cell in _cells(task, is_named=bool(ids))]
    if not any(cell.url for cell in cells):
        raise ToucheError(f"{' and '.join(ids)} has no public run; choose another task")
    if not any(cell.verdict in (EQUAL, DIFFERENT) for cell in cells):
        command = " ".join(["touche data fetch", *ids, "--runs"])
        raise ToucheError(f"nothing was checked: no public run is here; get them with: {command}")
    table = Table(Cell, tuple(cells))
    if json_file:
        write_whole(json_file, formatted(table, "json"))
    if junit_file:
        write_whole(junit_file, _junit(cells))
    return table


def _cells(task: Task, *, is_named: bool) -> Iterator[Cell]:
    """Yields a cell per published value of a task.

    Args:
        task: the task.
        is_named: whether the user named the task, so that missing qrels are an error.
    """
    qrels_are_here = all(is_available("qrels", judgments.file) for judgments in task.qrels.values())
    urls = dict[Published, str]()
    values = dict[Published, float | None]()
    untagged = set[str]()  # teams of missing runs whose published row only the tag in the file could tell
    public = [*zip(public_runs(task).runs, run_sources([task.id]), strict=True)]
    for run, source in watched(public, task.id, "runs", len(public)):
        path = source.place()
        if path and (status := verify(source)).word == DIFFERS:
            raise InputError(path, status.remark, "delete it, and get it with: touche data fetch --runs")
        if not (run.tags or path):
            untagged.add(run.team)
            continue
        rows = results_of(task, run, read_run(path).tag if path else "")
        for row in urls.keys() & rows:
            raise ToucheError(f"{task.id} has two public runs of {row.team}, {row.tag}; remove one")
        urls |= dict.fromkeys(rows, source.url)
        if path and (qrels_are_here or is_named):
            values |= _values(task, path, rows)
    for row in task.published:
        if row.topics is not None:  # it covers only some topics
            continue
        if row in values:
            verdict = EQUAL if values[row] == row.value else DIFFERENT
        else:
            verdict = NOT_HERE if row in urls or row.team in untagged else NOT_PUBLIC
        yield Cell(
            task=task.id,
            dimension=row.dimension,
            measure=row.measure,
            team=row.team,
            tag=row.tag,
            evaluator=_evaluator(row),
            published=row.value,
            value=values.get(row),
            verdict=verdict,
            url=urls.get(row, ""),
        )


def _values(task: Task, path: Path, rows: Sequence[Published]) -> dict[Published, float | None]:
    """Evaluates a run. Returns its value for each published result, rounded like it.

    Detected stances get no value if their number of documents differs from the published one.
    """
    measures = list(dict.fromkeys(row.measure for row in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody can change the ties and unjudged documents of these runs
        scores = evaluate(path, task.id, measure=measures)
    means = {(score.dimension, score.measure, score.evaluator, score.results): score.mean for score in scores}
    values = dict[Published, float | None]()
    for row in rows:
        mean = means.get((row.dimension, row.measure, _evaluator(row), row.results))
        decimals = len(repr(row.value).partition(".")[2])  # BEIR's tables have up to five
        as_printed = task.decimals if decimals <= task.decimals[-1] else [decimals]
        values[row] = None if mean is None else rounded(mean, as_printed)
    return values


def _evaluator(row: Published) -> str:
    """Returns the evaluator of a published value; in 2020, whose tables name none, it was trec_eval."""
    return row.evaluator or ("touche" if row.dimension == STANCE else "trec_eval")


def _junit(cells: Sequence[Cell]) -> str:
    """Returns the cells as JUnit XML."""
    return junit_xml(
        "touche regress --official",
        [
            (
                cell.task,
                f"{cell.team} {cell.tag} {cell.dimension} {cell.measure}",
                cell.verdict if cell.verdict in (NOT_HERE, NOT_PUBLIC) else "",
                f"published {cell.published}, re-evaluated {cell.value}" if cell.verdict == DIFFERENT else "",
            )
            for cell in cells
        ],
    )
