"""Baselines, rerun and compared with their expected scores."""

import logging
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from platform import machine
from typing import Literal

from touche.baselines.loader import baseline_folder
from touche.containers.limits import Limits
from touche.containers.runs import RUNNERS
from touche.errors import ToucheError, check_choice
from touche.evaluation import scores
from touche.io.identifiers import baseline_names, optional_path, quoted
from touche.io.optional import imported
from touche.io.progress import processors
from touche.io.writing import check_outputs, make_folder, write_whole
from touche.regression import running
from touche.regression.expected import EXPECTED_FILE
from touche.regression.log import append_to_log, logged_scores, read_log
from touche.regression.outcomes import Outcome
from touche.regression.results import Regression, markdown, to_json
from touche.regression.results import junit as to_junit

_log = logging.getLogger(__name__)


def regress(
    baselines: str | Sequence[str] = (),
    datasets: str | Sequence[str] = (),
    *,
    runner: Literal["local", "docker", "podman", "tira"] = "local",
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    twice: bool = False,
    update: bool = False,
    output: str | PathLike[str] | None = None,
    junit: str | PathLike[str] | None = None,
    report: str | PathLike[str] | None = None,
    summary: str | PathLike[str] | None = None,
    record: str | PathLike[str] | None = None,
    by: str = "",
    command: str = "touche.regress",
    log: Callable[[str], None] = _log.info,
) -> Regression:
    """Reruns baselines on every available dataset and compares their scores with the expected ones.

    Args:
        baselines: names or paths of baselines; if empty, all that ship.
        datasets: ids of datasets; if empty, all.
        runner: where the baselines run.
        limits: the limits of a run in a sandbox.
        twice: whether each baseline runs twice, to compare run.txt byte by byte.
        update: whether to rewrite pinned values that changed; published values stay.
        output: a file for the records as JSON, updated after each result; None writes none.
        junit: a file for JUnit XML; None writes none.
        report: a folder for a page with the table, the times, and a report per dataset; None writes none.
        summary: a file to which the table is added in Markdown, such as that of a job of GitHub Actions; None
            adds it to none.
        record: a log of reruns, a CSV file to which a row for each measured score is appended, after each
            result; None appends to none.
        by: the name in these rows of who reran the baselines; required with ``record``.
        command: the command that the page names.
        log: receives the name and the log of each run, and the values that moved.

    Returns:
        The outcomes, each with its verdict. ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such baseline or dataset, or a file cannot be written.

    Examples:
        >>> import touche
        >>> [outcome.verdict for outcome in touche.regress("bm25", "spot-check/arguments")]
        ['passed', 'passed']
    """
    check_choice("runner", runner, RUNNERS)
    ids = [datasets] if isinstance(datasets, str) else [*datasets]
    json_file = optional_path("output", output)
    junit_file = optional_path("junit", junit)
    folder = optional_path("report", report)
    markdown_file = optional_path("summary", summary)
    log_of_reruns = optional_path("record", record)
    # Not the summary, because it may be a device, such as /dev/stdout.
    files = [file for file in (json_file, junit_file, log_of_reruns) if file]
    for file in files:
        if not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is not a directory; create it, or choose another place")
    _check_log(log_of_reruns, by)
    if folder:
        # A missing package is an error before the runs, instead of after them.
        imported("jinja2", "analysis")
        imported("matplotlib", "analysis")
    # The first outcomes are of baselines whose expected.toml has no entries, or cannot be read.
    expected, outcomes = running.read_expectations(baseline_names(baselines), ids)
    check_outputs(files, [baseline_folder(entry.baseline) / EXPECTED_FILE for entry in expected])
    if folder:
        make_folder(folder)
    folder_of_runs = folder / "runs" if folder else None
    appended = 0  # rows of the log
    for outcome in running.regress(expected, RUNNERS[runner], limits, log, twice=twice, keep=folder_of_runs):
        outcomes.append(outcome)
        if json_file:
            write_whole(json_file, to_json(outcomes))  # so that an interrupted job leaves its results
        if log_of_reruns:
            rows = logged_scores([outcome], by)
            append_to_log(log_of_reruns, rows)
            appended += len(rows)
    if log_of_reruns:
        reason = "" if appended else ", because no score of a rerun was measured"
        log(f"{log_of_reruns}: {appended} rows appended{reason}")
    if update:
        outcomes = running.update(outcomes, log)
    _write_files(outcomes, json_file, junit_file, markdown_file)
    page = _regression_page(outcomes, folder, runner, command) if folder else None
    return Regression(Outcome, tuple(outcomes), page=page)


def _check_log(log: Path | None, by: str) -> None:
    """Checks that a log of reruns can be read, and the name of who reran the baselines."""
    if by and not log:
        raise ToucheError(f"by = {quoted(by)} has no effect without record; pass a log of reruns, or omit by")
    if log and not by:
        raise ToucheError("record needs by; pass the name of who reruns the baselines as by")
    if by and not (by.strip() and by.isprintable()):
        raise ToucheError(f"by = {quoted(by)} is not a line of text; correct it")
    if log:
        read_log(log)


def _write_files(
    outcomes: Sequence[Outcome], json_file: Path | None, junit_file: Path | None, markdown_file: Path | None
) -> None:
    """Writes all outcomes as JSON and as JUnit XML, and appends them as Markdown."""
    if json_file:  # again: an update can change outcomes, and without any run the file is not yet written
        write_whole(json_file, to_json(outcomes))
    if junit_file:
        write_whole(junit_file, to_junit(outcomes))
    if markdown_file:
        with markdown_file.open("a", encoding="utf-8") as file:
            file.write(markdown(outcomes))


def _regression_page(outcomes: Sequence[Outcome], folder: Path, runner: str, command: str) -> Path:
    """Writes a page with the outcomes and a report on the runs of each dataset; returns its path."""
    from touche.reports import Report, task_report, write  # here, because it takes 95 ms

    parts = []
    remarks = [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset in dict.fromkeys(outcome.expected.dataset for outcome in outcomes):
        runs = {  # each once, because several outcomes can have the same run
            (run.path, run.dimension): run
            for outcome in outcomes
            if outcome.expected.dataset == dataset
            for run in outcome.evaluated
        }
        if not runs:
            continue
        try:
            parts.append(task_report(scores.with_names([*runs.values()]), dataset))
        except Exception as error:  # a faulty run must not prevent the page
            remarks.append(f"There is no report on {dataset}: {error}.")
    report = Report(
        title="Regression of the baselines of Touché",
        command=command,
        parts=parts,
        outcomes=outcomes,
        remarks=remarks,
    )
    return write(report, folder)
