"""A report's pages: self-contained HTML files, and files next to them."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from touche import tasks
from touche.errors import ToucheError
from touche.evaluation.comparison import find_reference
from touche.evaluation.evaluators import TREC_EVAL_VERSION
from touche.evaluation.judged import judged
from touche.evaluation.score_columns import name_in_team, page_columns
from touche.evaluation.scoring import ranks_stances, score
from touche.evaluation.teams import AnyTeams, known_teams
from touche.io.identifiers import as_path
from touche.io.opening import resolved
from touche.io.optional import imported
from touche.io.origin import clone, origin
from touche.io.progress import watched
from touche.io.writing import check_outputs, make_folder, write_whole
from touche.reports.board_files import board_csv, board_latex
from touche.reports.plots import plot_intervals, save
from touche.reports.report_content import published_parts, task_report
from touche.reports.report_records import Report, TaskReport
from touche.tira.metadata import different_statistics
from touche.trec.run_forms import (
    AnyQrels,
    AnyRun,
    AnyRuns,
    RunSource,
    list_of_runs,
    qrels_source,
    read_sources,
    run_sources,
)

if TYPE_CHECKING:
    from ir_measures.measures import Measure

PAGE_FILE = "index.html"
_log = logging.getLogger(__name__)


def report(
    runs: AnyRuns,
    task: str | None = None,
    *,
    output: str | PathLike[str],
    measure: "str | Measure | None" = None,
    qrels: AnyQrels | None = None,
    reference: AnyRun | None = None,
    all_published: bool = False,
    teams: AnyTeams = None,
    baselines: str | PathLike[str] | None = None,
    title: str = "",
    command: str = "touche.report",
) -> Path:
    """Writes a page on runs: ranks among published results, run comparisons, and topic scores.

    Args:
        runs: one run or several, as for ``evaluate``; empty with ``all_published``.
        task: the id of the task; None if there are only qrels.
        output: the folder for the page.
        measure, qrels: another measure, or other qrels, as for ``evaluate``.
        reference: one of the runs, its tag or its path, to compare the others with; by default the
            organizers' baseline, or else the best run in ``baselines``, or else the run with the highest
            comparable mean.
        all_published: whether to show the published results of all tasks instead.
        teams: each run's team, as for ``lint``; by default the one in ir-metadata.yml next to the run.
        baselines: a folder, e.g. of ``touche run all``. The runs below it are marked as baselines.
        title: the page's heading; by default the number of runs and the dataset.
        command: the command that the page names.

    Returns:
        The path of the page.

    Raises:
        ToucheError: if a run is unusable, qrels are missing, no run is in ``baselines``, or the folder cannot
            be written.

    Examples:
        >>> import tempfile, touche
        >>> run = touche.run("bm25", "spot-check/arguments")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.report(run, "spot-check/arguments", output=folder).name
        'index.html'
    """
    folder = as_path("output", output)
    if all_published:
        if list_of_runs(runs) or any(value is not None for value in (task, measure, qrels, reference)):
            raise ToucheError("all_published allows no runs, task, measure, qrels or reference; omit them")
        parts = list(published_parts())
        return write(Report("Published results of Touché", command, parts, gallery=True), folder)
    judgments = qrels_source(qrels)
    card = None if task is None else tasks.task(task)
    sources = run_sources(runs)
    inputs = [source for source in (*sources, judgments) if source is not None]
    check_outputs([folder / PAGE_FILE], [source.path for source in inputs if source.content is None])
    to_judge = judged(card, [None if measure is None else str(measure)], judgments)
    runs_as_read = read_sources(sources, by_stance=ranks_stances(to_judge))
    team_of_run = known_teams(sources, teams)
    scored = score(runs_as_read, to_judge, teams=team_of_run, baselines=_below(baselines, sources))
    path = find_reference(reference, sources, runs_as_read, team_of_run)
    # Without a task, the page is about the user's judgments.
    about = task or Path(scored[0].judged.file).name
    part = task_report(scored, card, about, path)
    warnings = different_statistics(sources)
    for text in warnings:
        _log.warning(text)
    part = replace(part, warnings=[*part.warnings, *warnings])
    heading = title or f"{len(part.runs)} run{'s' if len(part.runs) > 1 else ''} of {part.dataset}"
    return write(Report(heading, command, [part]), folder)


def _below(folder: str | PathLike[str] | None, sources: Sequence[RunSource]) -> set[Path]:
    """Returns the names of the runs whose files are below a folder; none without a folder.

    Raises:
        ToucheError: if no run is below the folder.
    """
    if folder is None:
        return set()
    parent = Path(resolved(as_path("baselines", folder)))
    in_files = [source for source in sources if source.content is None]
    names = {source.name for source in in_files if parent in Path(resolved(source.path)).parents}
    if not names:
        raise ToucheError(f"none of the runs is in {folder}; pass the folder of the baselines' runs")
    return names


def write(page: Report, folder: Path) -> Path:
    """Writes a report.

    Args:
        page: content of the report.
        folder: folder for index.html; it is created. If the report is ``divided``, each part has its own
            page, linked from index.html. Otherwise the only part has plots next to the page.

    Returns:
        Path of index.html.

    Raises:
        ToucheError: if the folder cannot be written, or Jinja2 or matplotlib are not installed.
    """
    jinja2 = imported("jinja2", "analysis")
    make_folder(folder)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("touche.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "digits": _digits,
        "short": _short,
        "board_csv": board_csv,
        "board_latex": board_latex,
        "name_in_team": name_in_team,
    }
    commit = f" (commit {origin(Path(__file__).parent, has_run=True)['revision']})" if clone() else ""
    evaluator = f"trec_eval {TREC_EVAL_VERSION} by pytrec_eval-terrier {version('pytrec_eval-terrier')}"
    environment.globals |= {
        "page": page,
        "made_by": f"touche-baselines {version('touche-baselines')}{commit}, {evaluator}",
        "trec_eval": TREC_EVAL_VERSION,
        "page_columns": lambda measure: page_columns(str(measure)),
    }
    for part in watched(page.parts, "writing", "pages", len(page.parts)):
        plots = {} if page.divided else _write_plots(part, folder)
        html = environment.get_template("task.html").render(part=part, plots=plots)
        write_whole(folder / (f"{part.id}.html" if page.divided else PAGE_FILE), html)
    if page.divided:
        write_whole(folder / PAGE_FILE, environment.get_template("index.html").render())
    return folder / PAGE_FILE


def _write_plots(part: TaskReport, folder: Path) -> Mapping[tuple[str, str], str]:
    """Writes a page's plots next to it.

    Returns:
        Each plot's name without its ending, by dimension and evaluator.
    """
    plot_names = {}
    for view in watched(part.views, "drawing", "plots", len(part.views)):
        name = f"{part.id}-{view.id}-intervals"
        label = f"{view.measure} ({view.evaluator}), {view.dimension}"
        save(plot_intervals(view.listed, label), folder / name)
        plot_names[view.dimension, view.evaluator] = name
    return plot_names


def _digits(value: float | None, digits: int = 3, sign: str = "") -> str:
    """Formats a number with a minus sign instead of a hyphen and never as -0; ``sign`` is ``+`` or empty."""
    return "–" if value is None else f"{round(value, digits) + 0.0:{sign}.{digits}f}".replace("-", "−")


def _short(value: float | None, sign: str = "") -> str:
    """Returns three digits without the leading zero, such as ``.532``, which fit a heat map."""
    return re.sub(r"\b0\.", ".", _digits(value, sign=sign))
