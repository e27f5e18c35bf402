"""Reruns baselines on every available dataset, and compares the results with expected.toml."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from platform import machine

from touche import tasks
from touche.baselines.expected import EXPECTED_FILE, Expected, read_expected
from touche.baselines.loader import baseline_folder
from touche.data.places import find, has_dataset, locate, shipped_baselines
from touche.errors import ToucheError, check_choice
from touche.evaluation.agreement import Overlap
from touche.evaluation.scoring import Scored, unique_names
from touche.io.formats import json_text
from touche.io.grouping import group_by
from touche.io.identifiers import check_text, names_or_paths, optional_path
from touche.io.optional import imported
from touche.io.origin import origin
from touche.io.progress import bar, processors
from touche.io.temporary import temporary_folder
from touche.io.writing import check_outputs, make_folder, whole, write_whole
from touche.regression.agreements import agreements as official_agreements
from touche.regression.comparing import Scores, compare, scores_of
from touche.regression.log import append_to_log, check_log, logged_scores
from touche.regression.outcomes import (
    FAILED,
    MISSING,
    NOT_THE_SAME,
    NOTHING_EXPECTED,
    Outcome,
    Regression,
    failed,
    markdown,
    what_reruns_show,
)
from touche.regression.outcomes import junit as to_junit
from touche.regression.pinning import update as update_pinned
from touche.runners.container_runs import RUNNERS, Job, Runner, Usage
from touche.runners.limits import HERE, RUNNER_NAMES, Limits, RunnerName
from touche.runners.programs import Log
from touche.trec.columns import Run
from touche.trec.framed import Table
from touche.trec.runs import RUN_FILE, read_run

_log = logging.getLogger(__name__)


def regress(
    baselines: str | Sequence[str] = (),
    datasets: str | Sequence[str] = (),
    *,
    runner: RunnerName = HERE,
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    twice: bool = False,
    update: bool = False,
    output: str | PathLike[str] | None = None,
    junit: str | PathLike[str] | None = None,
    report: str | PathLike[str] | None = None,
    summary: str | PathLike[str] | None = None,
    record: str | PathLike[str] | None = None,
    by: str = "",
    run_url: str = "",
    command: str = "touche.regress",
    log: Callable[[str], None] = _log.info,
) -> Regression:
    """Reruns baselines on every available dataset and compares their scores with the expected ones.

    Args:
        baselines: names or paths; if empty, all that ship.
        datasets: dataset ids; if empty, all.
        runner: where the baselines run.
        limits: a sandbox's limits.
        twice: run each baseline twice and compare run.txt byte by byte.
        update: overwrite pinned values that changed; published values stay. If one moved, but another one of
            the same baseline could not be renewed, that is a failure.
        output: a JSON file for the records, written after each result; None for no file.
        junit: a JUnit XML file; None for no file.
        report: a folder for a page with the table, the times and a report per dataset; None for no page.
        summary: a file to append the table to, as Markdown, such as a GitHub Actions job's summary; None for
            no file.
        record: a CSV file, a log of reruns, to append each measured score to; None for no file.
        by: who reran the baselines, for these rows; required with ``record``.
        run_url: the address where the run file will be public, for these rows, if there is only one run.
        command: the command to name on the page.
        log: called with each run's name and log, and with each value that moved.

    Returns:
        The outcomes with their verdicts. ``frame()`` returns a DataFrame.

    Raises:
        ToucheError: if a baseline or dataset doesn't exist, or a file can't be written.

    Examples:
        >>> import touche
        >>> [outcome.verdict for outcome in touche.regress("bm25", "spot-check/arguments")]
        ['passed', 'passed']
    """
    check_choice("runner", runner, RUNNER_NAMES)
    ids = names_or_paths("dataset", datasets)
    json_file = optional_path("output", output)
    junit_file = optional_path("junit", junit)
    folder = optional_path("report", report)
    markdown_file = optional_path("summary", summary)
    log_of_reruns = optional_path("record", record)
    check_text("by", by)
    check_text("run_url", run_url)
    # The summary isn't checked, because it can be a device, such as /dev/stdout.
    files = [file for file in (json_file, junit_file, log_of_reruns) if file]
    for file in filter(None, [*files, markdown_file]):
        if not file.parent.is_dir():
            raise ToucheError(f"{file.parent} is not a directory; create it, or choose another place")
    check_log(log_of_reruns, by, run_url)
    if folder:
        # Raise an error now if the package is missing, and not after all runs.
        imported("jinja2", "analysis")
        imported("matplotlib", "analysis")
    # There are already outcomes for baselines whose expected.toml has no entries or can't be read.
    expected, outcomes = read_expectations(names_or_paths("baseline", baselines), ids)
    runs = {(entry.command, entry.dataset) for entry in expected if entry.needs_rerun}
    if run_url and len(runs) > 1:
        remedy = "write their addresses into the log's column run instead"
        raise ToucheError(f"run_url is the address of one run, but there are {len(runs)}; {remedy}")
    check_outputs(files, [baseline_folder(entry.baseline) / EXPECTED_FILE for entry in expected])
    if folder:
        make_folder(folder)
    # Get the commits now: the log may be in the same clone, and when rows have been appended, files differ
    # from the commit.
    names_to_log = {entry.baseline for entry in expected} if log_of_reruns else ()
    commits = {name: _clean_commit(baseline_folder(name)) for name in names_to_log}
    appended = 0  # how many rows were appended to the log
    keep = folder / "runs" if folder else None
    for outcome in rerun(expected, RUNNERS[runner], limits, log, twice=twice, keep=keep):
        outcomes.append(outcome)
        # Write after each result, so that they aren't lost if the job is interrupted.
        _write_files(outcomes, json_file)
        if log_of_reruns:
            commit = commits.get(outcome.expected.baseline, "")
            rows = [replace(row, commit=commit, run=run_url) for row in logged_scores(outcome, by)]
            append_to_log(log_of_reruns, rows)
            appended += len(rows)
    if log_of_reruns:
        reason = "" if appended else ", because no score of a rerun was measured"
        log(f"{log_of_reruns}: {appended} rows appended{reason}")
    if update:
        outcomes = update_pinned(outcomes, log)
    _write_files(outcomes, json_file, junit_file, markdown_file)
    page = _write_page(outcomes, folder, runner, command) if folder else None
    return Regression(Outcome, tuple(outcomes), page=page)


def _clean_commit(folder: Path) -> str:
    """Returns the commit of the repository that a folder is in. Empty if there is no repository, or if files
    differ from the commit.
    """
    revision = origin(folder, has_run=False)["revision"]
    return revision if re.fullmatch("[0-9a-f]{40}", revision) else ""


def _write_files(
    outcomes: Sequence[Outcome],
    json_file: Path | None,
    junit_file: Path | None = None,
    markdown_file: Path | None = None,
) -> None:
    """Writes all outcomes to the JSON file and the JUnit file, and appends them as Markdown to the summary,
    if these were requested.
    """
    if json_file:
        write_whole(json_file, json_text(Table(Outcome, tuple(outcomes))))
    if junit_file:
        write_whole(junit_file, to_junit(outcomes))
    if markdown_file:
        with markdown_file.open("a", encoding="utf-8") as file:
            file.write(markdown(outcomes))


def _write_page(outcomes: Sequence[Outcome], folder: Path, runner: str, command: str) -> Path:
    """Writes a page with the outcomes and a report on each dataset's runs; returns its path."""
    from touche.reports.page import write  # takes 95 ms
    from touche.reports.report_content import task_report
    from touche.reports.report_records import Report

    parts = []
    remarks = [f"The runner is {runner}, on {processors()} processors ({machine()})."]
    for dataset, group in group_by(outcomes, lambda outcome: outcome.expected.dataset).items():
        scored = [scored_run for outcome in group for scored_run in outcome.scored]
        if not scored:
            continue
        names = unique_names({scored_run.run.path: scored_run.run.tag for scored_run in scored})
        scored = [replace(scored_run, name=names[scored_run.run.path]) for scored_run in scored]
        try:
            parts.append(task_report(scored, tasks.dataset(dataset)[0], dataset))
        except Exception as error:  # the page is written even if the report on one run fails
            remarks.append(f"There is no report on {dataset}: {error}.")
    report = Report(
        title="Regression of the baselines of Touché",
        command=command,
        parts=parts,
        outcomes=outcomes,
        remarks=[*remarks, *what_reruns_show(outcomes)],
    )
    return write(report, folder)


def read_expectations(names: Sequence[str], datasets: Sequence[str]) -> tuple[list[Expected], list[Outcome]]:
    """Reads what to expect from baselines on datasets.

    Args:
        names: baselines' names or paths; if empty, all shipped ones.
        datasets: dataset ids; if empty, all.

    Returns:
        The expectations, and an outcome for each baseline that has none, because its file can't be read or
        has no entry for the datasets.

    Raises:
        ToucheError: if a baseline or dataset is unknown, or there is no expectation.
    """
    for dataset_id in datasets:
        tasks.dataset(dataset_id)  # raises an error for an unknown id
    expected = list[Expected]()
    outcomes = list[Outcome]()
    for name in names or shipped_baselines():
        baseline_folder(name)  # raises an error for an unknown name
        try:
            entries = read_expected(name, datasets)
        except Exception as error:
            outcomes.append(failed(Expected(baseline=name), error))
            continue
        expected += entries
        # If no baselines were named, this is no problem: most baselines have no entry for a given dataset.
        if names and not entries:
            remark = f"no entry in {EXPECTED_FILE} for {', '.join(datasets)}"
            outcomes.append(Outcome(Expected(baseline=name), NOTHING_EXPECTED, remark=remark))
    # Raise an error if there is nothing to do. But if a file couldn't be read, there is an outcome to report.
    if not expected and all(outcome.verdict == NOTHING_EXPECTED for outcome in outcomes):
        raise ToucheError(_why_nothing_is_expected(datasets))
    return expected, outcomes


def _why_nothing_is_expected(datasets: Sequence[str]) -> str:
    """Returns the message of the error that is raised if nothing is expected for the named baselines and
    datasets.
    """
    if datasets and not any(read_expected(name, datasets) for name in shipped_baselines()):
        problem = f"no shipped baseline has an expected score on {' or '.join(datasets)}"
        return f"{problem}; to run those that fit, use: touche run all -i {datasets[0]} -o out"
    return f"{EXPECTED_FILE} has no entry for these baselines and datasets; choose others"


def rerun(
    expected: Sequence[Expected],
    runner: Runner,
    limits: Limits,
    say: Log,
    *,
    twice: bool = False,
    keep: Path | None = None,
) -> Iterator[Outcome]:
    """Runs each baseline on each available dataset, and compares its values with the expected ones.

    A score that is higher than expected is a failure, too, because it shows that the baseline has changed.
    Values reported for another implementation are compared, but can't fail. If a baseline fails on a dataset,
    this becomes the outcome, and the regression continues.

    Args:
        expected: the expectations.
        runner: runs a baseline.
        limits: a run's limits.
        say: called with each run's name and log.
        twice: run each baseline twice, and compare the bytes of run.txt.
        keep: a folder for the runs, or None.
    """

    def run(job: Job) -> Usage:
        return runner(job, limits, lambda line: say(f"  {line}"))

    # All entries for the same baseline, options and dataset are compared with the same run.
    groups = group_by(expected, lambda entry: (entry.command, entry.dataset))
    for group in bar("running", "runs", len(groups), over=groups.values()):
        outcomes = list[Outcome]()
        to_rerun = list[Expected]()
        for entry in group:
            try:
                if not _is_available(entry):
                    outcomes.append(Outcome(entry, MISSING))
                elif entry.needs_rerun:
                    to_rerun.append(entry)
                else:
                    official_run = read_run(locate("runs", entry.run))
                    outcomes.append(compare(entry, official_run, scores_of(official_run, entry.dataset)))
            except Exception as error:
                outcomes.append(failed(entry, error))
        if to_rerun:
            try:
                say(f"{to_rerun[0].command} on {to_rerun[0].dataset}")
                outcomes += _rerun_outcomes(to_rerun, outcomes, run, twice, keep)
            except Exception as error:
                outcomes += [failed(entry, error) for entry in to_rerun]
        yield from outcomes


def _is_available(entry: Expected) -> bool:
    """Returns whether the files that an entry needs are on this machine: qrels, and an official run or topics
    and corpus.
    """
    has_qrels = all(find("qrels", file) for file in entry.judgments)
    has_run = not entry.run or find("runs", entry.run) is not None
    return has_qrels and has_run and (not entry.needs_rerun or has_dataset(entry.dataset))


def _rerun_outcomes(
    group: Sequence[Expected],
    others: Sequence[Outcome],
    run: Callable[[Job], Usage],
    twice: bool,
    keep: Path | None,
) -> list[Outcome]:
    """Reruns a baseline with its options on a dataset, and returns the outcomes for a group of entries.

    The first outcome includes the agreement with official runs and, with ``keep``, the evaluated run.

    Args:
        group: at least one entry for this baseline, its options and the dataset.
        others: the other entries' outcomes. The rerun is also compared with their official runs.
        run: runs a job.
        twice, keep: as for ``rerun``.
    """
    first = group[0]
    with temporary_folder("touche-regress-") as folder:
        jobs = [
            Job(baseline=first.baseline, arguments=first.arguments, input=first.dataset, output=folder / name)
            for name in (["first", "second"] if twice else ["first"])
        ]
        usages = [run(job) for job in jobs]
        contents = [(job.output / RUN_FILE).read_bytes() for job in jobs]
        lines = read_run(_copy_run(jobs[0], keep) if keep else jobs[0].output / RUN_FILE)
    md5 = hashlib.md5(contents[0]).hexdigest()
    scores = scores_of(lines, first.dataset)
    outcomes = [replace(compare(entry, lines, scores), usage=usages[0], md5=md5) for entry in group]
    agreements = _agreements([*others, *outcomes], lines)
    if len(set(contents)) > 1:
        outcomes = [replace(outcome, verdict=NOT_THE_SAME) for outcome in outcomes]
    scored = _in_all_dimensions(first.dataset, scores) if keep else ()
    return [replace(outcomes[0], agreements=agreements, scored=scored), *outcomes[1:]]


def _in_all_dimensions(dataset_id: str, scores: Scores) -> list[Scored]:
    """Returns a run's scores for a report: in each dimension, unless its qrels are missing or broken."""
    task, _ = tasks.dataset(dataset_id)
    scored = list[Scored]()
    for dimension in task.qrels:
        with suppress(ToucheError):
            scored += scores(dimension).values()
    return scored


def _agreements(outcomes: Sequence[Outcome], run: Run) -> list[Overlap]:
    """Returns how well a rerun agrees with the official runs that its entries name. If they can't be
    compared, there is a warning.

    Args:
        outcomes: a group's outcomes. If one failed, its official run may be unreadable, and is left out.
        run: the rerun.
    """
    agreements = list[Overlap]()
    entry = outcomes[0].expected  # any of them, because all have the same baseline, options and dataset
    names = [outcome.expected.run for outcome in outcomes if outcome.verdict not in (FAILED, MISSING)]
    for name in dict.fromkeys(filter(None, names)):  # without duplicates; most entries name no official run
        labels = (f"runs/{name}", f"{entry.command} on {entry.dataset}")
        try:
            agreements += official_agreements(locate("runs", name), run, entry.dataset, labels)
        except ToucheError as error:
            _log.warning("%s", error)
    return agreements


def _copy_run(job: Job, folder: Path) -> Path:
    """Copies a job's run into a folder. The copy's name consists of the dataset, the baseline and its
    options.
    """
    options = [word.lstrip("-").replace("/", "-") for word in job.arguments]
    copy = folder / job.input.replace("/", "-") / f"{'-'.join([job.name, *options])}.txt"
    make_folder(copy.parent)
    with whole(copy) as file:
        file.write((job.output / RUN_FILE).read_bytes())
    return copy
