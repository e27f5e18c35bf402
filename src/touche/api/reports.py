"""A page on runs."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from touche import tasks
from touche.errors import ToucheError
from touche.evaluation.comparison import path_of_reference
from touche.evaluation.scoring import judgments_of, score_runs
from touche.io.identifiers import as_path
from touche.io.writing import check_outputs
from touche.reports import PAGE_FILE, Report, published_parts, task_report, write
from touche.trec.forms import AnyQrels, AnyRun, list_of_runs, qrels_source, run_sources

if TYPE_CHECKING:
    from ir_measures.measures import Measure


def report(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    output: str | PathLike[str],
    task: str | None = None,
    *,
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
    reference: AnyRun | None = None,
    all_published: bool = False,
    command: str = "touche.report",
) -> Path:
    """Writes a page on runs: ranks among published results, run comparisons, and topic scores.

    Args:
        runs: one run or several, as for ``evaluate``; empty with ``all_published``.
        output: the folder for the page.
        task: the id of the task; None if there are only qrels.
        measure, qrels: another measure, or other qrels, as for ``evaluate``.
        reference: one of the runs, its tag or its path, to compare the others with; by default the
            organizers' baseline, or else the run with the highest mean.
        all_published: whether to show the published results of all tasks instead.
        command: the command that the page names.

    Returns:
        The path of the page.

    Raises:
        ToucheError: if a run is unusable, qrels are missing, or the folder cannot be written.

    Examples:
        >>> import tempfile, touche
        >>> run = touche.run("bm25", "spot-check/arguments")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.report(run, folder, "spot-check/arguments").name
        'index.html'
    """
    folder = as_path("output", output)
    if all_published:
        if list_of_runs(runs) or any(value is not None for value in (task, measure, qrels, reference)):
            raise ToucheError("all_published allows no runs, task, measure, qrels or reference; omit them")
        parts = list(published_parts())
        return write(Report("Published results of Touché", command, parts, gallery=True), folder)
    judgments = qrels_source(qrels)
    file = judgments.file if judgments else None
    scored_task = tasks.task_scored_by(task, None if measure is None else str(measure), file)
    sources = run_sources(runs)
    reference_name = path_of_reference(reference, sources)
    inputs = [source for source in (*sources, judgments) if source is not None]
    check_outputs([folder / PAGE_FILE], [source.path for source in inputs if source.content is None])
    [evaluated] = score_runs(sources, [scored_task], judgments_of([scored_task], judgments))
    part = task_report(evaluated, task or scored_task.id, reference_name)
    title = f"{len(part.runs)} run{'s' if len(part.runs) > 1 else ''} of {part.dataset}"
    return write(Report(title, command, [part]), folder)
